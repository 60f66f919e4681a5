//! Error responses that several features share.

use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue, StatusCode};
use web::Error;

use crate::request::Refusal;

/// Member of an error's body that tells a page whether money may have moved: `not_charged` or
/// `unknown`. Refunds have only `unknown`.
pub(crate) const OUTCOME: &str = "outcome";
/// The header of a response that was sent before for the same idempotency key.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// The header of the caller's idempotency key, as problem reports name it.
pub(crate) const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

pub(crate) fn payment_not_found() -> Error {
    Error::new(StatusCode::NOT_FOUND, "Payment not found")
}

/// 404. Buyers meet it on the page of an order.
pub(crate) fn order_not_found() -> Error {
    Error::new(StatusCode::NOT_FOUND, "Order not found").advice(
        "Confira o link de pagamento ou peça outro à loja.",
        "Check the payment link, or ask the shop for another.",
    )
}

/// Maps a database error. A transient error is 503, so that the caller retries.
pub(crate) fn database(error: db::Error) -> Error {
    if error.is_unavailable() {
        Error::new(StatusCode::SERVICE_UNAVAILABLE, "Service unavailable").cause(error)
    } else {
        Error::internal(error)
    }
}

/// Marks an error of ours while money may have moved, by this request or by an earlier one with its
/// idempotency key.
pub(crate) fn unknown_outcome(error: Error) -> Error {
    if error.status().is_server_error() {
        error.extra(OUTCOME, "unknown")
    } else {
        error
    }
}

/// 409: the first request with this idempotency key is still running.
pub(crate) fn busy() -> Error {
    Error::new(
        StatusCode::CONFLICT,
        "A request with this Idempotency-Key is still running",
    )
    .header(RETRY_AFTER, HeaderValue::from_static("1"))
}

/// 422: the caller's idempotency key is refused for this reason.
pub(crate) fn key_refused(reason: &str) -> Refusal {
    Refusal::unprocessable(IDEMPOTENCY_KEY, reason)
}

/// 422: the idempotency key was used for a different request.
pub(crate) fn mismatch() -> Error {
    key_refused("was used for another request").into()
}

/// A refusal that was returned before for the same idempotency key.
pub(crate) fn repeated(status: u16, detail: String) -> Error {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    Error::new(status, detail).header(REPLAYED, HeaderValue::from_static("true"))
}
