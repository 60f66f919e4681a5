//! What a check of an attempt or of a payment at the provider has found. Pure.

use std::time::Duration;

use crate::payments::PaymentState;

/// The result of a check at the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The payment was made although its response was lost. It is recorded now.
    Found,
    /// The provider does not have the payment yet.
    NotFound,
    /// The provider never received the payment. The attempt is closed.
    Closed,
    /// The state changed to this one.
    Moved(PaymentState),
    /// The state is unchanged.
    Same(PaymentState),
    /// The provider reported a state that cannot follow this one. The report was refused.
    Refused(PaymentState),
    /// The refund was made although its response was lost.
    Refunded,
    /// The refund was never made. The attempt is closed.
    RefundClosed,
    /// The provider has not finished the refund.
    RefundOpen,
    /// The provider accepted the refund and refused it later.
    RefundRefused,
    /// The provider did not answer.
    Failed(String),
    /// The quota for background work is used up for this time.
    Quota(Duration),
}

impl Finding {
    /// The label in metrics.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::NotFound => "not_found",
            Self::Closed => "closed",
            Self::Moved(_) => "moved",
            Self::Same(_) => "same",
            Self::Refused(_) => "refused",
            Self::Refunded => "refunded",
            Self::RefundClosed => "refund_closed",
            Self::RefundOpen => "refund_open",
            Self::RefundRefused => "refund_refused",
            Self::Failed(_) => "failed",
            Self::Quota(_) => "quota",
        }
    }
}
