//! What the shop's own servers are told of: the types of events, and what operators do with the endpoints that get them. What is told of a
//! change is decided where it happens; how events are stored and delivered is in the crate `delivery`.

pub mod endpoints;
mod kinds;
pub(crate) mod openapi;

pub use delivery::{Configured, Internal, Secret, Target, Webhooks};
pub use kinds::EventType;

use db::{Error, Replica, Timestamp, Tx};
use delivery::mail::Mail;
use delivery::{Outbox, Progress, Service};
use serde::Serialize;
use web::Supervisor;

use crate::app::prove_secret;
use crate::config::Secret as ServiceSecret;
use crate::{Parts, StartError, State, digest};

/// The service's events.
pub const SERVICE: Service = Service {
    name: crate::SERVICE,
    types: &EventType::NAMES,
    metrics: "checkout_",
    allow_private: "BALCAO_CHECKOUT_WEBHOOK_ALLOW_PRIVATE",
    key: "the checkout secret",
};

/// What an event is about, by its row. Events of one subject are delivered in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A payment without an order.
    Payment(i64),
    /// An order, with its payments.
    Order(i64),
}

impl Subject {
    /// Its number among all subjects.
    const fn number(self) -> i64 {
        match self {
            Self::Payment(row) => row,
            Self::Order(row) => -row,
        }
    }
}

/// Writes an event into the outbox, in the transaction of what it tells of. After the commit, [`State::wake_deliveries`] is called.
pub(crate) async fn publish(
    tx: &mut Tx,
    kind: EventType,
    subject: Subject,
    data: &impl Serialize,
    now: Timestamp,
) -> Result<(), Error> {
    delivery::publish(tx, &SERVICE, kind.name(), subject.number(), data, now).await
}

/// The way out of the service's events.
pub(crate) fn outbox(
    webhooks: Webhooks,
    mail: Option<Mail>,
    secret: &ServiceSecret,
    parts: &Parts,
) -> Outbox {
    let delivery = delivery::Parts {
        service: SERVICE,
        webhooks,
        mail,
        secret_key: digest::keyed(secret, &[b"webhook-secret"]),
        db: parts.db.clone(),
        replica: Replica::new(parts.db.clone(), parts.random.uuid().to_string()),
        clock: parts.clock.clone(),
        random: parts.random.clone(),
        shutdown: parts.shutdown.clone(),
        workers: Supervisor::new(crate::SERVICE, &parts.metrics, parts.shutdown.clone()),
    };
    Outbox::new(delivery, &parts.metrics)
}

/// As the service has it, for a command beside a service that may be running.
///
/// # Errors
/// When the database fails, or was used with another secret.
pub async fn open(
    webhooks: Webhooks,
    secret: &ServiceSecret,
    parts: &Parts,
) -> Result<Outbox, StartError> {
    prove_secret(&parts.db, secret).await?;
    Ok(outbox(webhooks, None, secret, parts))
}

/// Delivers until the service stops.
pub(crate) async fn run(state: State) {
    delivery::run(state.outbox.clone(), state.published.subscribe()).await;
}

/// One turn of everything, without sleeping: posts what is due, until nothing is. For tests.
///
/// # Errors
/// When the database fails.
pub async fn pass(state: &State) -> Result<Progress, Error> {
    delivery::pass(&state.outbox).await
}
