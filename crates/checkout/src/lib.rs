//! The payment checkout service: creates card, pix and boleto payments at an external provider,
//! stores their states, and serves the checkout page.
//!
//! Implements the whole payment checkout specification. Errors, limits and TLS are in `web`,
//! storage is in `db`, Brazilian formats are in `brazil`; the inventory service shares them.

mod access;
mod api;
mod app;
mod attempts;
pub mod closing;
mod config;
mod digest;
mod errors;
mod idempotency;
mod ids;
mod json;
pub mod keys;
pub mod lists;
mod metrics;
pub mod notifications;
mod openapi;
mod orders;
pub mod page;
mod payments;
pub mod provider;
mod receipts;
pub mod reconcile;
pub mod request;
mod routes;
mod secret;
mod shop;
mod state;
pub mod webhooks;

pub use app::{App, Workers, app, app_over, keep_alive, watch_statuses};
pub use config::{Config, Receipts};
pub use openapi::openapi;
pub use payments::PaymentState;
pub use secret::Secret;
pub use state::{Parts, StartError, State, open_outbox};

/// The service's tables.
pub const MIGRATIONS: db::Migrations =
    db::migrations!(name: "checkout", on: [delivery::MIGRATIONS], "0001_checkout");

/// The service's name, in `/health` and in metrics.
pub const SERVICE: &str = "checkout";
/// The interface version of the specification.
pub const VERSION: &str = "1.0.0";
/// The largest request body, in bytes.
pub(crate) const BODY_MAX: usize = 64 * 1024;
