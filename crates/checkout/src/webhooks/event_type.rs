//! The types of events.

use crate::payments::PaymentState;

/// What an event tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventType {
    /// A payment waits to be paid.
    PaymentPending,
    /// A payment was approved.
    PaymentApproved,
    /// A payment was refused by the provider or the bank.
    PaymentRejected,
    /// A payment was given up before it was paid.
    PaymentCanceled,
    /// Something of a payment was given back: all of it, or a part.
    PaymentRefunded,
    /// The payer's bank took a payment back.
    PaymentChargedBack,
    /// An order was paid.
    OrderPaid,
    /// The time to pay an order is over.
    OrderExpired,
    /// The shop gave an order up.
    OrderCanceled,
    /// A payment of an order was approved that pays for nothing.
    OrderOverpaid,
}

impl EventType {
    /// What endpoints may ask for.
    pub const ALL: [Self; 10] = [
        Self::PaymentPending,
        Self::PaymentApproved,
        Self::PaymentRejected,
        Self::PaymentCanceled,
        Self::PaymentRefunded,
        Self::PaymentChargedBack,
        Self::OrderPaid,
        Self::OrderExpired,
        Self::OrderCanceled,
        Self::OrderOverpaid,
    ];

    /// Their names.
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

    /// The name in bodies and in the store.
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

    /// What is told of a payment that has come into a state; nothing of one under review, which is
    /// neither paid nor refused.
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
