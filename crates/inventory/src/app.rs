//! The service assembled over a migrated database: its first user, its state, its router.

use axum::Router;
use db::{Db, KeepAlive, Replica};
use web::{Clock, Random, Supervisor, metrics::Metrics, rate::Windows, server::Shutdown};

use crate::{
    Config, SERVICE, Shared, State,
    accounts::{
        HashFault, Passwords, TokenKey,
        users::{self, UserError},
    },
    aggregates::{self, ChangeNotifier},
    analysis,
    catalogue::products::StatsCache,
    dashboard::live::{self, Streams},
    events::{self, Outbox},
    payments::Checkout,
    routes, stock, transfer,
};

/// What a service is made of, passed in so that tests decide it.
pub struct Parts {
    /// The database, migrated.
    pub db: Db,
    /// The counters of rate limits.
    pub windows: Windows,
    /// Tells the time.
    pub clock: Clock,
    /// Gives tokens and salts.
    pub random: Random,
    /// Counts what happens.
    pub metrics: Metrics,
    /// Ends workers and streams.
    pub shutdown: Shutdown,
    /// Signs tokens: the same on every replica.
    pub token_key: TokenKey,
    /// Made when there is no user at all.
    pub first_user: Option<FirstUser>,
}

/// The account of whoever sets the service up: it may do everything.
#[derive(Clone)]
pub struct FirstUser {
    /// The name it logs in with.
    pub username: String,
    /// Its password.
    pub password: String,
}

impl std::fmt::Debug for FirstUser {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("FirstUser")
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}

/// Why the service cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Passwords cannot be hashed.
    #[error("passwords cannot be hashed")]
    Passwords(#[from] HashFault),
    /// The first user cannot be made.
    #[error("the first user cannot be made")]
    FirstUser(#[from] UserError),
    /// What is stored cannot be counted, or made ready for the workers.
    #[error("what is stored cannot be made ready")]
    Database(#[from] db::Error),
    /// The language model cannot be reached securely.
    #[error("the language model cannot be called")]
    LanguageModel(#[from] web::http_client::TlsUnusable),
    /// Checkout cannot be reached securely.
    #[error("checkout cannot be called")]
    Checkout(#[source] web::http_client::TlsUnusable),
}

/// The service, ready to be served.
pub struct App {
    /// Every address of the service, the edge around it included.
    pub router: Router,
    /// What runs beside it.
    pub workers: Workers,
    /// What its functions work on.
    pub state: State,
}

/// The work that nobody waits for. Each worker sleeps while there is nothing to do.
pub struct Workers(State);

impl Workers {
    /// Works until the service stops.
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
            workers.keep("analyses", || analysis::run(state.clone())),
            workers.keep("imports", || transfer::watch(state.clone())),
            workers.keep("open_dashboards", || live::poll_ledger(state.clone())),
            mails,
            reports,
        );
    }
}

/// Puts the service together.
pub async fn app(config: Config, parts: Parts) -> Result<App, StartError> {
    aggregates::refresh_low_count(&parts.db, config.low_stock_threshold).await?;
    let (first_user, metrics) = (parts.first_user.clone(), parts.metrics.clone());
    let state = state(config, parts)?;
    if let Some(FirstUser { username, password }) = first_user {
        let (now, name) = (state.clock.now(), username.clone());
        if users::create_first(&state.db, &state.passwords, now, username, password).await? {
            tracing::info!(username = name, "the first user was made");
        }
    }
    delivery::endpoints::configure(&state.outbox).await?;
    state.replica.register().await?;
    release_dead(&state).await?;
    Ok(App {
        router: routes::router(&state, metrics),
        workers: Workers(state.clone()),
        state,
    })
}

/// Shows the other replicas that this one lives, and takes over what dead ones leave.
pub fn keep_alive(state: &State) -> KeepAlive {
    let taking_over = state.clone();
    state.replica.keep_alive(move || {
        let state = taking_over.clone();
        async move { release_dead(&state).await }
    })
}

/// Gives the work of dead replicas to the workers of this one. The endpoints of webhooks need no
/// statement: a lease there counts only while its replica is registered.
async fn release_dead(state: &State) -> Result<(), db::Error> {
    let released = analysis::release_dead(state).await?;
    if released > 0 {
        tracing::info!(released, "analyses of a dead replica are due again");
    }
    state.outbox.wake();
    Ok(())
}

/// What the service's functions work on, for a command beside a service that runs: nothing is made
/// ready, taken over or started.
pub fn state(config: Config, parts: Parts) -> Result<State, StartError> {
    let passwords = Passwords::new(parts.random.clone())?;
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
