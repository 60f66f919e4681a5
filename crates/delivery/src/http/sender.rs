//! One HTTP exchange with a receiver within one timeout: posts the message, and reads the status
//! and the beginning of the response. Redirects are not followed.

use std::{fmt, sync::OnceLock, time::Duration};

use bytes::Bytes;
use db::Timestamp;
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::{
    client::legacy,
    rt::{TokioExecutor, TokioTimer},
};
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    Secret, Target,
    connector::{GuardedConnector, NotPublic, connector},
};
use crate::model::{Attempt, ConfiguredEndpoint};

/// The timeout of one exchange.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(15);
/// How much of a response body is stored, in bytes.
const DETAIL_MAX: usize = 1024;
/// How much of a response body is read so that the connection can be reused, in bytes, and the
/// timeout for it.
const DRAIN_MAX: usize = 64 * 1024;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// Limits of a response head: bytes, and number of headers.
const HEAD_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 64;
/// Idle connections in the pool for one receiver, and how long they are kept.
const IDLE_CONNECTIONS: usize = 32;
const IDLE: Duration = Duration::from_secs(20);

pub(super) const ID: HeaderName = HeaderName::from_static("webhook-id");
pub(super) const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
pub(super) const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const AGENT: HeaderValue = HeaderValue::from_static(concat!("Balcao/", env!("CARGO_PKG_VERSION")));

/// The stored detail when a message cannot be signed.
const UNSIGNED: &str = "nothing was sent: the endpoint's secret cannot be read with the key of this service; rotate the secret, or put the key back";

/// A signed event for one endpoint.
#[derive(Debug, Clone)]
pub(crate) struct SignedMessage {
    /// The `webhook-id`, the same on every retry.
    pub(crate) id: String,
    /// The time of this attempt, in seconds since 1970.
    pub(crate) seconds: i64,
    /// One signature, or two separated by a space while a secret is rotated.
    pub(crate) signatures: String,
    pub(crate) body: Bytes,
}

impl SignedMessage {
    /// A message signed with each of these secrets at the time `now`.
    pub(crate) fn signed(id: String, body: Bytes, secrets: &[Secret], now: Timestamp) -> Self {
        let seconds = now.micros().div_euclid(1_000_000);
        let sign = |secret: &Secret| secret.sign(&id, seconds, &body);
        let signatures: Vec<String> = secrets.iter().map(sign).collect();
        Self {
            signatures: signatures.join(" "),
            id,
            seconds,
            body,
        }
    }
}

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    /// The beginning of the response body, or why there is no response.
    pub(crate) detail: String,
    /// The header `Retry-After`, unchanged.
    pub(crate) retry_after: Option<String>,
    pub(crate) duration: Duration,
}

impl Answer {
    /// The attempt to store.
    pub(crate) fn attempt(&self, started_at: Timestamp) -> Attempt {
        Attempt {
            started_at,
            duration_ms: i64::try_from(self.duration.as_millis()).unwrap_or(i64::MAX),
            outcome: self.outcome.name().to_owned(),
            status: self.outcome.status().map(i64::from),
            detail: self.detail.clone(),
        }
    }
}

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A response with this status.
    Answered(u16),
    /// No connection was made.
    NotConnected,
    /// The address is not public. Nothing was sent.
    NotPublic,
    /// No response came in time.
    TimedOut,
    /// The connection ended before a response, or the response was not valid HTTP.
    Broken,
}

/// The addresses that a message may be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The addresses that the service's settings allow.
    Allowed,
    /// Any address, because the program itself chose it.
    Any,
}

impl Reach {
    /// The allowed addresses of an endpoint.
    pub(crate) const fn of(configured: Option<ConfiguredEndpoint>) -> Self {
        match configured {
            Some(ConfiguredEndpoint::Internal) => Self::Any,
            Some(ConfiguredEndpoint::Settings) | None => Self::Allowed,
        }
    }
}

type Client = legacy::Client<HttpsConnector<GuardedConnector>, Full<Bytes>>;

/// Posts events.
pub(crate) struct WebhookSender {
    any: bool,
    allow_private: &'static str,
    /// Created with the first post: loading the trusted authorities takes most of the time of a
    /// start.
    client: OnceLock<Client>,
    /// The client for [`Reach::Any`]. It has its own connection pool: an address is checked only
    /// when its connection is opened, so a pooled connection must not be shared.
    free_client: OnceLock<Client>,
}

impl WebhookSender {
    /// A sender that may post to `any` address, or only to public ones. `allow_private` names the
    /// setting that allows others.
    pub(crate) fn new(any: bool, allow_private: &'static str) -> Self {
        Self {
            any,
            allow_private,
            client: OnceLock::new(),
            free_client: OnceLock::new(),
        }
    }

    fn client(&self, reach: Reach) -> Result<&Client, rustls::Error> {
        let (client, any) = match reach {
            Reach::Allowed => (&self.client, self.any),
            Reach::Any => (&self.free_client, true),
        };
        if let Some(client) = client.get() {
            return Ok(client);
        }
        let made = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http1_max_buf_size(HEAD_MAX)
            .http1_max_headers(HEADERS_MAX)
            .build(connector(any, self.allow_private)?);
        Ok(client.get_or_init(|| made))
    }

