//! Webhooks to the shop's servers: the types of events, and the operators' commands on endpoints.
//! The code of a change publishes its event. The crate `delivery` stores and delivers it.

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

/// The subject of an event, by its row. Events of one subject are delivered in their order.
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

/// Writes an event into the outbox, in the transaction of what it tells of. After the commit,
/// `State::wake_deliveries` is called.
pub(crate) async fn publish(
    tx: &mut Tx,
    kind: EventType,
    subject: Subject,
    data: &impl Serialize,
    now: Timestamp,
) -> Result<(), Error> {
    delivery::publish(tx, &SERVICE, kind.name(), subject.number(), data, now).await
}
