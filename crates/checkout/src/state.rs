//! The shared state of the service, built from the configuration and the program's resources.
//!
//! A feature that needs one or two fields takes those, not the whole state.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRef;
use db::{Db, Replica};
use delivery::mail::Mail;
use delivery::{Outbox, Webhooks};
use tokio::sync::{Notify, watch};
use web::rate::Windows;
use web::server::Shutdown;
use web::{Clock, Random, Supervisor};

use crate::config::{Config, Receipts};
use crate::keys::ApiKeys;
use crate::metrics::Metrics;
use crate::payments::StatusBroadcaster;
use crate::provider::{self, Client, Observer, Transport};
use crate::secret::{Secret, is_secret_of};
use crate::webhooks;

/// The shared state of the service. Cheap to clone.
#[derive(Clone)]
pub struct State(Arc<StateFields>);

/// The fields of [`State`].
pub struct StateFields {
    pub(crate) config: Config,
    pub(crate) db: Db,
    /// The registration of this process as a replica.
    pub(crate) replica: Replica,
    pub(crate) provider: Client,
    pub(crate) windows: Windows,
    pub(crate) clock: Clock,
    pub(crate) random: Random,
    pub(crate) metrics: Metrics,
    pub(crate) keys: ApiKeys,
    /// Sends status changes to open pages.
    pub(crate) statuses: StatusBroadcaster,
    /// The key of the digests by which two requests are compared.
    pub(crate) fingerprint_key: [u8; 32],
    /// Where the provider sends its notifications, if it can reach us.
    pub(crate) notification_url: Option<String>,
    /// Wakes the worker of the notification inbox.
    pub(crate) inbox: Notify,
    /// Wakes the reconciler.
    pub(crate) reconciler: Notify,
    pub(crate) outbox: Outbox,
    /// Wakes the webhook dispatcher.
    pub(crate) published: watch::Sender<u64>,
    /// Ends streams and workers.
    pub(crate) shutdown: Shutdown,
    /// The program's metrics, for the HTTP stack around the router.
    pub(crate) program_metrics: web::metrics::Metrics,
    /// Keeps the workers running.
    pub workers: Supervisor,
}

/// The resources of a service, passed in so that tests can replace them.
pub struct Parts {
    /// The database, migrated.
    pub db: Db,
    /// Rate limit windows for clients and for calls to the provider.
    pub windows: Windows,
    /// Tells the time.
    pub clock: Clock,
    /// Generates idempotency keys and references.
    pub random: Random,
    /// The program's metrics.
    pub metrics: web::metrics::Metrics,
    /// Ends streams and workers.
    pub shutdown: Shutdown,
}

/// Why the service cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The provider's client cannot be created.
    #[error("the client of the provider cannot be made")]
    Provider(#[from] provider::SetupError),
    /// The database failed.
    #[error("the database fails")]
    Database(#[from] db::Error),
    /// The database was used with another secret.
    #[error(
        "the checkout secret differs from the one that this database was used with: give every replica the same one, \
         and keep it (without the setting, checkout.key) when the data folder moves"
    )]
    Secret,
}

impl Deref for State {
    type Target = StateFields;

    fn deref(&self) -> &StateFields {
        &self.0
    }
}

impl State {
    /// Builds the state, and checks that the secret is the one this database was first used with.
    pub async fn open(config: Config, parts: Parts) -> Result<Self, StartError> {
        let network = provider::network(&config.provider)?;
        Self::open_over(network, config, parts).await
    }

    pub(crate) async fn open_over(
        transport: Arc<dyn Transport>,
        config: Config,
        parts: Parts,
    ) -> Result<Self, StartError> {
        let mail = config.receipts.as_ref().map(mail);
        let outbox = outbox(config.webhooks.clone(), mail, &config.secret, &parts);
        let Parts {
            db,
            windows,
            clock,
            random,
            metrics: program_metrics,
            shutdown,
        } = parts;
        let metrics = Metrics::new(&program_metrics);
        let calls = metrics.clone();
        let observer: Observer = Arc::new(move |call| calls.call(call));
        let provider = Client::over(
            transport,
            config.provider.clone(),
            windows.clone(),
            random.clone(),
            Some(observer),
        );
        check_secret(&db, &config.secret).await?;
        Ok(Self(Arc::new(StateFields {
            fingerprint_key: config.secret.keyed(&["fingerprint"]),
            notification_url: config.notification_url(),
            keys: ApiKeys::new(db.clone(), &config.api_keys),
            config,
            replica: outbox.replica.clone(),
            db,
            provider,
            windows,
            clock,
            random,
            metrics,
            program_metrics,
            statuses: StatusBroadcaster::default(),
            inbox: Notify::new(),
            reconciler: Notify::new(),
            workers: outbox.workers.clone(),
            outbox,
            published: watch::Sender::new(0),
            shutdown,
        })))
    }

    /// The token that lets its holder follow one payment. Derived from the secret, so that it need
    /// not be stored.
    pub(crate) fn status_token(&self, payment: &str) -> String {
        self.config.secret.token(&["status", payment])
    }

    /// The token in the address of an order's page. Only its digest is stored.
    pub(crate) fn order_token(&self, order: &str) -> String {
        self.config.secret.token(&["order", order])
    }

    /// Wakes the reconciler after an outcome became unknown, so that it plans the first check.
    pub(crate) fn wake_reconciler(&self) {
        self.reconciler.notify_one();
    }

    /// The outbox of webhooks to the shop's servers.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Wakes the dispatcher after events or receipts were committed.
    pub(crate) fn wake_deliveries(&self) {
        self.published
            .send_modify(|count| *count = count.wrapping_add(1));
        self.outbox.wake_mail();
    }

    /// A weak reference for callbacks that the state itself owns, so that they do not keep it
    /// alive.
    pub(crate) fn downgrade(&self) -> impl Fn() -> Option<Self> + use<> {
        let shared = Arc::downgrade(&self.0);
        move || shared.upgrade().map(Self)
    }
}

impl FromRef<State> for Db {
    fn from_ref(state: &State) -> Self {
        state.db.clone()
    }
}

/// Opens only the outbox, for a command. The service may be running.
///
/// # Errors
/// When the database fails, or was used with another secret.
pub async fn open_outbox(
    webhooks: Webhooks,
    secret: &Secret,
    parts: &Parts,
) -> Result<Outbox, StartError> {
    check_secret(&parts.db, secret).await?;
    Ok(outbox(webhooks, None, secret, parts))
}

async fn check_secret(db: &Db, secret: &Secret) -> Result<(), StartError> {
    if is_secret_of(db, secret).await? {
        Ok(())
    } else {
        Err(StartError::Secret)
    }
}

fn outbox(webhooks: Webhooks, mail: Option<Mail>, secret: &Secret, parts: &Parts) -> Outbox {
    let delivery = delivery::Parts {
        service: webhooks::SERVICE,
        webhooks,
        mail,
        secret_key: secret.keyed(&["webhook-secret"]),
        db: parts.db.clone(),
        replica: Replica::new(parts.db.clone(), parts.random.uuid().to_string()),
        clock: parts.clock.clone(),
        random: parts.random.clone(),
        shutdown: parts.shutdown.clone(),
        workers: Supervisor::new(crate::SERVICE, &parts.metrics, parts.shutdown.clone()),
    };
    Outbox::new(delivery, &parts.metrics)
}

/// The mail settings for receipts. Receipts are queued with the payment's change, so no event
/// becomes mail by itself.
fn mail(Receipts { server, from }: &Receipts) -> Mail {
    Mail {
        server: server.clone(),
        from: from.clone(),
        templates: Arc::new(()),
    }
}
