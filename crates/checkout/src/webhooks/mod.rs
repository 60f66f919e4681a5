//! Webhooks to the shop's servers: the event types, and the operators' commands on endpoints. The
//! code that makes a change publishes its event. The crate `delivery` stores and delivers it.

pub mod endpoints;

pub use delivery::{EndpointSettings, InternalEndpoint, Secret, Target, Webhooks};

use db::{Error, Timestamp, Tx, stored_enum};
use delivery::Service;
use serde::Serialize;

use crate::payments::PaymentState;

/// The service's events.
pub const SERVICE: Service = Service {
    name: crate::SERVICE,
    types: &EventType::ALL_NAMES,
    metrics: "checkout_",
    allow_private: "BALCAO_CHECKOUT_WEBHOOK_ALLOW_PRIVATE",
    key: "the checkout secret",
};

stored_enum! {
    /// The type of an event.
    pub enum EventType {
        /// A payment is pending.
        PaymentPending = "payment.pending";
        /// A payment was approved.
        PaymentApproved = "payment.approved";
        /// A payment was refused by the provider or the bank.
        PaymentRejected = "payment.rejected";
        /// A payment was cancelled before it was paid.
        PaymentCanceled = "payment.canceled";
        /// A payment was refunded, in full or in part.
        PaymentRefunded = "payment.refunded";
        /// The payer's bank charged a payment back.
        PaymentChargedBack = "payment.charged_back";
        /// An order was paid.
        OrderPaid = "order.paid";
        /// An order expired unpaid.
        OrderExpired = "order.expired";
        /// The shop canceled an order.
        OrderCanceled = "order.canceled";
        /// A payment was approved for an order that needed none.
        OrderOverpaid = "order.overpaid";
    }
}

impl EventType {
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
