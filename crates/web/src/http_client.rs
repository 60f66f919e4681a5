//! HTTP calls to other services: TLS where the address requires it, one deadline for the whole
//! call, a bound on the answer, and failures that say how far the call got.
//!
//! Uses plain hyper rather than a client library. Libraries add headers, follow redirects and read
//! proxies from the environment by default. They also cost a part of the millisecond that checkout
//! may add to a payment.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::net::TcpStream;
use tokio::time::{error::Elapsed, timeout};
use tower::{BoxError, Service};

/// How long idle connections are kept: shorter than most servers and load balancers keep them, so
/// that a kept one is seldom closed by the other side.
const IDLE: Duration = Duration::from_secs(20);
/// The interval of TCP keep-alive probes.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Makes calls. Clones share connections.
#[derive(Clone, Debug)]
pub struct HttpClient(Client<Connector, Full<Bytes>>);

/// TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error(
    "TLS cannot be set up: are the machine's certificate authorities (ca-certificates) installed?"
)]
pub struct TlsUnusable(#[source] pub rustls::Error);

/// An answer that has arrived whole.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its status, whichever it is.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallFailure {
    /// No connection was made, so nothing was sent.
    #[error("no connection")]
    Unconnected(#[source] BoxError),
    /// The time was over.
    #[error("no answer in time")]
    Timeout(#[source] Elapsed),
    /// The connection broke, or what came was not HTTP.
    #[error("the connection broke")]
    Broken(#[source] BoxError),
    /// The answer, which has this status, has more bytes than were wanted.
    #[error("the answer is too long")]
    TooLong(StatusCode),
}

impl CallFailure {
    /// Whether what came instead of a head was not HTTP.
    pub fn is_not_http(&self) -> bool {
        let Self::Broken(cause) = self else {
            return false;
        };
        cause
            .source()
            .and_then(|cause| cause.downcast_ref::<hyper::Error>())
            .is_some_and(hyper::Error::is_parse)
    }
}

/// A key for another service, sent as `Authorization: Bearer`. It is never shown.
#[derive(Clone)]
pub struct ApiKey(HeaderValue);

/// The text cannot stand in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key is one or more visible ASCII characters")]
pub struct ApiKeyError;

impl ApiKey {
    /// Reads a key as it was issued.
    ///
    /// # Errors
    /// When it is empty or has other than visible ASCII characters.
    pub fn parse(text: &str) -> Result<Self, ApiKeyError> {
        let key = text.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ApiKeyError);
        }
        let mut value = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| ApiKeyError)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }

    /// The value of the header `Authorization`, marked as one not to be shown.
    #[must_use]
    pub fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

crate::masked_debug!(ApiKey);

impl HttpClient {
    /// A client that has not connected yet, and keeps at most `idle_connections` to a host. A
    /// connection that is not made within `patience` is given up. The machine's root certificates
    /// are loaded only with `uses_tls`. Without it https addresses cannot be called.
    pub fn new(
        uses_tls: bool,
        patience: Duration,
        idle_connections: usize,
    ) -> Result<Self, TlsUnusable> {
        let connector = Connector::new(uses_tls, patience)?;
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(idle_connections)
            .build(connector);
        Ok(Self(client))
    }

    /// Sends a request and waits for its whole answer of at most `longest` bytes, within
    /// `patience`.
    pub async fn call(
        &self,
        request: Request<Full<Bytes>>,
        patience: Duration,
        longest: usize,
    ) -> Result<Answer, CallFailure> {
        timeout(patience, self.exchange(request, longest))
            .await
            .unwrap_or_else(|elapsed| Err(CallFailure::Timeout(elapsed)))
    }

    async fn exchange(
        &self,
        request: Request<Full<Bytes>>,
        longest: usize,
    ) -> Result<Answer, CallFailure> {
        let response = self.0.request(request).await.map_err(|error| {
            if error.is_connect() {
                CallFailure::Unconnected(error.into())
            } else {
                CallFailure::Broken(error.into())
            }
        })?;
        let (head, body) = response.into_parts();
        let body = match Limited::new(body, longest).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return Err(CallFailure::TooLong(head.status));
            }
            Err(error) => return Err(CallFailure::Broken(error)),
        };
        Ok(Answer {
            status: head.status,
            headers: head.headers,
            body,
        })
    }
}

/// Makes connections; a stalled handshake is given up.
#[derive(Clone, Debug)]
struct Connector {
    inner: HttpsConnector<HttpConnector>,
    patience: Duration,
}

type HttpStream = MaybeHttpsStream<TokioIo<TcpStream>>;
type Connecting = Pin<Box<dyn Future<Output = Result<HttpStream, BoxError>> + Send>>;

impl Connector {
    fn new(uses_tls: bool, patience: Duration) -> Result<Self, TlsUnusable> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEPALIVE));
        let inner = HttpsConnectorBuilder::new()
            .with_tls_config(tls(uses_tls).map_err(TlsUnusable)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        Ok(Self { inner, patience })
    }
}

impl Service<Uri> for Connector {
    type Response = HttpStream;
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

/// The settings of TLS: certificates are verified by the machine's authorities, which are loaded
/// for that, or none is accepted.
pub fn tls(uses_tls: bool) -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let versions = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?;
    let verified = if uses_tls {
        versions.with_platform_verifier()?
    } else {
        versions.with_root_certificates(rustls::RootCertStore::empty())
    };
    Ok(verified.with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_shown_by_nothing() {
        let key = ApiKey::parse(" sk-hush ").unwrap();
        assert_eq!(key.header().to_str().unwrap(), "Bearer sk-hush");
        assert!(!format!("{key:?} {:?}", key.header()).contains("hush"));
        assert!(ApiKey::parse("two\nlines").is_err() && ApiKey::parse("").is_err());
    }
}
