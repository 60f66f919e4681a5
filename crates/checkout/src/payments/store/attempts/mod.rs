//! Statements about attempts, the payments and refunds that were asked for: the intent, who works on it, and how it ended. Both kinds are
//! rows of one table, so that each rule about leases, checks, ends and erasure is one statement.

mod due;
mod find;
mod write;

use db::{Error, Money, Timestamp};

use crate::payments::idempotency::IdempotencyKey;
use crate::payments::model::Intent;
use crate::provider::{CardToken, UpstreamKey};

pub(crate) use due::{
    Due, close_attempt, due_attempts, next_attempt_due, note_answer, open_attempts,
    postpone_attempt, unknown_attempts,
};
pub(crate) use find::{find_attempt_by_key, find_attempt_by_reference, find_language, refunds_of};
pub(crate) use write::{
    Finish, Release, erase_expired, finish_attempt, follow_refund, forget_attempt, free_key,
    insert_attempt, keep_card_token, refuse_attempt, release_attempt, release_dead_attempts,
    take_attempt,
};

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

    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
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

/// What an attempt is to bring about.
#[derive(Debug, Clone)]
pub(crate) enum Instruction {
    Payment(Box<PaymentInstruction>),
    Refund(RefundInstruction),
}

/// A payment to be made.
#[derive(Debug, Clone)]
pub(crate) struct PaymentInstruction {
    /// Our `external_reference`.
    pub(crate) reference: String,
    /// The row of the order that it pays.
    pub(crate) order_id: Option<i64>,
    /// Its payer is blank once the attempt has ended or was kept long enough: the data is then erased here.
    pub(crate) intent: Intent,
    pub(crate) terms: Terms,
    /// The key of the call that makes the card's token.
    pub(crate) token_key: Option<UpstreamKey>,
    pub(crate) card_token: Option<CardToken>,
}

/// The settings that enter a payment's call, as they were when it was first asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) notification_url: Option<String>,
    /// The provider's identifier of the boleto method; for a boleto.
    pub(crate) boleto_method: Option<String>,
    /// When a pix or a boleto shall lapse; the provider decides where there is none.
    pub(crate) date_of_expiration: Option<Timestamp>,
}

/// A refund to be made.
#[derive(Debug, Clone)]
pub(crate) struct RefundInstruction {
    /// The payment's row.
    pub(crate) payment: i64,
    /// The provider's id of the payment.
    pub(crate) payment_id: String,
    pub(crate) amount: Money,
    /// What the provider made of it, once that is known.
    pub(crate) made: Option<MadeRefund>,
}

/// A refund as the provider made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MadeRefund {
    pub(crate) id: String,
    /// The provider's word on it.
    pub(crate) status: String,
    pub(crate) date_created: String,
}

/// An attempt to be stored.
#[derive(Debug, Clone)]
pub(crate) struct NewAttempt {
    pub(crate) key: Option<IdempotencyKey>,
    pub(crate) fingerprint: Option<String>,
    pub(crate) step: AttemptStep,
    pub(crate) instruction: Instruction,
    /// The key of the call that moves the money.
    pub(crate) upstream_key: UpstreamKey,
    pub(crate) lease: Lease,
    pub(crate) now: Timestamp,
}

/// A stored attempt.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) id: i64,
    pub(crate) fingerprint: Option<String>,
    pub(crate) step: AttemptStep,
    pub(crate) instruction: Instruction,
    pub(crate) upstream_key: UpstreamKey,
    /// The row of the payment that was made, or that the refund is of.
    pub(crate) payment: Option<i64>,
    pub(crate) leased_until: Option<Timestamp>,
    pub(crate) check_at: Option<Timestamp>,
    pub(crate) checks: i64,
    /// When the call that moves the money was last about to be sent.
    pub(crate) sent_at: Option<Timestamp>,
    pub(crate) last_answer: Option<String>,
    pub(crate) response_status: Option<i64>,
    pub(crate) response: Option<String>,
    pub(crate) created_at: Timestamp,
    /// When its outcome became known.
    pub(crate) finished_at: Option<Timestamp>,
}

impl Instruction {
    pub(crate) const fn amount(&self) -> Money {
        match self {
            Self::Payment(instruction) => instruction.intent.amount,
            Self::Refund(instruction) => instruction.amount,
        }
    }

    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Payment(_) => "payment",
            Self::Refund(_) => "refund",
        }
    }

    /// The name by which an operator finds it: our reference, or the provider's id of the payment that a refund is of.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Payment(instruction) => &instruction.reference,
            Self::Refund(instruction) => &instruction.payment_id,
        }
    }
}

impl Attempt {
    /// An attempt as it was just stored in the row `id`.
    pub(crate) fn fresh(id: i64, new: &NewAttempt) -> Self {
        let payment = match &new.instruction {
            Instruction::Payment(_) => None,
            Instruction::Refund(instruction) => Some(instruction.payment),
        };
        Self {
            id,
            fingerprint: new.fingerprint.clone(),
            step: new.step,
            instruction: new.instruction.clone(),
            upstream_key: new.upstream_key,
            payment,
            leased_until: Some(new.lease.until),
            check_at: Some(new.lease.until),
            checks: 0,
            sent_at: None,
            last_answer: None,
            response_status: None,
            response: None,
            created_at: new.now,
            finished_at: None,
        }
    }

    pub(crate) fn payment_instruction(&self) -> Result<&PaymentInstruction, Error> {
        match &self.instruction {
            Instruction::Payment(instruction) => Ok(instruction),
            Instruction::Refund(_) => Err(Error::other("an attempt is a refund, not a payment")),
        }
    }

    pub(crate) fn refund_instruction(&self) -> Result<&RefundInstruction, Error> {
        match &self.instruction {
            Instruction::Refund(instruction) => Ok(instruction),
            Instruction::Payment(_) => Err(Error::other("an attempt is a payment, not a refund")),
        }
    }
}
