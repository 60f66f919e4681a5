//! One HTTP exchange with the provider: exactly the specified headers, one timeout for the whole
//! exchange, and failures that say whether the call may have had an effect.
//!
//! Uses plain hyper rather than a client library. Libraries add headers, follow redirects and read
//! proxies from the environment by default. They also cost a part of the millisecond that this
//! service may add.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::timeout;

use super::connector::Connector;
use super::{AccessToken, BaseUrl, Failure, SetupError, UpstreamKey};

/// The largest response, in bytes. A payment has some kilobytes, most of them the image of a pix
/// code.
const MAX_ANSWER: usize = 1 << 20;

/// Idle connections in the pool, and how long they are kept. The time is shorter than the idle
/// timeout of common servers and load balancers, so a pooled connection is seldom closed by the
/// other side.
const IDLE_CONNECTIONS: usize = 256;
const IDLE: Duration = Duration::from_secs(20);

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("x-idempotency-key");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Sends calls to the provider: the network, or a simulation in its place.
pub trait Transport: Send + Sync {
    /// Sends a call and waits for its complete response, within the configured timeout. A response
    /// with any status is a success. Fails with [`Failure::NotSent`], [`Failure::Unknown`] or
    /// [`Failure::Unreadable`].
    fn carry<'a>(&'a self, call: Call<'a>) -> Carrying<'a>;
}

/// The future of a call.
pub type Carrying<'a> = Pin<Box<dyn Future<Output = Result<Answer, Failure>> + Send + 'a>>;

/// One call to the provider.
pub struct Call<'a> {
    /// `GET`, `POST` or `PUT`.
    pub method: Method,
    /// Path and query.
    pub path: &'a str,
    /// The body. Empty if the call has none.
    pub body: Vec<u8>,
    /// The `X-Idempotency-Key`.
    pub key: UpstreamKey,
}

/// A complete response.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// How long the provider asks us to wait.
    pub retry_after: Option<Duration>,
    /// The body.
    pub body: Bytes,
}

/// Connections to the provider.
pub(super) struct Network {
    http: legacy::Client<Connector, Full<Bytes>>,
    base: BaseUrl,
    authorization: HeaderValue,
    timeout: Duration,
}

impl Network {
    pub(super) fn new(
        base: BaseUrl,
        token: &AccessToken,
        timeout: Duration,
    ) -> Result<Self, SetupError> {
        // A third of the timeout is for connecting. A failure in that phase is certain to have had
        // no effect, and is reported as such.
        let connector = Connector::new(&base, timeout / 3)?;
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

    fn request(&self, call: Call<'_>) -> Result<Request<Full<Bytes>>, http::Error> {
        Request::builder()
            .method(call.method)
            .uri(self.base.join(call.path)?)
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, JSON)
            .header(IDEMPOTENCY_KEY, call.key.header()?)
            .body(Full::new(Bytes::from(call.body)))
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Answer, Failure> {
        let response = self
            .http
            .request(request)
            .await
            .map_err(failure_without_response)?;
        let status = response.status().as_u16();
        let retry_after = retry_after(&response);
        Ok(Answer {
            status,
            retry_after,
            body: read_body(status, response.into_body()).await?,
        })
    }
}

impl Transport for Network {
    fn carry<'a>(&'a self, call: Call<'a>) -> Carrying<'a> {
        Box::pin(async move {
            let request = self
                .request(call)
                .map_err(|error| Failure::NotSent(error.into()))?;
            match timeout(self.timeout, self.exchange(request)).await {
                Ok(answer) => answer,
                Err(elapsed) => Err(Failure::Unknown(elapsed.into())),
            }
        })
    }
}

/// The failure when no response head came. Only a connection that was never made is certain to have
/// had no effect.
fn failure_without_response(error: legacy::Error) -> Failure {
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

async fn read_body(status: u16, body: Incoming) -> Result<Bytes, Failure> {
    match Limited::new(body, MAX_ANSWER).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Failure::unreadable(status, "too long"))
        }
        Err(error) => Err(Failure::Unknown(error)),
    }
}

/// `Retry-After` in seconds, at most a day. The provider does not use the header's other form, a
/// date.
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
