//! How far an attempt to pay or to refund has come. Pure.

use db::Error;

/// How far an attempt has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptStep {
    /// Nothing was sent that could have moved money.
    Started,
    /// The call that moves the money may have reached the provider; its outcome is not known.
    Sending,
    /// The payment or the refund is made and recorded.
    Finished,
    /// The provider refused for good.
    Refused,
    /// Given up: what was sent is certain to have come to nothing.
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

    /// Has it ended with an answer that stands for every repetition?
    pub(crate) const fn is_answered(self) -> bool {
        matches!(self, Self::Finished | Self::Refused)
    }

    /// Has it ended without a payment or a refund?
    pub(crate) const fn came_to_nothing(self) -> bool {
        matches!(self, Self::Refused | Self::Closed)
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let step = Self::ALL.into_iter().find(|step| step.as_str() == text);
        step.ok_or_else(|| Error::other("attempts.step holds no step"))
    }
}
