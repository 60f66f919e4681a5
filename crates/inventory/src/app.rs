//! Assembles the service over a migrated database: its state, its router, its workers, and its
//! first user.

use axum::Router;
use db::{Db, KeepAlive, Replica};
use web::{Clock, Random, Supervisor, metrics::Metrics, rate::Windows, server::Shutdown};

use crate::{
    Config, SERVICE, Shared, State,
    accounts::{
        Passwords, TokenKey,
        users::{self, UserError},
    },
    aggregates::{self, ChangeNotifier},
    analysis,
    catalogue::products::StatsCache,
    dashboard::live::{self, Streams},
    events::{self, Outbox},
    expiry,
    payments::Checkout,
    routes, stock, transfer,
};

/// The dependencies of a service, passed in so that tests can replace them.
pub struct Parts {
    /// The migrated database.
    pub db: Db,
    /// The counters of rate limits.
    pub windows: Windows,
    /// The clock.
    pub clock: Clock,
    /// The source of randomness, for tokens and salts.
    pub random: Random,
    /// The registry of metrics.
    pub metrics: Metrics,
    /// The shutdown signal for workers and streams.
    pub shutdown: Shutdown,
    /// The key that signs tokens, the same on every replica.
    pub token_key: TokenKey,
    /// The user to create if there is none.
    pub first_user: Option<FirstUser>,
}

/// The account of the first user, who has all permissions.
#[derive(Clone)]
pub struct FirstUser {
    /// The username.
    pub username: String,
    /// The password.
    pub password: String,
}

web::masked_debug!(FirstUser);

/// Why the service cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The first user cannot be created.
    #[error("the first user cannot be made")]
    FirstUser(#[from] UserError),
    /// The database failed during the start.
    #[error("what is stored cannot be made ready")]
    Database(#[from] db::Error),
    /// The language model needs TLS, which cannot be set up.
    #[error("the language model cannot be called")]
    LanguageModel(#[from] web::http_client::TlsUnusable),
    /// Checkout needs TLS, which cannot be set up.
    #[error("checkout cannot be called")]
    Checkout(#[source] web::http_client::TlsUnusable),
}

/// The assembled service.
pub struct App {
    /// The router of all routes, including the middleware.
    pub router: Router,
    /// The background workers.
    pub workers: Workers,
    /// The state that handlers and workers share.
    pub state: State,
}

/// The background workers. Each one sleeps while there is nothing to do.
pub struct Workers(State);

impl Workers {
    /// Runs until the service stops.
    pub async fn run(self) {
        let Self(state) = &self;
        let workers = &state.workers;
        let mails = async {
            if state.config.mail.is_some() {
                workers
                    .keep("mails", || stock::digest::run(state.clone()))
                    .await;
            }
        };
        let reports = async {
            if state.config.analysis.weekly_report {
                let run = || analysis::report::run(state.clone());
                workers.keep("weekly_reports", run).await;
            }
        };
        tokio::join!(
            workers.keep("aggregates", || aggregates::work(state.clone())),
            workers.keep("deliveries", || events::run(state.clone())),
            workers.keep("expiry", || expiry::run(state.clone())),
            workers.keep("analyses", || analysis::run(state.clone())),
            workers.keep("imports", || transfer::watch(state.clone())),
            workers.keep("open_dashboards", || live::poll_ledger(state.clone())),
            mails,
            reports,
        );
    }
}

/// Assembles the service, creates the first user, and takes over the work of dead replicas.
pub async fn app(config: Config, parts: Parts) -> Result<App, StartError> {
    aggregates::refresh_low_count(&parts.db, config.low_stock_threshold).await?;
    let (first_user, metrics) = (parts.first_user.clone(), parts.metrics.clone());
    let state = state(config, parts)?;
    if let Some(FirstUser { username, password }) = first_user {
        let (now, name) = (state.clock.now(), username.clone());
        if users::create_first(&state.db, &state.passwords, now, username, password).await? {
            tracing::info!(username = name, "the first user was created");
        }
    }
    delivery::endpoints::configure(&state.outbox).await?;
    state.replica.register().await?;
    release_dead(state.clone()).await?;
    Ok(App {
        router: routes::router(&state, metrics),
        workers: Workers(state.clone()),
        state,
    })
}

/// Keeps this replica registered, and takes over the work of dead ones.
pub fn keep_alive(state: &State) -> KeepAlive {
    let shared = state.clone();
    let release = move || release_dead(shared.clone());
    state.replica.keep_alive(release)
}

/// Releases the leases of dead replicas, so that the workers of this one continue their work.
/// Webhook endpoints need no statement: their leases are valid only while the replica is
/// registered.
async fn release_dead(state: State) -> Result<(), db::Error> {
    let released = analysis::release_dead(&state).await?;
    if released > 0 {
        tracing::info!(released, "analyses of a dead replica are due again");
    }
    state.outbox.wake();
    Ok(())
}

/// Creates the state without starting anything, for commands that run beside a running service.
pub fn state(config: Config, parts: Parts) -> Result<State, StartError> {
    let passwords = Passwords::new(parts.random.clone());
    let replica = Replica::new(parts.db.clone(), parts.random.uuid().to_string());
    let analysis = analysis::AnalysisRuntime::new(&config.analysis, &parts.metrics)?;
    let checkout = config.checkout.clone().map(Checkout::new).transpose();
    let checkout = checkout.map_err(StartError::Checkout)?;
    let workers = Supervisor::new(SERVICE, &parts.metrics, parts.shutdown.clone());
    let delivery = delivery::Parts {
        service: events::SERVICE,
        webhooks: config.webhooks.clone(),
        mail: events::mail::worker_settings(&config),
        secret_key: parts.token_key.derive("balcao/webhook-secret/1"),
        db: parts.db.clone(),
        replica: replica.clone(),
        clock: parts.clock.clone(),
        random: parts.random.clone(),
        shutdown: parts.shutdown.clone(),
        workers: workers.clone(),
    };
    let outbox = Outbox::new(delivery, &parts.metrics);
    Ok(State::new(Shared {
        config,
        analysis,
        checkout,
        db: parts.db,
        replica,
        windows: parts.windows,
        clock: parts.clock,
        random: parts.random,
        token_key: parts.token_key,
        passwords,
        shutdown: parts.shutdown,
        workers,
        changes: ChangeNotifier::default(),
        outbox,
        list_stats: StatsCache::default(),
        streams: Streams::default(),
    }))
}
