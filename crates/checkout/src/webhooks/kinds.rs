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
}

impl EventType {
    /// What endpoints may ask for.
    pub const ALL: [Self; 6] = [
        Self::PaymentPending,
        Self::PaymentApproved,
        Self::PaymentRejected,
        Self::PaymentCanceled,
        Self::PaymentRefunded,
        Self::PaymentChargedBack,
    ];

    /// Their names.
    pub const NAMES: [&'static str; 6] = [
        Self::PaymentPending.name(),
        Self::PaymentApproved.name(),
        Self::PaymentRejected.name(),
        Self::PaymentCanceled.name(),
        Self::PaymentRefunded.name(),
        Self::PaymentChargedBack.name(),
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
        }
    }

    /// What is told of a payment that has come into a state; nothing of one under review, which is neither paid nor refused.
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
