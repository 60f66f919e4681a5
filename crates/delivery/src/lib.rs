//! Delivery of a service's events. An event is stored in the transaction of its change. It is then
//! delivered to the webhook endpoints that subscribe to its type: at least once, in order within
//! its subject, signed as in Standard Webhooks 1.0. It may also be sent as mail.
//!
//! The service defines event types and data, mail texts, pages and permissions. A service creates
//! one [`Outbox`], writes events with [`publish`] in the transaction of the change, calls
//! [`Outbox::wake`] after the commit, and keeps [`run`] running. Functions on endpoints and
//! deliveries take a transaction, so that a service can record the actor in it.

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
mod store;

pub use backoff::backoff;
pub use dispatch::{Progress, pass, purge_expired, retry_after, run};
pub use http::{Secret, SecretError, SignatureHeaders, Target, TargetError};
pub use model::{
    Attempt, Backlog, Delivery, DeliveryState, DisabledReason, Endpoint, EndpointState, Event,
    Filter, Service, Types, UnknownType,
};
pub use outbox::{EndpointSettings, InternalEndpoint, Outbox, Parts, Webhooks};
pub use store::EventRow;

use db::{Error, Timestamp, Tx};
use serde::Serialize;

/// The tables. Services in one database share them.
pub const MIGRATIONS: db::Migrations = db::migrations!(name: "delivery", "0001_delivery");

/// The type of test events. A test event goes only to the tested endpoint.
pub const TEST: &str = "endpoint.test";

/// Writes an event into the outbox, in the transaction of the change. Its body is
/// `{"type", "timestamp", "data"}`. It is delivered after the commit, in order within its subject.
/// An event whose type endpoints cannot subscribe to goes to none of them, but can become mail.
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

/// The body of an event as receivers get it. The members are in the documented order, like those of
/// the API's objects.
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
