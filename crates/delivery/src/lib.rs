//! Events of a service on their way to others. An event is stored with the change that it reports,
//! delivered to the webhook endpoints that ask for its type (at least once, in order within its
//! subject, signed as Standard Webhooks 1.0), or sent as mail.
//!
//! Which types of events there are, what their data is, the words of mails, pages and permissions
//! are the service's own. It makes one [`Outbox`], writes events with [`publish`] in the
//! transaction of what they report, calls [`Outbox::wake`] after the commit, and keeps [`run`]
//! running. What people do with endpoints and deliveries are functions within a transaction, so
//! that a service can write down who did it in the same one.

mod backoff;
pub mod deliveries;
mod dispatch;
pub mod endpoints;
mod http;
pub mod mail;
pub mod mailer;
mod metrics;
mod model;
pub mod openapi;
mod outbox;
mod service;
mod store;

pub use backoff::backoff;
pub use dispatch::{Progress, pass, purge_expired, run};
pub use http::{Secret, SecretError, SignatureHeaders, Target, TargetError};
pub use model::{
    Attempt, Backlog, Delivery, DeliveryState, DisabledReason, Endpoint, Event, Filter, Types,
    UnknownType,
};
pub use outbox::{EndpointSettings, InternalEndpoint, Outbox, Parts, Webhooks};
pub use service::Service;
pub use store::EventRow;

use db::{Error, Timestamp, Tx};
use serde::Serialize;

/// The tables. Services that share a database share them.
pub const MIGRATIONS: db::Migrations = db::migrations!(name: "delivery", "0001_delivery");

/// The type of the event by which somebody tries out an endpoint. It goes to that one only.
pub const TEST: &str = "endpoint.test";

/// Writes an event into the outbox, in the transaction of what it tells of. Its body is
/// `{"type", "timestamp", "data"}`; it is delivered after the commit, in the order of its subject.
/// A type that no endpoint may ask for goes to none: it can become mail.
pub async fn publish(
    tx: &mut Tx,
    service: &Service,
    kind: &str,
    subject: i64,
    data: impl Serialize,
    now: Timestamp,
) -> Result<(), Error> {
    let payload = body(kind, &data, now)?;
    store::insert_event(tx, (service.name, kind), subject, &payload, now).await
}

/// The body of an event, as its receivers get it: members in the order of their document, as the
/// API's objects have theirs.
///
/// # Errors
///
/// Data that cannot be written as JSON.
pub fn body(kind: &str, data: &impl Serialize, now: Timestamp) -> Result<String, Error> {
    #[derive(Serialize)]
    struct Body<'a, D> {
        r#type: &'a str,
        timestamp: String,
        data: &'a D,
    }
    let body = Body {
        r#type: kind,
        timestamp: resource::time_text(now),
        data,
    };
    serde_json::to_string(&body).map_err(|error| Error::other(error.to_string()))
}
