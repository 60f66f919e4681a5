//! The event types.

use crate::payments::PaymentState;

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
