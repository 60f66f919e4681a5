//! The answers to failed operations on orders.

use http::StatusCode;
use web::Error;

use super::cancel::CancelOrderError;
use super::create::CreateOrderError;
use crate::payments::{database_error, mismatch, provider_error};

/// Names the order that has the reference.
pub(crate) const ORDER: &str = "order";

/// There is no such order.
pub(crate) fn not_found() -> Error {
    Error::new(StatusCode::NOT_FOUND, "Order not found")
}

/// The shop's own number names one order for ever.
pub(crate) fn reference_taken(id: &str) -> Error {
    Error::new(StatusCode::CONFLICT, "An order with this reference exists")
        .field("reference")
        .extra(ORDER, id)
}

impl From<CreateOrderError> for Error {
    fn from(error: CreateOrderError) -> Self {
        match error {
            CreateOrderError::Reference(id) => reference_taken(&id),
            CreateOrderError::Mismatch => mismatch(),
            CreateOrderError::Database(error) => database_error(error),
            CreateOrderError::Shape(error) => Self::internal(error),
        }
    }
}

impl From<CancelOrderError> for Error {
    fn from(error: CancelOrderError) -> Self {
        match error {
            CancelOrderError::NotFound => not_found(),
            CancelOrderError::Conflict(detail) => Self::new(StatusCode::CONFLICT, detail),
            CancelOrderError::Provider(failure) => provider_error(failure),
            CancelOrderError::Database(error) => database_error(error),
        }
    }
}
