//! The failures of calls to the provider, and the response that each becomes.

use std::borrow::Cow;
use std::time::Duration;

use http::{HeaderValue, StatusCode, header};
use tower::BoxError;

use web::rate::throttled_detail;

use super::{Answer, message};

/// A failed call, classified by what is known of its effect.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// No connection was made (address, DNS, TLS, refused), so the provider did nothing.
    #[error("the provider could not be reached")]
    NotSent(#[source] BoxError),
    /// The call may have arrived, and no complete response came. The provider may have charged.
    #[error("the provider's answer did not arrive")]
    Unknown(#[source] BoxError),
    /// The provider responded with an error status.
    #[error("the provider refused: {status} {message}")]
    Refused {
        /// The HTTP status, never 2xx.
        status: u16,
        /// The code of the first cause, or else of the whole response, as text.
        code: Option<String>,
        /// The provider's short message, empty if there is none. Sanitised: no digits that could be
        /// card data, no access token, no control characters, at most 200 characters.
        message: String,
        /// How long the provider asks us to wait.
        retry_after: Option<Duration>,
    },
    /// The provider's response cannot be parsed. With a success status the provider may have
    /// charged.
    #[error("the provider's answer cannot be read: {reason}")]
    Unreadable {
        /// The HTTP status, if it could be read.
        status: Option<u16>,
        /// What is wrong with the response. Contains none of its values.
        reason: Cow<'static, str>,
    },
    /// Our own quota of calls is used up. Nothing was sent.
    #[error("the quota of calls to the provider is used up")]
    Quota {
        /// The time until the quota allows the calls.
        retry_after: Duration,
    },
    /// The client is blocked after too many attempts or declines. Nothing was sent.
    #[error("the client is held back")]
    Paused {
        /// The time until the client may try again.
        retry_after: Duration,
    },
}

impl Failure {
    pub(super) fn unreadable(status: u16, reason: impl Into<Cow<'static, str>>) -> Self {
        Failure::Unreadable {
            status: Some(status),
            reason: reason.into(),
        }
    }

    /// The provider's response contradicts what is known of its payments.
    pub(crate) const fn contradiction(reason: &'static str) -> Self {
        Failure::Unreadable {
            status: None,
            reason: Cow::Borrowed(reason),
        }
    }

    /// Parses the error in the provider's response, and masks runs of `masked` digits in its
    /// message. The body need not be JSON.
    pub(super) fn refused(answer: &Answer, masked: usize) -> Self {
        let Answer {
            status,
            retry_after,
            ..
        } = *answer;
        let (code, message) = message::of_error(&answer.body, masked);
        Failure::Refused {
            status,
            code,
            message,
            retry_after,
        }
    }

    /// Whether nothing was sent because of our own quota or limits.
    pub fn is_held_back(&self) -> bool {
        matches!(self, Failure::Quota { .. } | Failure::Paused { .. })
    }

    /// Whether the provider may have carried out the request without our knowing. The payment must
    /// then be read by its reference before anything else is tried.
    pub fn is_unknown(&self) -> bool {
        match self {
            Failure::Unknown(_) => true,
            Failure::Unreadable { status, .. } => !matches!(status, Some(300..=499)),
            Failure::Refused { .. } => self.is_passing(),
            Failure::NotSent(_) | Failure::Quota { .. } | Failure::Paused { .. } => false,
        }
    }

    /// Whether the provider judged the payment's data, so that a retry cannot change the outcome.
    /// All other failures are transient or can be fixed by the operator, and the same attempt goes
    /// on. Says nothing about earlier calls.
    pub fn is_final(&self) -> bool {
        self.is_refusal() && !self.is_passing()
    }

    /// Whether the status refuses the request, for good or not.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Failure::Refused {
                status: 400 | 402 | 422,
                ..
            }
        )
    }

    /// Whether the provider has nothing with the requested id.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Failure::Refused { status: 404, .. })
    }

    /// Whether a card token was refused because it is used up, expired or unknown. A new token may
    /// help.
    pub fn is_spent_card_token(&self) -> bool {
        let Failure::Refused {
            status: 400,
            code,
            message,
            ..
        } = self
        else {
            return false;
        };
        // 2006: card token not found; 2062: invalid card token; 3003: invalid token.
        matches!(code.as_deref(), Some("2006" | "2062" | "3003"))
            || message.to_lowercase().contains("token was used")
    }

    /// How long to wait before the next retry, if the provider or the quota says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Failure::Refused { retry_after, .. } => *retry_after,
            Failure::Quota { retry_after } | Failure::Paused { retry_after } => Some(*retry_after),
            Failure::NotSent(_) | Failure::Unknown(_) | Failure::Unreadable { .. } => None,
        }
    }

    /// The status and the exact `detail` of the response to the caller.
    pub fn answer(&self) -> (StatusCode, String) {
        match self {
            Failure::NotSent(_) | Failure::Unknown(_) | Failure::Quota { .. } => unavailable(),
            // The provider refuses in form only: one of its own parts failed.
            Failure::Refused { status: 400, .. } if self.is_passing() => unavailable(),
            Failure::Paused { retry_after } => (
                StatusCode::TOO_MANY_REQUESTS,
                throttled_detail(whole_seconds(*retry_after)),
            ),
            Failure::Refused {
                status: status @ (400 | 401),
                ..
            } => (StatusCode::BAD_GATEWAY, format!("Erro PROVIDER {status}")),
            Failure::Refused {
                status, message, ..
            } => {
                let cause = format!("API Error: {status} {message}");
                (StatusCode::BAD_GATEWAY, cause.trim_end().to_owned())
            }
            Failure::Unreadable {
                status: Some(status),
                ..
            } => (
                StatusCode::BAD_GATEWAY,
                format!("API Error: {status} unreadable answer"),
            ),
            Failure::Unreadable { status: None, .. } => (
                StatusCode::BAD_GATEWAY,
                "API Error: unreadable answer".to_owned(),
            ),
        }
    }

    /// The response to the caller, without the cause.
    pub fn to_edge(&self) -> web::Error {
        let (status, detail) = self.answer();
        let error = web::Error::new(status, detail);
        match self.retry_after() {
            Some(wait) => error.header(header::RETRY_AFTER, HeaderValue::from(whole_seconds(wait))),
            None => error,
        }
    }

    /// Whether the failure is transient: the provider is still working on an earlier call, or one
    /// of its parts failed. The call may still have an effect.
    fn is_passing(&self) -> bool {
        let Failure::Refused {
            status,
            code,
            message,
            ..
        } = self
        else {
            return false;
        };
        match status {
            // 2001: same request in the last minute. 2004 and 2007: the provider's gateway or its
            // card tokens failed.
            400 => {
                matches!(code.as_deref(), Some("2001" | "2004" | "2007"))
                    || message.to_lowercase().contains("the same request")
            }
            408 | 409 | 423 | 424 | 500.. => true,
            _ => false,
        }
    }
}

impl From<Failure> for web::Error {
    fn from(failure: Failure) -> Self {
        failure.to_edge().cause(failure)
    }
}

fn unavailable() -> (StatusCode, String) {
    let detail = "Service unavailable".to_owned();
    (StatusCode::SERVICE_UNAVAILABLE, detail)
}

/// Whole seconds for `Retry-After`, rounded up, at least one.
fn whole_seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}
