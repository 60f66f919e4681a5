//! Payments through the API, over the real sandbox, on both engines where storage matters.

pub(crate) mod app;
mod creation;
mod requests;
mod sandbox;
