//! Notifying others: which events the service has, who may see and change their deliveries, and what its mails say. How they are stored and
//! delivered is in the crate `delivery`. What is reported is decided where it happens (`stock`, `analysis`); nothing here changes a
//! quantity. Carries the specification's "Events".

pub mod deliveries;
pub mod endpoints;
mod kinds;
pub(crate) mod labels;
pub mod mail;
mod store;

pub use delivery::{
    Attempt, Backlog, Delivery, DeliveryState, DisabledReason, Endpoint, EndpointSettings,
    EndpointState, Event, Filter, InternalEndpoint, Outbox, Progress, Secret, SecretError, Target,
    TargetError, Types, UnknownType, Webhooks,
};
pub use kinds::EventType;
pub use mail::Mail;

use db::{Error, Timestamp, Tx};
use delivery::Service;
use serde::Serialize;

use crate::State;

/// The service's events.
pub const SERVICE: Service = Service {
    name: crate::SERVICE,
    types: &EventType::NAMES,
    metrics: "",
    allow_private: "BALCAO_INVENTORY_WEBHOOK_ALLOW_PRIVATE",
    key: "the key that signs tokens",
};

/// Reads types of events that endpoints may ask for, by comma; blank is all.
pub fn types(text: &str) -> Result<Types, UnknownType> {
    Types::parse(text, SERVICE.types)
}

/// Writes an event into the outbox, in the transaction of what it tells of; it is delivered after the commit, in the order of its product.
pub async fn publish(
    tx: &mut Tx,
    kind: EventType,
    product: i64,
    data: impl Serialize,
    now: Timestamp,
) -> Result<(), Error> {
    delivery::publish(tx, &SERVICE, kind.name(), product, data, now).await
}

/// The body of an event.
pub(crate) fn body(
    kind: EventType,
    data: &impl Serialize,
    now: Timestamp,
) -> Result<String, Error> {
    delivery::body(kind.name(), data, now)
}

/// Delivers until the service stops.
pub(crate) async fn run(state: State) {
    delivery::run(state.outbox.clone(), state.changes.subscribe()).await;
}

/// One turn of everything, without sleeping: makes the deliveries of what was published and posts what is due, at all endpoints at
/// once, until nothing is. For tests, and for commands.
pub async fn pass(state: &State) -> Result<Progress, Error> {
    delivery::pass(&state.outbox).await
}

/// Removes what is older than it is kept.
pub async fn tidy(state: &State) -> Result<(), Error> {
    delivery::purge_expired(&state.outbox).await
}
