//! Our own TLS: certificate and key from files, which are read again when they change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

use super::Shutdown;

/// How often the files are looked at.
const INTERVAL: Duration = Duration::from_secs(10);

/// Where certificate and key are, both PEM: the certificate with its chain, the key in PKCS#8,
/// PKCS#1 or SEC1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by the certificates that lead to a root.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Why certificate and key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file that cannot be read, or holds nothing of what it should.
    #[error("cannot read {what} from {}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What was to be read.
        what: &'static str,
        /// Why not.
        #[source]
        cause: rustls::pki_types::pem::Error,
    },
    /// Certificate and key that do not belong together, or of a kind that is not supported.
    #[error("certificate and key cannot be used")]
    Unusable(#[source] rustls::Error),
}

/// TLS with the current certificate. Clones share it.
#[derive(Clone)]
pub struct Tls {
    files: TlsFiles,
    /// The files as they were before they were read.
    seen: [Stamp; 2],
    interval: Duration,
    current: Arc<ReloadableCertificate>,
    acceptor: TlsAcceptor,
    provider: Arc<CryptoProvider>,
}

#[derive(Debug)]
struct ReloadableCertificate(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for ReloadableCertificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(
            &self.0.read().unwrap_or_else(PoisonError::into_inner),
        ))
    }
}

impl Tls {
    /// Reads certificate and key.
    ///
    /// # Errors
    /// When a file cannot be read or they cannot be used together.
    pub fn load(files: TlsFiles) -> Result<Self, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let seen = stamps(&files);
        let current = Arc::new(ReloadableCertificate(RwLock::new(read(&files, &provider)?)));
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Unusable)?;
        let mut config = builder
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&current) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            files,
            seen,
            interval: INTERVAL,
            current,
            acceptor: TlsAcceptor::from(Arc::new(config)),
            provider,
        })
    }

    /// Sets another interval than ten seconds.
    #[must_use]
    pub const fn every(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    pub(super) const fn acceptor(&self) -> &TlsAcceptor {
        &self.acceptor
    }

    /// Checks the files until the shutdown begins, and loads changed ones. Unusable files are
    /// logged once and ignored.
    pub async fn watch(self, shutdown: Shutdown) {
        tokio::select! {
            () = self.watch_files() => {}
            () = shutdown.begun() => {}
        }
    }

    async fn watch_files(&self) {
        let mut seen = self.seen;
        let mut ticks = tokio::time::interval(self.interval);
        loop {
            ticks.tick().await;
            let files = self.files.clone();
            let now = tokio::task::spawn_blocking(move || stamps(&files))
                .await
                .unwrap_or(seen);
            if now != seen {
                seen = now;
                self.reload().await;
            }
        }
    }

    async fn reload(&self) {
        let (files, provider) = (self.files.clone(), Arc::clone(&self.provider));
        match tokio::task::spawn_blocking(move || read(&files, &provider)).await {
            Ok(Ok(key)) => {
                *self
                    .current
                    .0
                    .write()
                    .unwrap_or_else(PoisonError::into_inner) = key;
                tracing::info!(certificate = %self.files.certificate.display(), "certificate reloaded");
            }
            Ok(Err(error)) => {
                let cause = std::error::Error::source(&error)
                    .map(ToString::to_string)
                    .unwrap_or_default();
                tracing::error!(%error, cause, "the new certificate cannot be used; the old one stays");
            }
            Err(error) => {
                tracing::error!(%error, "the new certificate cannot be read; the old one stays");
            }
        }
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Tls")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

/// Identifies a version of a file; `None` while it is missing.
type Stamp = Option<(SystemTime, u64)>;

fn stamps(files: &TlsFiles) -> [Stamp; 2] {
    [&files.certificate, &files.key].map(|file| {
        let metadata = std::fs::metadata(file).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    })
}

fn read(files: &TlsFiles, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>, TlsError> {
    let failed = |file: &Path, what| {
        let file = file.to_owned();
        move |cause| TlsError::File { file, what, cause }
    };
    let chain = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(failed(&files.certificate, "a certificate"))?;
    let key =
        PrivateKeyDer::from_pem_file(&files.key).map_err(failed(&files.key, "a private key"))?;
    CertifiedKey::from_der(chain, key, provider)
        .map(Arc::new)
        .map_err(TlsError::Unusable)
}
