//! The answers to failed operations on payments.

use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use web::Error;

use super::cancel::CancelError;
use super::create::CreateError;
use super::idempotency::{self, KeyError};
use super::refund::RefundError;
use crate::orders::Obstacle;
use crate::provider::Failure;
use crate::request::Refusal;

/// Tells in an error's body whether money may have moved, so that a page can say so: `not_charged` or `unknown`; of a refund only the latter.
const OUTCOME: &str = "outcome";

/// There is no such payment.
pub(crate) fn not_found() -> Error {
    Error::new(StatusCode::NOT_FOUND, "Payment not found")
}

/// The database's failures: passing ones ask for another try.
pub(crate) fn database(error: db::Error) -> Error {
    if error.is_unavailable() {
        Error::new(StatusCode::SERVICE_UNAVAILABLE, "Service unavailable").cause(error)
    } else {
        Error::internal(error)
    }
}

/// What failed on our side while money may be moving, by this request or by an earlier one with its key.
pub(crate) fn unknown(error: Error) -> Error {
    if error.status().is_server_error() {
        error.extra(OUTCOME, "unknown")
    } else {
        error
    }
}

/// The first request with this key is not done.
pub(crate) fn busy() -> Error {
    Error::new(
        StatusCode::CONFLICT,
        "A request with this Idempotency-Key is still running",
    )
    .header(RETRY_AFTER, HeaderValue::from_static("1"))
}

pub(crate) fn mismatch() -> Error {
    Refusal::unprocessable(idempotency::FIELD, "was used for another request").into()
}

fn repeated(status: u16, detail: String) -> Error {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let replayed = http::HeaderName::from_static(idempotency::REPLAYED);
    Error::new(status, detail).header(replayed, HeaderValue::from_static("true"))
}

pub(crate) fn provider(failure: Failure) -> Error {
    failure.to_edge().cause(failure)
}

/// An order that is over is gone; one that is paid, or perhaps is, conflicts.
fn obstacle_to_payment(obstacle: &Obstacle) -> Error {
    let status = match obstacle {
        Obstacle::Canceled | Obstacle::Expired => StatusCode::GONE,
        Obstacle::Paid | Obstacle::Confirming | Obstacle::Pending { .. } => StatusCode::CONFLICT,
    };
    Error::new(status, obstacle.detail())
}

impl From<KeyError> for Error {
    fn from(error: KeyError) -> Self {
        Refusal::unprocessable(idempotency::FIELD, &error.to_string()).into()
    }
}

impl From<CreateError> for Error {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::Busy => busy(),
            CreateError::Mismatch => mismatch(),
            CreateError::Provider {
                failure,
                may_be_charged,
            } => provider(failure).extra(
                OUTCOME,
                if may_be_charged {
                    "unknown"
                } else {
                    "not_charged"
                },
            ),
            CreateError::Repeated { status, detail } => {
                repeated(status, detail).extra(OUTCOME, "not_charged")
            }
            CreateError::Order(obstacle) => obstacle_to_payment(&obstacle),
            CreateError::UnknownStatus => unknown(Error::new(
                StatusCode::BAD_GATEWAY,
                "API Error: unknown payment status",
            )),
            CreateError::Database(error) => unknown(database(error)),
            CreateError::Fault(what) => unknown(Error::internal(what)),
        }
    }
}

impl From<CancelError> for Error {
    fn from(error: CancelError) -> Self {
        match error {
            CancelError::NotFound => not_found(),
            CancelError::State => Refusal::invalid_payment_status().into(),
            CancelError::Provider(failure) => provider(failure),
            CancelError::Database(error) => database(error),
        }
    }
}

impl From<RefundError> for Error {
    fn from(error: RefundError) -> Self {
        match error {
            RefundError::NotFound => not_found(),
            RefundError::State => Refusal::invalid_payment_status().into(),
            RefundError::Amount => Refusal::invalid_amount("amount").into(),
            RefundError::Busy => busy(),
            RefundError::Mismatch => mismatch(),
            RefundError::Provider(failure) => provider(failure),
            RefundError::Unknown(failure) => unknown(provider(failure)),
            RefundError::Repeated { status, detail } => repeated(status, detail),
            RefundError::Database(error) => unknown(database(error)),
            RefundError::Shape(error) => unknown(Error::internal(error)),
        }
    }
}
