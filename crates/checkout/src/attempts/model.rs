//! An attempt to make a payment or a refund: its instruction, its lease, and its result. Pure.

use db::{Error, Money, Timestamp};
use uuid::Uuid;

use crate::idempotency::IdempotencyKey;
use crate::payments::{AttemptStep, Intent};
use crate::provider::CardToken;

/// The exclusive right to run an attempt until a time. Other replicas may acquire the attempt once
/// the holder's replica is dead, and no sooner.
#[derive(Debug, Clone)]
pub(crate) struct Lease {
    /// The id of the run that holds the lease.
    pub(crate) id: String,
    pub(crate) until: Timestamp,
}

/// What an attempt creates.
#[derive(Debug, Clone)]
pub(crate) enum Instruction {
    Payment(Box<PaymentInstruction>),
    Refund(RefundInstruction),
}

/// A payment to create.
#[derive(Debug, Clone)]
pub(crate) struct PaymentInstruction {
    /// Our `external_reference`.
    pub(crate) reference: String,
    /// The row of the order that it pays.
    pub(crate) order_id: Option<i64>,
    /// The payer is blank in the database, and so here, once the attempt has ended or its retention
    /// is over.
    pub(crate) intent: Intent,
    pub(crate) terms: Terms,
    /// The idempotency key of the call that creates the card token.
    pub(crate) token_key: Option<Uuid>,
    pub(crate) card_token: Option<CardToken>,
}

/// The settings that enter the payment's call, as of the first request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) notification_url: Option<String>,
    /// The provider's identifier of the boleto method. Present for a boleto only.
    pub(crate) boleto_method: Option<String>,
    /// When a pix or a boleto expires. `None` leaves the time to the provider.
    pub(crate) date_of_expiration: Option<Timestamp>,
}

/// A refund to create.
#[derive(Debug, Clone)]
pub(crate) struct RefundInstruction {
    /// The payment's row.
    pub(crate) payment: i64,
    /// The provider's id of the payment.
    pub(crate) payment_id: String,
    pub(crate) amount: Money,
    /// The provider's refund, once known.
    pub(crate) made: Option<RefundRecord>,
}

/// A refund as the provider made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefundRecord {
    pub(crate) id: String,
    /// The provider's status of the refund.
    pub(crate) status: String,
    pub(crate) date_created: String,
}

/// What payments and refunds have in common when they claim an attempt.
#[derive(Debug, Clone)]
pub(crate) struct NewRun {
    pub(crate) key: Option<IdempotencyKey>,
    pub(crate) fingerprint: Option<String>,
    /// The idempotency key of the call that moves the money.
    pub(crate) upstream_key: Uuid,
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
    pub(crate) upstream_key: Uuid,
    /// The row of the payment that was created, or that is refunded.
    pub(crate) payment: Option<i64>,
    pub(crate) leased_until: Option<Timestamp>,
    pub(crate) check_at: Option<Timestamp>,
    pub(crate) checks: i64,
    /// When the call that moves the money was last sent. It is stored just before.
    pub(crate) sent_at: Option<Timestamp>,
    pub(crate) last_answer: Option<String>,
    pub(crate) response_status: Option<i64>,
    pub(crate) response: Option<String>,
    pub(crate) created_at: Timestamp,
    /// When the outcome became known.
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

    /// The step in which a run begins that sends the first call. The first call of a card payment
    /// creates a token and moves no money.
    pub(crate) fn first_step(&self) -> AttemptStep {
        match self {
            Self::Payment(payment)
                if payment.intent.card.is_some() && payment.card_token.is_none() =>
            {
                AttemptStep::Started
            }
            Self::Payment(_) | Self::Refund(_) => AttemptStep::Sending,
        }
    }

    /// The identifier for logs and operators: our reference, or the provider's payment id of a
    /// refund.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Payment(instruction) => &instruction.reference,
            Self::Refund(instruction) => &instruction.payment_id,
        }
    }
}

impl Attempt {
    /// The attempt that `run` has just inserted with the row id `id`.
    pub(crate) fn fresh(id: i64, run: &NewRun, instruction: &Instruction) -> Self {
        let payment = match instruction {
            Instruction::Payment(_) => None,
            Instruction::Refund(refund) => Some(refund.payment),
        };
        Self {
            id,
            fingerprint: run.fingerprint.clone(),
            step: instruction.first_step(),
            instruction: instruction.clone(),
            upstream_key: run.upstream_key,
            payment,
            leased_until: Some(run.lease.until),
            check_at: Some(run.lease.until),
            checks: 0,
            sent_at: None,
            last_answer: None,
            response_status: None,
            response: None,
            created_at: run.now,
            finished_at: None,
        }
    }

    /// Whether a run holds a lease that has not expired.
    pub(crate) fn is_leased(&self, now: Timestamp) -> bool {
        self.leased_until.is_some_and(|until| until > now)
    }

    pub(crate) fn payment_instruction(&self) -> Result<&PaymentInstruction, Error> {
        match &self.instruction {
            Instruction::Payment(instruction) => Ok(instruction),
            Instruction::Refund(_) => Err(Error::other("an attempt is a refund, not a payment")),
        }
    }

    /// The refund that the provider made, once known.
    pub(crate) fn refund_made(&self) -> Option<&RefundRecord> {
        match &self.instruction {
            Instruction::Refund(instruction) => instruction.made.as_ref(),
            Instruction::Payment(_) => None,
        }
    }

    pub(crate) fn refund_instruction(&self) -> Result<&RefundInstruction, Error> {
        match &self.instruction {
            Instruction::Refund(instruction) => Ok(instruction),
            Instruction::Payment(_) => Err(Error::other("an attempt is a payment, not a refund")),
        }
    }
}
