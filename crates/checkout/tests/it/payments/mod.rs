//! Payments through the API, over the real sandbox, on both engines where storage matters.

pub(crate) mod app;
mod creation;
pub(crate) mod requests;
mod sandbox;
