//! The progress of an attempt to pay or to refund. Pure.

use db::stored_enum;

stored_enum! {
    /// The progress of an attempt.
    pub(crate) enum AttemptStep {
        /// Nothing that could move money was sent.
        Started = "started";
        /// The call that moves the money may have reached the provider. Its outcome is unknown.
        Sending = "sending";
        /// The payment or the refund is made and recorded.
        Finished = "finished";
        /// The provider refused for good.
        Refused = "refused";
        /// Closed without a result: what was sent is certain to have had no effect.
        Closed = "closed";
    }
}

impl AttemptStep {
    /// Whether the attempt has ended with a response that every retry gets.
    pub(crate) const fn is_answered(self) -> bool {
        matches!(self, Self::Finished | Self::Refused)
    }

    /// Whether the attempt has ended without a payment or a refund.
    pub(crate) const fn had_no_effect(self) -> bool {
        matches!(self, Self::Refused | Self::Closed)
    }
}
