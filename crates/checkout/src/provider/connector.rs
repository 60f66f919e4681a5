//! Connections to the provider: TCP, and TLS for `https` addresses, with their own timeout.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower::{BoxError, Service};

use super::{BaseUrl, SetupError};

/// The interval of TCP keep-alive probes on an idle connection.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Opens connections. A stalled handshake times out before any request is sent.
#[derive(Clone)]
pub(super) struct Connector {
    inner: HttpsConnector<HttpConnector>,
    patience: Duration,
}

type Connection = MaybeHttpsStream<TokioIo<TcpStream>>;
type Connecting = Pin<Box<dyn Future<Output = Result<Connection, BoxError>> + Send>>;

impl Connector {
    pub(super) fn new(base: &BaseUrl, patience: Duration) -> Result<Self, SetupError> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEPALIVE));
        let inner = HttpsConnectorBuilder::new()
            .with_tls_config(tls(base).map_err(SetupError::Tls)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        Ok(Self { inner, patience })
    }
}

impl Service<Uri> for Connector {
    type Response = Connection;
    type Error = BoxError;
    type Future = Connecting;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        let connecting = timeout(self.patience, self.inner.call(address));
        Box::pin(async move { connecting.await? })
    }
}

/// Certificates are verified against the machine's trusted authorities. They are loaded only for
/// `https` addresses.
fn tls(base: &BaseUrl) -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let versions = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?;
    let verified = if base.is_https() {
        versions.with_platform_verifier()?
    } else {
        versions.with_root_certificates(rustls::RootCertStore::empty())
    };
    Ok(verified.with_no_client_auth())
}
