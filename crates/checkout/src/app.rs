//! The service assembled: the state that all parts share, the routes, and the background workers.

use std::ops::Deref;
use std::sync::Arc;

use axum::Router;
use db::{Db, KeepAlive, Replica};
use delivery::Outbox;
use tokio::sync::{Notify, watch};
use web::rate::Windows;
use web::server::Shutdown;
use web::{Clock, Random, Supervisor};

use crate::config::{Config, Secret};
use crate::digest;
use crate::metrics::Metrics;
use crate::payments::{self, events::Hub};
use crate::provider::{self, Client, Observer, Transport};
use crate::{lists, notifications, orders, receipts, reconcile, routes, webhooks};

/// What the parts of the service share. Cheap to clone.
#[derive(Clone)]
pub struct State(Arc<Shared>);

/// The fields of [`State`].
pub struct Shared {
    pub(crate) config: Config,
    pub(crate) db: Db,
    /// This process among those that serve the database.
    pub(crate) replica: Replica,
    pub(crate) provider: Client,
    pub(crate) windows: Windows,
    pub(crate) clock: Clock,
    pub(crate) random: Random,
    pub(crate) metrics: Metrics,
    /// The program's figures, for the edge around the router.
    pub(crate) figures: web::metrics::Metrics,
    pub(crate) hub: Hub,
    /// Digests of the keys of the configuration.
    pub(crate) api_key_digests: Vec<String>,
    /// Digests requests, so that a repetition is told from another request.
    pub(crate) fingerprint_key: [u8; 32],
    /// Where the provider tells of changes, when it can reach us.
    pub(crate) notification_url: Option<String>,
    /// Wakes the worker that reads payments back.
    pub(crate) inbox: Notify,
    /// Wakes the reconciler.
    pub(crate) reconciler: Notify,
    /// The way out of events for the shop's servers.
    pub(crate) outbox: Outbox,
    /// Notifies the workers that deliver of events in the outbox.
    pub(crate) published: watch::Sender<u64>,
    /// Ends streams and workers.
    pub(crate) shutdown: Shutdown,
    /// Keeps the workers running.
    pub workers: Supervisor,
}

/// What a service is made of, passed in so that tests decide it.
pub struct Parts {
    /// The database, migrated.
    pub db: Db,
    /// Counts requests by client, and calls to the provider.
    pub windows: Windows,
    /// Tells the time.
    pub clock: Clock,
    /// Gives keys and references.
    pub random: Random,
    /// Counts what happens.
    pub metrics: web::metrics::Metrics,
    /// Ends streams and workers.
    pub shutdown: Shutdown,
}

/// Why the service cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The client of the provider cannot be made.
    #[error("the client of the provider cannot be made")]
    Provider(#[from] provider::SetupError),
    /// The database fails.
    #[error("the database fails")]
    Database(#[from] db::Error),
    /// Another secret was used with this database.
    #[error(
        "the checkout secret differs from the one that this database was used with: give every replica the same one, \
         and keep it when the data folder moves"
    )]
    Secret,
}

impl Deref for State {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl State {
    /// Puts the shared parts together, and makes sure that the secret is the one this database was used with.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn open(config: Config, parts: Parts) -> Result<Self, StartError> {
        let network = provider::network(&config.provider)?;
        Self::open_over(network, config, parts).await
    }

    async fn open_over(
        transport: Arc<dyn Transport>,
        config: Config,
        parts: Parts,
    ) -> Result<Self, StartError> {
        let mail = receipts::mail(config.receipts.as_ref());
        let outbox = webhooks::outbox(config.webhooks.clone(), mail, &config.secret, &parts);
        let Parts {
            db,
            windows,
            clock,
            random,
            metrics,
            shutdown,
        } = parts;
        let figures = metrics;
        let metrics = Metrics::new(&figures);
        let calls = metrics.clone();
        let observer: Observer = Arc::new(move |call| calls.call(call));
        let provider = Client::over(
            transport,
            config.provider.clone(),
            windows.clone(),
            Some(observer),
        );
        prove_secret(&db, &config.secret).await?;
        let state = Self(Arc::new(Shared {
            fingerprint_key: digest::keyed(&config.secret, &[b"fingerprint"]),
            notification_url: notification_url(&config),
            api_key_digests: config.api_keys.iter().map(Secret::sha256).collect(),
            config,
            replica: outbox.replica.clone(),
            db,
            provider,
            windows,
            clock,
            random,
            metrics,
            figures,
            hub: Hub::default(),
            inbox: Notify::new(),
            reconciler: Notify::new(),
            workers: outbox.workers.clone(),
            outbox,
            published: watch::Sender::new(0),
            shutdown,
        }));
        state.show_unknown();
        Ok(state)
    }

