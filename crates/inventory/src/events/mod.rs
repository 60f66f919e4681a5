//! Events: their types, the service functions of endpoints and deliveries, and the texts of mails.
//! The crate `delivery` stores and delivers events. The modules `stock` and `analysis` decide when
//! to publish one. Implements "Events" of the specification.

pub mod deliveries;
pub mod endpoints;
mod kinds;
pub(crate) mod labels;
pub mod mail;
mod store;

pub use delivery::{
    Attempt, Backlog, Delivery, DeliveryState, DisabledReason, Endpoint, EndpointSettings,
    EndpointState, Event, Filter, InternalEndpoint, Outbox, Progress, Secret, SecretError, Target,
    Types, Webhooks,
};
pub use kinds::EventType;
pub use mail::Mail;

use db::{Error, Timestamp, Tx};
use delivery::Service;
use serde::Serialize;

use crate::State;

/// The settings of the crate `delivery` for this service.
pub const SERVICE: Service = Service {
    name: crate::SERVICE,
    types: &EventType::NAMES,
    metrics: "",
    allow_private: "BALCAO_INVENTORY_WEBHOOK_ALLOW_PRIVATE",
    key: "the key that signs tokens",
};

/// Writes an event into the outbox, in the transaction of the change. It is delivered after the
/// commit, in the order of its product's events.
pub async fn publish(
    tx: &mut Tx,
    kind: EventType,
    product: i64,
    data: impl Serialize,
    now: Timestamp,
) -> Result<(), Error> {
    delivery::publish(tx, &SERVICE, kind.name(), product, data, now).await
}

/// The payload of an event.
pub(crate) fn body(
    kind: EventType,
    data: &impl Serialize,
    now: Timestamp,
) -> Result<String, Error> {
    delivery::body(kind.name(), data, now)
}

/// Runs the dispatcher until the service stops.
pub(crate) async fn run(state: State) {
    delivery::run(state.outbox.clone(), state.changes.subscribe()).await;
}

/// One pass of the dispatcher, for tests and commands: creates deliveries for published events, and
/// sends the due ones to all endpoints in parallel, until none is due.
pub async fn pass(state: &State) -> Result<Progress, Error> {
    delivery::pass(&state.outbox).await
}
