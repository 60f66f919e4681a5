//! Error responses that several features share.

use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue, StatusCode};
use web::Error;

use crate::request::Refusal;

/// Tells in an error's body whether money may have moved, so that a page can say so: `not_charged`
/// or `unknown`; of a refund only the latter.
pub(crate) const OUTCOME: &str = "outcome";
/// On every answer that was given before.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// The header of the caller's key, in problem reports.
pub(crate) const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// There is no such payment.
pub(crate) fn payment_not_found() -> Error {
    Error::new(StatusCode::NOT_FOUND, "Payment not found")
}

/// There is no such order.
pub(crate) fn order_not_found() -> Error {
    Error::new(StatusCode::NOT_FOUND, "Order not found")
}

/// The database's failures: passing ones ask for another try.
pub(crate) fn database(error: db::Error) -> Error {
    if error.is_unavailable() {
        Error::new(StatusCode::SERVICE_UNAVAILABLE, "Service unavailable").cause(error)
    } else {
        Error::internal(error)
    }
}

/// What failed on our side while money may be moving, by this request or by an earlier one with its
/// key.
pub(crate) fn unknown_outcome(error: Error) -> Error {
    if error.status().is_server_error() {
        error.extra(OUTCOME, "unknown")
    } else {
        error
    }
}

/// The first request with this idempotency key is not done.
pub(crate) fn busy() -> Error {
    Error::new(
        StatusCode::CONFLICT,
        "A request with this Idempotency-Key is still running",
    )
    .header(RETRY_AFTER, HeaderValue::from_static("1"))
}

/// The idempotency key was used for another request.
pub(crate) fn mismatch() -> Error {
    Refusal::unprocessable(IDEMPOTENCY_KEY, "was used for another request").into()
}

/// A refusal that was answered before.
pub(crate) fn repeated(status: u16, detail: String) -> Error {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    Error::new(status, detail).header(REPLAYED, HeaderValue::from_static("true"))
}
