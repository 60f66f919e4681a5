//! Connections to receivers. Every name is resolved here, and the connection goes to an address
//! that was checked. So a second DNS answer cannot redirect it (DNS rebinding). Hyper's own
//! connector, which `web::http_client` uses, asks no resolver for an address in digits.

use std::{
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};
use tower::Service;

use super::public::is_public;

/// The timeout of resolving and connecting together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The address is not public, and connections to it are not allowed.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the address is not on the public internet; {allow_private} lets webhooks go there")]
pub(super) struct NotPublic {
    /// The setting that would allow the connection.
    allow_private: &'static str,
}

type Cause = Box<dyn std::error::Error + Send + Sync>;
type Connecting = Pin<Box<dyn Future<Output = Result<TokioIo<TcpStream>, Cause>> + Send>>;

/// Opens TCP connections to addresses that it has checked.
#[derive(Clone)]
pub(super) struct GuardedConnector {
    /// Whether any address is allowed. If not, `refusal` is the error for one that is not public.
    any: bool,
    refusal: NotPublic,
}

/// Connections with TLS for `https`. On a machine without trusted authorities only `https`
/// receivers fail; the service still runs.
pub(super) fn connector(
    any: bool,
    allow_private: &'static str,
) -> Result<HttpsConnector<GuardedConnector>, rustls::Error> {
    let refusal = NotPublic { allow_private };
    Ok(HttpsConnectorBuilder::new()
        .with_tls_config(tls()?)
        .https_or_http()
        .enable_http1()
        .wrap_connector(GuardedConnector { any, refusal }))
}

/// TLS whose certificates are verified against this machine's trusted authorities.
pub(crate) fn tls() -> Result<rustls::ClientConfig, rustls::Error> {
    web::http_client::tls(true).or_else(|error| {
        tracing::warn!(%error, "this machine has no trusted certificate authorities, so https receivers of webhooks cannot be reached: install ca-certificates");
        web::http_client::tls(false)
    })
}

impl Service<Uri> for GuardedConnector {
    type Response = TokioIo<TcpStream>;
    type Error = Cause;
    type Future = Connecting;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let guard = self.clone();
        Box::pin(async move { timeout(CONNECT_TIMEOUT, guard.connect(uri)).await? })
    }
}

impl GuardedConnector {
    async fn connect(self, uri: Uri) -> Result<TokioIo<TcpStream>, Cause> {
        let host = uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = uri
            .port_u16()
            .unwrap_or(if uri.scheme_str() == Some("https") {
                443
            } else {
                80
            });
        let resolved: Vec<SocketAddr> = tokio::net::lookup_host((host, port)).await?.collect();
        let allowed = resolved
            .into_iter()
            .filter(|address| self.any || is_public(address.ip()));
        let mut failure: Cause = self.refusal.into();
        for address in allowed {
            match TcpStream::connect(address).await {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(TokioIo::new(stream));
                }
                Err(error) => failure = error.into(),
            }
        }
        Err(failure)
    }
}