    /// Counts what is unknown whenever somebody reads the figures: repetitions, the reconciler and other replicas all change it.
    fn show_unknown(&self) {
        // The figures are among the shared parts, so they must not keep these alive.
        let shared = Arc::downgrade(&self.0);
        self.figures.before_showing(move || {
            let state = shared.upgrade().map(State);
            async move {
                let Some(state) = state else { return };
                match payments::unknown_count(&state).await {
                    Ok(unknown) => state.metrics.unknown(unknown),
                    Err(error) => {
                        tracing::warn!(%error, "payments of unknown outcome could not be counted");
                    }
                }
            }
        });
    }

    /// Lets its holder follow one payment: derived from the secret, so that nothing of it is stored.
    pub(crate) fn status_token(&self, id: &str) -> String {
        digest::token(digest::keyed(
            &self.config.secret,
            &[b"status", id.as_bytes()],
        ))
    }

    /// Leads to an order's page, and is stored as a digest only.
    pub(crate) fn order_token(&self, id: &str) -> String {
        let parts = ["order", id].map(str::as_bytes);
        digest::token(digest::keyed(&self.config.secret, &parts))
    }

    /// Something waits for the provider's word: look when it is due.
    pub(crate) fn wake_reconciler(&self) {
        self.reconciler.notify_one();
    }

    /// The way out of events for the shop's servers.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Events were published or receipts queued, and their transaction has been committed.
    pub(crate) fn wake_deliveries(&self) {
        self.published
            .send_modify(|count| *count = count.wrapping_add(1));
        self.outbox.wake_mail();
    }

    /// Frees what dead replicas were at work on.
    async fn release_dead(&self) -> Result<(), db::Error> {
        let released = payments::release_dead(&self.db).await?;
        if released > 0 {
            tracing::info!(released, "attempts of a dead replica are free again");
        }
        // A lease of an endpoint counts only while its replica is registered: the worker takes it.
        self.outbox.wake();
        Ok(())
    }
}

/// Makes sure that the secret is the one that this database was used with.
pub(crate) async fn prove_secret(db: &Db, secret: &Secret) -> Result<(), StartError> {
    let proof = digest::token(digest::keyed(secret, &[b"proof"]));
    if payments::keep_proof(db, proof).await? {
        Ok(())
    } else {
        Err(StartError::Secret)
    }
}

/// The service, ready to be served.
pub struct App {
    /// Every address of the service, the edge around it included.
    pub router: Router,
    /// What runs beside it.
    pub workers: Workers,
    /// What router and workers share.
    pub state: State,
}

/// The workers: one reads notified payments back, one asks about open ones, one looks at those that open pages show, one ends orders, one
/// counts the rows of lists, one delivers events, one sends receipts. Each sleeps while there is nothing to do.
pub struct Workers(State);

impl Workers {
    /// Works until the service stops.
    pub async fn run(self) {
        let Self(state) = &self;
        let workers = &state.workers;
        let receipts = async {
            if state.config.receipts.is_some() {
                workers
                    .keep("receipts", || receipts::run(state.clone()))
                    .await;
            }
        };
        tokio::join!(
            workers.keep("notifications", || notifications::run(state.clone())),
            workers.keep("reconciler", || reconcile::run(state.clone())),
            workers.keep("open_pages", || payments::events::look_out(state.clone())),
            workers.keep("orders", || orders::run(state.clone())),
            workers.keep("lists", || lists::run(state.clone())),
            workers.keep("deliveries", || webhooks::run(state.clone())),
            receipts,
        );
    }
}

/// Puts the service together over a migrated database.
///
/// # Errors
/// See [`StartError`].
pub async fn app(config: Config, parts: Parts) -> Result<App, StartError> {
    let network = provider::network(&config.provider)?;
    app_over(network, config, parts).await
}

/// As [`app`], with calls to the provider carried by `transport` instead of the network.
///
/// # Errors
/// See [`StartError`].
pub async fn app_over(
    transport: Arc<dyn Transport>,
    config: Config,
    parts: Parts,
) -> Result<App, StartError> {
    let state = State::open_over(transport, config, parts).await?;
    delivery::endpoints::configure(&state.outbox).await?;
    state.replica.register().await?;
    state.release_dead().await?;
    let router = routes::router(&state);
    Ok(App {
        router,
        workers: Workers(state.clone()),
        state,
    })
}

/// Shows the other replicas that this one lives, and frees what dead ones leave.
pub fn keep_alive(state: &State) -> KeepAlive {
    let freeing = state.clone();
    state.replica.keep_alive(move || {
        let state = freeing.clone();
        async move { state.release_dead().await }
    })
}

/// The provider is told an address that it can reach: an `https` one, or any when it stands on this machine too.
fn notification_url(config: &Config) -> Option<String> {
    let public = config.public_url.as_ref()?;
    let is_reachable = public.is_https() || config.provider.base_url.is_local();
    // The parameter asks for signed notifications only, without the older unsigned kind beside them.
    is_reachable.then(|| public.join("/notifications?source_news=webhooks"))
}

impl std::fmt::Debug for State {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("State").finish_non_exhaustive()
    }
}
