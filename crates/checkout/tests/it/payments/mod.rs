//! Payments through the API, over the real sandbox, on both engines where storage matters.

mod app;
mod creation;
mod requests;
mod sandbox;
