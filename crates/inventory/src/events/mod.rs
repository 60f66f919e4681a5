//! Notifying others: events that are stored with the change that they report, and their delivery to webhook endpoints and by mail.
//! What is reported is decided where it happens (`stock`, `analysis`); nothing here changes a quantity.
//! Carries the specification's "Events".

pub mod deliveries;
mod delivery;
pub mod endpoints;
mod http;
mod kinds;
pub mod mail;
mod metrics;
mod model;
mod outbox;
pub(crate) mod pages;
mod store;
pub(crate) mod words;

pub(crate) use delivery::run;
pub use delivery::{Progress, pass, tidy};
pub use http::{Secret, SecretError, Target, TargetError};
pub use kinds::EventType;
pub use mail::Mail;
pub use model::{
    Attempt, Delivery, DeliveryState, Disabled, Endpoint, Event, Filter, Types, UnknownType,
    Waiting,
};
pub(crate) use outbox::release_leases;
pub use outbox::{Configured, Outbox, Webhooks};

use db::{Error, Timestamp, Tx};
use serde_json::{Value, json};

use crate::rest::json::time_text;

/// Writes an event into the outbox, in the transaction of what it tells of. Its body is `{"type", "timestamp", "data"}`;
/// it is delivered after the commit, in the order of its product.
///
/// # Errors
///
/// Faults of the store.
pub async fn publish(
    tx: &mut Tx,
    kind: EventType,
    product: i64,
    data: Value,
    now: Timestamp,
) -> Result<(), Error> {
    let payload = body(kind, &data, now).to_string();
    store::insert_event(tx, kind.name(), product, &payload, now).await
}

/// The body of an event, as its receivers get it.
pub fn body(kind: EventType, data: &Value, now: Timestamp) -> Value {
    json!({"type": kind.name(), "timestamp": time_text(now), "data": data})
}
