//! Payments through the API, over the real sandbox, on both engines where storage matters.

pub(crate) mod app;
mod creation;
mod faults;
mod idempotency;
mod reconciling;
pub(crate) mod requests;
mod sandbox;
