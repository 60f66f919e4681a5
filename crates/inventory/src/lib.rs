//! The inventory management service: catalogue, stock, accounts, the REST API and the web
//! interface. It uses checkout only through its HTTP API. It neither listens on sockets nor reads
//! the environment; the program does.

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
mod expiry;
mod idempotency;
mod level;
mod listing;
mod login;
mod months;
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
pub use expiry::purge_expired;
pub use page::RouteAddress;
pub use routes::{documented_addresses, openapi, page_addresses};

/// The service's name in `/health` and metrics.
pub const SERVICE: &str = "inventory";
/// The interface version of the specification.
pub const VERSION: &str = "1.0.0";

/// The schema of the service's database.
pub const MIGRATIONS: db::Migrations =
    db::migrations!(name: "inventory", on: [delivery::MIGRATIONS], "0001_inventory");

/// The state that all handlers share. Cheap to clone.
#[derive(Clone)]
pub struct State(Arc<Shared>);

/// The parts of the [`State`].
pub struct Shared {
    /// The configuration.
    pub config: Config,
    /// The database.
    pub db: db::Db,
    /// This process's registration among the replicas.
    pub replica: db::Replica,
    /// The counters of rate limits.
    pub windows: Windows,
    /// The clock.
    pub clock: Clock,
    /// The source of randomness.
    pub random: Random,
    /// The key that signs tokens.
    pub token_key: TokenKey,
    /// Hashes and verifies passwords.
    pub passwords: Passwords,
    /// Signals workers and streams to stop.
    pub shutdown: Shutdown,
    /// Supervises the workers.
    pub workers: Supervisor,
    /// Wakes the dispatchers of events and holds their connections.
    pub outbox: events::Outbox,
    /// The shared state of analyses.
    pub analysis: analysis::AnalysisRuntime,
    /// Notifies subscribers of changes of stock or prices.
    pub changes: aggregates::ChangeNotifier,
    /// The client of checkout, for the pages of orders and payments.
    pub(crate) checkout: Option<payments::Checkout>,
    /// The cached statistics of the filters of product lists.
    pub(crate) list_stats: catalogue::products::StatsCache,
    /// The streams of open dashboards.
    pub streams: dashboard::live::Streams,
}

impl State {
    /// The state of these parts.
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