    /// Posts a message. Every failure is an outcome.
    pub(crate) async fn send(
        &self,
        target: &Target,
        reach: Reach,
        message: SignedMessage,
    ) -> Answer {
        let (begin, is_unsigned) = (Instant::now(), message.signatures.is_empty());
        let (outcome, detail, retry_after) = match request(target, message) {
            _ if is_unsigned => (Outcome::NotConnected, UNSIGNED.to_owned(), None),
            Ok(request) => {
                let exchange = self.exchange(reach, request, begin + TIMEOUT);
                timeout(TIMEOUT, exchange).await.unwrap_or_else(|_| {
                    let seconds = TIMEOUT.as_secs();
                    let detail = format!("no answer within {seconds} seconds");
                    (Outcome::TimedOut, detail, None)
                })
            }
            Err(error) => (Outcome::NotConnected, error.to_string(), None),
        };
        Answer {
            outcome,
            detail,
            retry_after,
            duration: begin.elapsed(),
        }
    }

    async fn exchange(
        &self,
        reach: Reach,
        request: Request<Full<Bytes>>,
        deadline: Instant,
    ) -> (Outcome, String, Option<String>) {
        let client = match self.client(reach) {
            Ok(client) => client,
            Err(error) => return (Outcome::NotConnected, chain(&error), None),
        };
        let response = match client.request(request).await {
            Ok(response) => response,
            Err(error) => {
                let outcome = outcome_without_response(&error);
                return (outcome, chain(&error), None);
            }
        };
        let (head, body) = response.into_parts();
        let retry_after = head.headers.get(header::RETRY_AFTER);
        let retry_after = retry_after
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let deadline = deadline.min(Instant::now() + DRAIN_TIMEOUT);
        let text = read_beginning(body, deadline).await;
        (Outcome::Answered(head.status.as_u16()), text, retry_after)
    }
}

impl fmt::Debug for WebhookSender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WebhookSender")
    }
}

impl Outcome {
    /// Whether the receiver has accepted the event. Only a 2xx status says so.
    pub(crate) fn is_delivered(self) -> bool {
        self.status()
            .is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether the receiver wants no more events (410).
    pub(crate) fn is_gone(self) -> bool {
        self.status() == Some(StatusCode::GONE.as_u16())
    }

    /// Whether the receiver's `Retry-After` counts.
    pub(crate) fn may_postpone(self) -> bool {
        let statuses = [
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::SERVICE_UNAVAILABLE,
        ];
        statuses
            .iter()
            .any(|status| self.status() == Some(status.as_u16()))
    }

    /// The HTTP status, if there was a response.
    pub(crate) const fn status(self) -> Option<u16> {
        match self {
            Self::Answered(status) => Some(status),
            _ => None,
        }
    }

    /// The name in the database and in metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Answered(_) if self.is_delivered() => "delivered",
            Self::Answered(300..400) => "redirect",
            Self::Answered(_) => "refused",
            Self::NotConnected => "not_connected",
            Self::NotPublic => "not_public",
            Self::TimedOut => "timed_out",
            Self::Broken => "broken",
        }
    }
}

fn request(target: &Target, message: SignedMessage) -> Result<Request<Full<Bytes>>, http::Error> {
    Request::builder()
        .method(Method::POST)
        .uri(target.uri().clone())
        .header(header::CONTENT_TYPE, JSON)
        .header(header::USER_AGENT, AGENT)
        .header(ID, message.id)
        .header(TIMESTAMP, message.seconds)
        .header(SIGNATURE, message.signatures)
        .body(Full::new(message.body))
}

fn outcome_without_response(error: &legacy::Error) -> Outcome {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(one) = cause {
        if one.is::<NotPublic>() {
            return Outcome::NotPublic;
        }
        cause = one.source();
    }
    if error.is_connect() {
        Outcome::NotConnected
    } else {
        Outcome::Broken
    }
}

/// The error with all its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(one) = cause {
        let words = one.to_string();
        if !text.ends_with(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = one.source();
    }
    text
}

/// The beginning of a body as text without control characters. A short body is read to its end, so
/// that the connection can be reused. An error in the body does not change the outcome.
async fn read_beginning(mut body: Incoming, deadline: Instant) -> String {
    let (mut stored, mut length) = (Vec::new(), 0);
    while let Ok(Some(Ok(frame))) = timeout_at(deadline, body.frame()).await {
        let data = frame.into_data().unwrap_or_default();
        let room = DETAIL_MAX.saturating_sub(stored.len()).min(data.len());
        stored.extend_from_slice(data.get(..room).unwrap_or_default());
        length += data.len();
        if length > DRAIN_MAX {
            break;
        }
    }
    let is_shown = |letter: &char| !letter.is_control() || *letter == '\n';
    String::from_utf8_lossy(&stored)
        .chars()
        .filter(is_shown)
        .collect()
}
