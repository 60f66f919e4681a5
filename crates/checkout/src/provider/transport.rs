//! One HTTP exchange with the provider: exactly the specified headers, one timeout for the whole
//! exchange, and failures that say whether the call may have had an effect.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use http_body_util::Full;
use uuid::Uuid;
use web::http_client::{CallFailure, HttpClient, TlsUnusable};

use super::{AccessToken, BaseUrl, Failure, SetupError};

/// The largest response, in bytes. A payment has some kilobytes, most of them the image of a pix
/// code.
const MAX_ANSWER: usize = 1 << 20;

/// Idle connections in the pool.
const IDLE_CONNECTIONS: usize = 256;

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
    /// The `X-Idempotency-Key`. A retry of the same call sends it again.
    pub key: Uuid,
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
    http: HttpClient,
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
        let http = HttpClient::new(base.is_https(), timeout / 3, IDLE_CONNECTIONS)
            .map_err(|TlsUnusable(cause)| SetupError::Tls(cause))?;
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
            .header(IDEMPOTENCY_KEY, call.key.to_string())
            .body(Full::new(Bytes::from(call.body)))
    }
}

impl Transport for Network {
    fn carry<'a>(&'a self, call: Call<'a>) -> Carrying<'a> {
        Box::pin(async move {
            let request = self
                .request(call)
                .map_err(|error| Failure::NotSent(error.into()))?;
            let response = self.http.call(request, self.timeout, MAX_ANSWER).await;
            let response = response.map_err(failure)?;
            Ok(Answer {
                status: response.status.as_u16(),
                retry_after: retry_after(&response.headers),
                body: response.body,
            })
        })
    }
}

/// The failure of a call without a complete response. Only a connection that was never made is
/// certain to have had no effect.
fn failure(failure: CallFailure) -> Failure {
    match failure {
        failure if failure.is_not_http() => Failure::Unreadable {
            status: None,
            reason: "not HTTP".into(),
        },
        CallFailure::Unconnected(cause) => Failure::NotSent(cause),
        CallFailure::Timeout(elapsed) => Failure::Unknown(elapsed.into()),
        CallFailure::Broken(cause) => Failure::Unknown(cause),
        CallFailure::TooLong(status) => Failure::unreadable(status.as_u16(), "too long"),
    }
}

/// `Retry-After` in seconds, at most a day. The provider does not use the header's other form, a
/// date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(Duration::from_secs(seconds.min(86_400)))
}
