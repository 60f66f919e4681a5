//! A private certificate authority, and certificates of local servers that it issues. A process
//! trusts it when `SSL_CERT_FILE` names its file, and no other process does.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tempfile::TempDir;

/// Installs the cryptography that a client of HTTP asks for, even where nothing is encrypted.
pub fn provide_cryptography() {
    // An error says that another test was first, which is as good.
    let _ = ring::default_provider().install_default();
}

/// A private authority. Only processes with its file trust it.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// A new one, with its certificate in a file.
    pub fn new() -> Self {
        let folder = TempDir::with_prefix("balcao-authority-").expect("a temporary folder");
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        // A unique name: an authority of the same name with another key would be a forgery.
        let name = folder.path().to_string_lossy().into_owned();
        parameters.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(parameters, key).expect("a certificate");
        std::fs::write(folder.path().join("authority.pem"), issuer.pem()).expect("a file");
        Self { issuer, folder }
    }

    /// The file with its certificate, in PEM: for `SSL_CERT_FILE`.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    /// The configuration of a server for `localhost` and `127.0.0.1`.
    pub fn server(&self) -> Arc<ServerConfig> {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let key = KeyPair::generate().expect("a key");
        let parameters = CertificateParams::new(names).expect("names of this machine");
        let certificate = parameters
            .signed_by(&key, &self.issuer)
            .expect("a certificate");
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate and its key");
        Arc::new(config)
    }
}
