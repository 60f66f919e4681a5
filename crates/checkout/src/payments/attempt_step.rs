//! The progress of an attempt to pay or to refund. Pure.

use db::{Column, Error, Value};

/// The progress of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptStep {
    /// Nothing that could move money was sent.
    Started,
    /// The call that moves the money may have reached the provider. Its outcome is unknown.
    Sending,
    /// The payment or the refund is made and recorded.
    Finished,
    /// The provider refused for good.
    Refused,
    /// Closed without a result: what was sent is certain to have had no effect.
    Closed,
}

impl AttemptStep {
    const ALL: [Self; 5] = [
        Self::Started,
        Self::Sending,
        Self::Finished,
        Self::Refused,
        Self::Closed,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Sending => "sending",
            Self::Finished => "finished",
            Self::Refused => "refused",
            Self::Closed => "closed",
        }
    }

    /// Whether the attempt has ended with a response that every retry gets.
    pub(crate) const fn is_answered(self) -> bool {
        matches!(self, Self::Finished | Self::Refused)
    }

    /// Whether the attempt has ended without a payment or a refund.
    pub(crate) const fn had_no_effect(self) -> bool {
        matches!(self, Self::Refused | Self::Closed)
    }
}

impl Column for AttemptStep {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        let text = String::from_value(value)?;
        let step = Self::ALL.into_iter().find(|step| step.as_str() == text);
        step.ok_or_else(|| Error::other("attempts.step holds no step"))
    }
}
