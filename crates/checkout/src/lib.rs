//! The payment checkout service: creates card, pix and boleto payments at an external provider, keeps what became of
//! them, and serves the page that people pay with.
//!
//! It carries the whole of the payment checkout specification. What the HTTP edge shares with the inventory service
//! (errors, limits, TLS) lives in `web`; how rows are stored in `db`; Brazilian formats in `brazil`.

pub(crate) mod json;
pub mod page;
pub mod payments;
pub mod provider;
pub mod request;

/// The API's document, `OpenAPI` 3.1 as JSON.
pub const OPENAPI: &str = include_str!("../openapi.json");
