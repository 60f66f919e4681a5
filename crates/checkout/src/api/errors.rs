//! The responses to failed operations on payments and orders.

use http::StatusCode;
use web::Error;

use crate::attempts::{CancelError, CreateError, RefundError, RunError};
use crate::errors::{
    OUTCOME, busy, database, mismatch, order_not_found, payment_not_found, repeated,
    unknown_outcome,
};
use crate::orders::{CancelOrderError, CreateOrderError, Obstacle};
use crate::request::Refusal;

/// The member with the id of the order that has the reference.
const ORDER: &str = "order";

/// The reference of an order stays reserved for it, so a second order gets 409.
pub(crate) fn reference_taken(id: &str) -> Error {
    Error::new(StatusCode::CONFLICT, "An order with this reference exists")
        .field("reference")
        .extra(ORDER, id)
}

/// Canceled and expired orders are 410. Paid orders, and those with a live payment, are 409.
pub(crate) fn obstacle(obstacle: &Obstacle) -> Error {
    let status = match obstacle {
        Obstacle::Canceled | Obstacle::Expired => StatusCode::GONE,
        Obstacle::Paid | Obstacle::Confirming | Obstacle::Pending { .. } => StatusCode::CONFLICT,
    };
    Error::new(status, obstacle.detail())
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Busy => busy(),
            RunError::Mismatch => mismatch(),
            RunError::Provider {
                failure,
                is_unknown: true,
            } => Self::from(failure).extra(OUTCOME, "unknown"),
            RunError::Provider { failure, .. } => failure.into(),
            RunError::Repeated { status, detail } => repeated(status, detail),
        }
    }
}

impl From<CreateError> for Error {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::Run(error) if error.has_moved_nothing() => {
                Self::from(error).extra(OUTCOME, "not_charged")
            }
            CreateError::Run(error) => error.into(),
            CreateError::Order(found) => obstacle(&found),
            CreateError::UnknownStatus => unknown_outcome(Self::new(
                StatusCode::BAD_GATEWAY,
                "API Error: unknown payment status",
            )),
            CreateError::Database(error) => unknown_outcome(database(error)),
        }
    }
}

impl From<CancelError> for Error {
    fn from(error: CancelError) -> Self {
        match error {
            CancelError::NotFound => payment_not_found(),
            CancelError::State => Refusal::invalid_payment_status().into(),
            CancelError::Provider(failure) => failure.into(),
            CancelError::Database(error) => database(error),
        }
    }
}

impl From<RefundError> for Error {
    fn from(error: RefundError) -> Self {
        match error {
            RefundError::NotFound => payment_not_found(),
            RefundError::State => Refusal::invalid_payment_status().into(),
            RefundError::Amount => Refusal::invalid_amount("amount").into(),
            RefundError::Run(error) => error.into(),
            RefundError::Database(error) => unknown_outcome(database(error)),
        }
    }
}

impl From<CreateOrderError> for Error {
    fn from(error: CreateOrderError) -> Self {
        match error {
            CreateOrderError::Reference(id) => reference_taken(&id),
            CreateOrderError::Mismatch => mismatch(),
            CreateOrderError::Database(error) => database(error),
        }
    }
}

impl From<CancelOrderError> for Error {
    fn from(error: CancelOrderError) -> Self {
        match error {
            CancelOrderError::NotFound => order_not_found(),
            CancelOrderError::Conflict(detail) => Self::new(StatusCode::CONFLICT, detail),
            CancelOrderError::Provider(failure) => failure.into(),
            CancelOrderError::Database(error) => database(error),
        }
    }
}
