//! The HTTP stack that both services share: everything around their handlers.
//!
//! Errors as JSON or as a page, request ids, the access log, client addresses, rate limits, TLS and
//! shutdown, embedded assets, security headers, liveness, background workers, metrics, API
//! documents, languages and pages. It has no rules of a service and no SQL. Sessions and CSRF
//! protection are in `inventory::accounts`. Implements the rows of "Both services" in
//! `docs/decisions.md`.

mod accept;
pub mod access;
pub mod assets;
pub mod client;
mod clock;
pub mod compression;
pub mod cookie;
pub mod docs;
mod error;
pub mod errors;
pub mod health;
pub mod http_client;
mod http_stack;
pub mod json;
pub mod limits;
pub mod locale;
mod masked;
pub mod metrics;
pub mod openapi;
pub mod page;
pub mod panics;
mod random;
pub mod rate;
pub mod request_id;
mod seal;
pub mod security;
pub mod server;
mod supervisor;
pub mod text;

pub use clock::Clock;
pub use error::Error;
pub use http_stack::HttpStack;
pub use random::Random;
pub use seal::Seal;
pub use supervisor::Supervisor;
