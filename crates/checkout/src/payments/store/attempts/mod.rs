//! Statements about attempts: the intent to pay, who works on it, and how it ended.

mod find;
mod write;

use db::{Error, Timestamp};

use crate::payments::model::Intent;

pub(crate) use find::{
    Due, due_attempts, find_attempt_by_key, find_attempt_by_reference, next_attempt_due,
    unknown_attempts,
};
pub(crate) use write::{
    Finish, Release, erase_old_answers, finish_attempt, forget_attempt, free_key, insert_attempt,
    keep_card_token, postpone_attempt, release_attempt, release_dead_attempts, take_attempt,
};

/// How far an attempt has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptStep {
    /// Nothing was sent that could have made a payment.
    Started,
    /// The call that makes the payment may have reached the provider; its outcome is not known.
    Sending,
    /// The payment is made and recorded.
    Finished,
    /// The provider refused for good.
    Refused,
    /// Given up: the provider knows no payment of ours by this reference.
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

    pub(in crate::payments::store) fn parse(text: &str) -> Result<Self, Error> {
        let step = Self::ALL.into_iter().find(|step| step.as_str() == text);
        step.ok_or_else(|| Error::other("attempts.step holds no step"))
    }
}

/// The right to work on an attempt until a time; other replicas may take it as soon as the holder's is dead, and no sooner.
#[derive(Debug, Clone)]
pub(crate) struct Lease {
    /// Names the holder's run.
    pub(crate) id: String,
    /// When the right ends.
    pub(crate) until: Timestamp,
}

/// An attempt to be stored.
#[derive(Debug, Clone)]
pub(crate) struct NewAttempt {
    pub(crate) reference: String,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) fingerprint: Option<String>,
    pub(crate) step: AttemptStep,
    pub(crate) intent: Intent,
    pub(crate) token_key: Option<String>,
    pub(crate) create_key: String,
    pub(crate) lease: Lease,
    pub(crate) check_at: Timestamp,
    pub(crate) now: Timestamp,
}

/// A stored attempt.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) id: i64,
    pub(crate) reference: String,
    pub(crate) fingerprint: Option<String>,
    pub(crate) step: AttemptStep,
    /// Its payer is blank once the attempt has ended: the data is then erased here.
    pub(crate) intent: Intent,
    pub(crate) token_key: Option<String>,
    pub(crate) create_key: String,
    pub(crate) card_token: Option<String>,
    pub(crate) leased_until: Option<Timestamp>,
    pub(crate) check_at: Option<Timestamp>,
    pub(crate) checks: i64,
    pub(crate) sent_at: Option<Timestamp>,
    pub(crate) response_status: Option<i64>,
    pub(crate) response: Option<String>,
    pub(crate) payment_id: Option<i64>,
    pub(crate) created_at: Timestamp,
}
