//! The inventory management service: catalogue, stock, accounts, and the REST API and web interface
//! over them. It knows a checkout by its HTTP API alone. It opens no listening socket and reads no
//! environment: the program does.

pub mod access;
pub mod accounts;
mod admin;
pub mod aggregates;
pub mod analysis;
pub mod api;
mod app;
pub mod audit;
pub mod catalogue;
mod config;
mod dashboard;
pub mod derived;
mod digest;
mod error_pages;
pub mod events;
mod idempotency;
mod level;
mod listing;
mod login;
mod movement;
mod names;
mod openapi;
mod page;
mod pages;
pub mod payments;
#[cfg(test)]
mod plans;
mod reorder;
pub mod rest;
mod routes;
mod search;
pub mod stock;
pub mod transfer;
mod uploads;
pub mod views;
mod work;

use std::{ops::Deref, sync::Arc};

use web::{Clock, Random, Supervisor, rate::Windows, server::Shutdown};

use accounts::{Passwords, TokenKey};
pub use app::{App, FirstUser, Parts, StartError, Workers, app, keep_alive, state};
pub use config::Config;
pub use page::RouteAddress;
pub use routes::{documented_addresses, openapi, page_addresses};

/// The service's name, in `/health` and in figures.
pub const SERVICE: &str = "inventory";
/// The interface version of the specification.
pub const VERSION: &str = "1.0.0";

/// The schema of the service's database.
pub const MIGRATIONS: db::Migrations =
    db::migrations!(name: "inventory", on: [delivery::MIGRATIONS], "0001_inventory");

/// What every request may use. Cheap to clone.
#[derive(Clone)]
pub struct State(Arc<Shared>);

/// The parts of the [`State`].
pub struct Shared {
    /// The settings.
    pub config: Config,
    /// The store.
    pub db: db::Db,
    /// This process among those that serve the store.
    pub replica: db::Replica,
    /// The counters of rate limits.
    pub windows: Windows,
    /// The time.
    pub clock: Clock,
    /// Randomness.
    pub random: Random,
    /// The key that signs tokens.
    pub token_key: TokenKey,
    /// Hashes and verifies passwords.
    pub passwords: Passwords,
    /// Ends workers and streams.
    pub shutdown: Shutdown,
    /// Keeps the workers running.
    pub workers: Supervisor,
    /// Wakes those who deliver events, and holds their connections.
    pub outbox: events::Outbox,
    /// What analyses share.
    pub analysis: analysis::AnalysisRuntime,
    /// Tells that stock or prices have changed.
    pub changes: aggregates::ChangeNotifier,
    /// The checkout whose orders and payments the pages show.
    pub(crate) checkout: Option<payments::Checkout>,
    /// How many products the lists select.
    pub(crate) list_stats: catalogue::products::StatsCache,
    /// The places for streams of open dashboards.
    pub streams: dashboard::live::Streams,
}

impl State {
    /// A state of these parts.
    pub fn new(shared: Shared) -> Self {
        Self(Arc::new(shared))
    }
}

impl Deref for State {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
