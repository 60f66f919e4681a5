//! Webhooks to the shop's servers: the event types, and the operators' commands on endpoints. The
//! code that makes a change publishes its event. The crate `delivery` stores and delivers it.

pub mod endpoints;
mod event_type;

pub use delivery::{EndpointSettings, InternalEndpoint, Secret, Target, Webhooks};
pub use event_type::EventType;

use db::{Error, Timestamp, Tx};
use delivery::Service;
use serde::Serialize;

/// The service's events.
pub const SERVICE: Service = Service {
    name: crate::SERVICE,
    types: &EventType::NAMES,
    metrics: "checkout_",
    allow_private: "BALCAO_CHECKOUT_WEBHOOK_ALLOW_PRIVATE",
    key: "the checkout secret",
};

/// The subject of an event, by its row id. Events of one subject are delivered in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A payment without an order.
    Payment(i64),
    /// An order and its payments.
    Order(i64),
}

impl Subject {
    /// A number that is unique among all subjects.
    const fn number(self) -> i64 {
        match self {
            Self::Payment(row) => row,
            Self::Order(row) => -row,
        }
    }
}

/// Writes an event into the outbox, in the transaction of the change. The caller must call
/// `State::wake_deliveries` after the commit.
pub(crate) async fn publish(
    tx: &mut Tx,
    kind: EventType,
    subject: Subject,
    data: &impl Serialize,
    now: Timestamp,
) -> Result<(), Error> {
    delivery::publish(tx, &SERVICE, kind.name(), subject.number(), data, now).await
}
