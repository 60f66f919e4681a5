//! One HTTP exchange with the provider: exactly the specified headers, one deadline for all of it, and a failure that
//! says what is known of its effect.
//!
//! Plain hyper rather than a client library: those add headers of their own, follow redirects and read proxies from the
//! environment unless told not to, and cost a part of the millisecond that this service may add.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderName, HeaderValue, Method, Request, Response, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls_platform_verifier::ConfigVerifierExt;
use tokio::time::timeout;

use super::{AccessToken, Failure, SetupError, UpstreamKey, send};

/// The longest answer that is read, in bytes. A payment has some kilobytes, most of them the picture of a pix code.
const MAX_ANSWER: usize = 1 << 20;

/// Connections kept open while nothing is sent, and for how long: shorter than servers and balancers usually wait, so
/// that a kept connection is seldom one that the other side has given up.
const IDLE_CONNECTIONS: usize = 256;
const IDLE: Duration = Duration::from_secs(20);

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("x-idempotency-key");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Where the provider's API is: `http` or `https`, host, port and an optional path before `/v1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    scheme: Scheme,
    authority: Authority,
    path: String,
}

/// The text is no [`BaseUrl`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a provider address is http:// or https:// with a host, without user, query or fragment")]
pub struct BaseUrlError;

impl std::str::FromStr for BaseUrl {
    type Err = BaseUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text
            .trim()
            .parse::<Uri>()
            .map_err(|_| BaseUrlError)?
            .into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(BaseUrlError);
        };
        let path = parts
            .path_and_query
            .unwrap_or_else(|| PathAndQuery::from_static("/"));
        let is_web = scheme == Scheme::HTTP || scheme == Scheme::HTTPS;
        if !is_web
            || authority.host().is_empty()
            || authority.as_str().contains('@')
            || path.query().is_some()
            || text.contains('#')
        {
            return Err(BaseUrlError);
        }
        let path = path.path().trim_end_matches('/').to_owned();
        Ok(Self {
            scheme,
            authority,
            path,
        })
    }
}

impl std::fmt::Display for BaseUrl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{}://{}{}",
            self.scheme, self.authority, self.path
        )
    }
}

impl BaseUrl {
    fn join(&self, path: &str) -> Result<Uri, http::Error> {
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(format!("{}{path}", self.path))
            .build()
    }
}

/// A status with a body that has arrived whole.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Bytes,
}

/// Connections to the provider.
pub(super) struct Transport {
    http: legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    base: BaseUrl,
    authorization: HeaderValue,
    timeout: Duration,
}

impl Transport {
    pub(super) fn new(
        base: BaseUrl,
        token: &AccessToken,
        timeout: Duration,
    ) -> Result<Self, SetupError> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(Duration::from_secs(60)));
        // A third of the time to connect: what then fails is known to have done nothing, and is told as such.
        tcp.set_connect_timeout(Some(timeout / 3));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls(&base)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let http = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .build(connector);
        Ok(Self {
            http,
            base,
            authorization: token.header().map_err(|_| SetupError::AccessToken)?,
            timeout,
        })
    }

    /// Sends a call and waits for its whole answer, within the configured time.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: send::Bytes,
        key: UpstreamKey,
    ) -> Result<Answer, Failure> {
        let request = self
            .request(method, path, body, key)
            .map_err(|error| Failure::NotSent(error.into()))?;
        match timeout(self.timeout, self.exchange(request)).await {
            Ok(answer) => answer,
            Err(elapsed) => Err(Failure::Unknown(elapsed.into())),
        }
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: send::Bytes,
        key: UpstreamKey,
    ) -> Result<Request<Full<Bytes>>, http::Error> {
        Request::builder()
            .method(method)
            .uri(self.base.join(path)?)
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, JSON)
            .header(IDEMPOTENCY_KEY, key.header()?)
            // The buffer goes along as it is and wipes itself when the connection is through with it.
            .body(Full::new(Bytes::from_owner(body)))
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Answer, Failure> {
        let response = self.http.request(request).await.map_err(without_answer)?;
        let status = response.status().as_u16();
        let retry_after = retry_after(&response);
        let body = whole_body(status, response.into_body()).await?;
        if (200..300).contains(&status) {
            Ok(Answer { status, body })
        } else {
            Err(Failure::refused(status, &body, retry_after))
        }
    }
}

/// Certificates are checked against the machine's trusted authorities; they are not asked for when no address needs them.
fn tls(base: &BaseUrl) -> Result<rustls::ClientConfig, SetupError> {
    if base.scheme == Scheme::HTTPS {
        return rustls::ClientConfig::with_platform_verifier().map_err(SetupError::Certificates);
    }
    let none = rustls::RootCertStore::empty();
    Ok(rustls::ClientConfig::builder()
        .with_root_certificates(none)
        .with_no_client_auth())
}

/// What is known when no head of an answer came. Only a connection that was never made is certain to have done nothing.
fn without_answer(error: legacy::Error) -> Failure {
    if error.is_connect() {
        return Failure::NotSent(error.into());
    }
    let cause =
        std::error::Error::source(&error).and_then(|source| source.downcast_ref::<hyper::Error>());
    if cause.is_some_and(hyper::Error::is_parse) {
        return Failure::Unreadable {
            status: None,
            reason: "not HTTP".into(),
        };
    }
    Failure::Unknown(error.into())
}

async fn whole_body(status: u16, body: Incoming) -> Result<Bytes, Failure> {
    match Limited::new(body, MAX_ANSWER).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Failure::unreadable(status, "too long"))
        }
        Err(error) => Err(Failure::Unknown(error)),
    }
}

/// `Retry-After` in seconds, at most a day; its other form, a date, is not one the provider uses.
fn retry_after(response: &Response<Incoming>) -> Option<Duration> {
    let seconds: u64 = response
        .headers()
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(Duration::from_secs(seconds.min(86_400)))
}
