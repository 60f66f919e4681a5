//! Assembles the service: routes and background workers.

use std::sync::Arc;

use axum::Router;
use db::KeepAlive;

use crate::config::Config;
use crate::provider::{self, Transport};
use crate::state::{Parts, StartError, State};
use crate::{attempts, closing, lists, notifications, payments, reconcile, routes};

/// The service, ready to be served.
pub struct App {
    /// The routes of the service with the HTTP stack around them.
    pub router: Router,
    /// The background workers, to be run together with the router.
    pub workers: Workers,
    /// The state that router and workers share.
    pub state: State,
}

/// The background workers. Each sleeps while it has no work.
pub struct Workers(State);

impl Workers {
    /// Runs the workers until the service stops.
    pub async fn run(self) {
        let Self(state) = &self;
        let (workers, db, shutdown) = (&state.workers, &state.db, &state.shutdown);
        let receipts = async {
            let send =
                || delivery::mailer::run(state.outbox.clone(), || std::future::ready(Ok(())));
            if state.config.receipts.is_some() {
                workers.keep("receipts", send).await;
            }
        };
        tokio::join!(
            workers.keep("notifications", || notifications::run(state.clone())),
            workers.keep("reconciler", || reconcile::run(state.clone())),
            workers.keep("open_pages", || watch_statuses(state.clone())),
            workers.keep("orders", || closing::run(state.clone())),
            workers.keep("lists", || lists::run(db.clone(), shutdown.clone())),
            workers.keep("deliveries", || {
                delivery::run(state.outbox.clone(), state.published.subscribe())
            }),
            receipts,
        );
    }
}

/// Notifies open pages of changes by other processes, until the service stops.
pub async fn watch_statuses(state: State) {
    let (db, statuses) = (state.db.clone(), state.statuses.clone());
    payments::watch_statuses(db, statuses, state.shutdown.clone()).await;
}

/// Assembles the service on a migrated database.
pub async fn app(config: Config, parts: Parts) -> Result<App, StartError> {
    let network = provider::network(&config.provider)?;
    app_over(network, config, parts).await
}

/// Same as [`app`], but `transport` carries the calls to the provider.
pub async fn app_over(
    transport: Arc<dyn Transport>,
    config: Config,
    parts: Parts,
) -> Result<App, StartError> {
    let state = State::open_over(transport, config, parts).await?;
    count_unknown(&state);
    delivery::endpoints::configure(&state.outbox).await?;
    state.replica.register().await?;
    release_dead(state.clone()).await?;
    let router = routes::router(&state);
    Ok(App {
        router,
        workers: Workers(state.clone()),
        state,
    })
}

/// Registers this process as a live replica, and releases the attempts of dead ones.
pub fn keep_alive(state: &State) -> KeepAlive {
    let shared = state.clone();
    let release = move || release_dead(shared.clone());
    state.replica.keep_alive(release)
}

async fn release_dead(state: State) -> Result<(), db::Error> {
    let released = attempts::release_dead(&state.db).await?;
    if released > 0 {
        tracing::info!(
            released,
            "attempts: the leases of a dead replica were released; retries and the reconciler continue its attempts"
        );
    }
    // An endpoint's lease counts only while its replica is registered, so the dispatcher can take
    // over now.
    state.outbox.wake();
    Ok(())
}

/// Counts unknown outcomes whenever the metrics are read. Retries, the reconciler and other
/// replicas all change the number.
fn count_unknown(state: &State) {
    let upgrade = state.downgrade();
    state.program_metrics.before_scrape(move || {
        let state = upgrade();
        async move {
            let Some(state) = state else { return };
            match attempts::unknown_count(&state.db, state.clock.now()).await {
                Ok(unknown) => {
                    state.metrics.unknown.set(unknown);
                }
                Err(error) => {
                    tracing::warn!(%error, "metrics: counting unknown outcomes failed, the last count stays");
                }
            }
        }
    });
}
