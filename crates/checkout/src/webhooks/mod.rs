//! Webhooks to the shop's servers: the event types, and the operators' commands on endpoints. The
//! code that makes a change publishes its event. The crate `delivery` stores and delivers it.

pub mod endpoints;

pub use delivery::{EndpointSettings, InternalEndpoint, Secret, Target, Webhooks};

use db::{Error, Timestamp, Tx};
use delivery::Service;
use serde::Serialize;

use crate::payments::PaymentState;

/// The service's events.
pub const SERVICE: Service = Service {
    name: crate::SERVICE,
    types: &EventType::NAMES,
    metrics: "checkout_",
    allow_private: "BALCAO_CHECKOUT_WEBHOOK_ALLOW_PRIVATE",
    key: "the checkout secret",
};

/// The type of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventType {
    /// A payment is pending.
    PaymentPending,
    /// A payment was approved.
    PaymentApproved,
    /// A payment was refused by the provider or the bank.
    PaymentRejected,
    /// A payment was cancelled before it was paid.
    PaymentCanceled,
    /// A payment was refunded, in full or in part.
    PaymentRefunded,
    /// The payer's bank charged a payment back.
    PaymentChargedBack,
    /// An order was paid.
    OrderPaid,
    /// An order expired unpaid.
    OrderExpired,
    /// The shop canceled an order.
    OrderCanceled,
    /// A payment was approved for an order that needed none.
    OrderOverpaid,
}

impl EventType {
    /// The names of all types, to which endpoints can subscribe.
    pub const NAMES: [&'static str; 10] = [
        Self::PaymentPending.name(),
        Self::PaymentApproved.name(),
        Self::PaymentRejected.name(),
        Self::PaymentCanceled.name(),
        Self::PaymentRefunded.name(),
        Self::PaymentChargedBack.name(),
        Self::OrderPaid.name(),
        Self::OrderExpired.name(),
        Self::OrderCanceled.name(),
        Self::OrderOverpaid.name(),
    ];

    /// The name in bodies and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PaymentPending => "payment.pending",
            Self::PaymentApproved => "payment.approved",
            Self::PaymentRejected => "payment.rejected",
            Self::PaymentCanceled => "payment.canceled",
            Self::PaymentRefunded => "payment.refunded",
            Self::PaymentChargedBack => "payment.charged_back",
            Self::OrderPaid => "order.paid",
            Self::OrderExpired => "order.expired",
            Self::OrderCanceled => "order.canceled",
            Self::OrderOverpaid => "order.overpaid",
        }
    }

    /// The event of a payment's state. `None` under review, which is neither paid nor refused.
    pub(crate) const fn of_state(state: PaymentState) -> Option<Self> {
        match state {
            PaymentState::Pending => Some(Self::PaymentPending),
            PaymentState::Approved => Some(Self::PaymentApproved),
            PaymentState::Rejected => Some(Self::PaymentRejected),
            PaymentState::Cancelled => Some(Self::PaymentCanceled),
            PaymentState::Refunded => Some(Self::PaymentRefunded),
            PaymentState::ChargedBack => Some(Self::PaymentChargedBack),
            PaymentState::InProcess => None,
        }
    }
}

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
