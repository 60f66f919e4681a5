//! The payment checkout service: creates card, pix and boleto payments at an external provider, stores their states, and
//! serves the checkout page.
//!
//! It implements the whole payment checkout specification. The HTTP edge that it shares with the inventory service (errors, limits, TLS)
//! is in `web`, storage in `db`, Brazilian formats in `brazil`.

mod access;
mod app;
mod config;
mod digest;
mod json;
pub mod keys;
pub mod lists;
mod metrics;
pub mod notifications;
mod openapi;
pub mod orders;
pub mod page;
pub mod payments;
pub mod provider;
pub mod receipts;
pub mod reconcile;
pub mod request;
mod routes;
pub mod webhooks;

pub use app::{App, Parts, StartError, State, Workers, app, app_over, keep_alive};
pub use config::{Config, Secret};
pub use openapi::openapi;

/// The service's tables.
pub const MIGRATIONS: db::Migrations =
    db::migrations!(name: "checkout", on: [delivery::MIGRATIONS], "0001_checkout");

/// The service's name, in `/health` and in figures.
pub const SERVICE: &str = "checkout";
/// The interface version of the specification.
pub const VERSION: &str = "1.0.0";
/// The longest body that is read, in bytes.
pub(crate) const BODY_MAX: usize = 64 * 1024;
