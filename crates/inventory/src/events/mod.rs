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
pub use outbox::{Configured, Outbox, Webhooks};

use db::{Error, Timestamp, Tx};
use serde::Serialize;

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
    data: impl Serialize,
    now: Timestamp,
) -> Result<(), Error> {
    let payload = body(kind, &data, now)?;
    store::insert_event(tx, kind.name(), product, &payload, now).await
}

/// The body of an event, as its receivers get it: members in the order of their document, as the API's objects have theirs.
///
/// # Errors
///
/// Data that cannot be written as JSON.
pub fn body(kind: EventType, data: &impl Serialize, now: Timestamp) -> Result<String, Error> {
    #[derive(Serialize)]
    struct Body<'a, D> {
        r#type: &'a str,
        timestamp: String,
        data: &'a D,
    }
    let body = Body {
        r#type: kind.name(),
        timestamp: time_text(now),
        data,
    };
    serde_json::to_string(&body).map_err(|error| Error::other(error.to_string()))
}
