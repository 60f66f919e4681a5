//! Refunds: of all that is left of a payment, or of a part. The intent is stored before the provider is called, so
//! that a repetition never refunds twice.

mod answer;
mod calls;
mod claim;
mod correct;
mod matching;

use db::{Money, Timestamp};

use super::attempt::{Run, give_up, give_up_unread};
use super::idempotency::IdempotencyKey;
use super::store::{Attempt, AttemptStep, RefundInstruction};
use crate::app::State;
use crate::provider::{Failure, ProviderRefund};
use answer::Answer;
use calls::Stop;
use claim::RefundClaim;

pub(crate) use answer::{Checked, check_refund};
pub(crate) use correct::correct;

/// The answer to a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refunded {
    /// The response's JSON.
    pub body: String,
    /// Was it answered before?
    pub replayed: bool,
}

/// Why nothing is given back.
#[derive(Debug, thiserror::Error)]
pub enum RefundError {
    /// There is no such payment.
    #[error("there is no such payment")]
    NotFound,
    /// The payment is not approved.
    #[error("the payment's state does not allow a refund")]
    State,
    /// More is asked for than is left.
    #[error("more is asked for than is left")]
    Amount,
    /// Another request with the same idempotency key is at work.
    #[error("a request with this idempotency key is still running")]
    Busy,
    /// The idempotency key was used for another request.
    #[error("the idempotency key was used for another request")]
    Mismatch,
    /// The provider failed or refused: nothing was given back.
    #[error(transparent)]
    Provider(Failure),
    /// It may have been given back.
    #[error("the refund's outcome is unknown: {0}")]
    Unknown(#[source] Failure),
    /// The refusal that was answered before for the same key.
    #[error("refused before with {status}: {detail}")]
    Repeated {
        /// The status of that answer.
        status: u16,
        /// Its detail.
        detail: String,
    },
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// The answer could not be written.
    #[error("a refund could not be written as JSON")]
    Shape(#[from] serde_json::Error),
}

/// A run of a refund's attempt.
struct Work<'a> {
    state: &'a State,
    run: Run,
    instruction: RefundInstruction,
}

/// Gives back `amount`, or all that is left, to a caller who has waited since `asked_at`.
///
/// # Errors
/// See [`RefundError`].
pub async fn refund(
    state: &State,
    id: &str,
    amount: Option<Money>,
    key: Option<IdempotencyKey>,
    asked_at: Timestamp,
) -> Result<Refunded, RefundError> {
    let mut work = match claim::claim(state, id, amount, key, asked_at).await? {
        RefundClaim::Run(work) => *work,
        RefundClaim::Ended(attempt) => return replay(*attempt),
    };
    match calls::give_back(&mut work).await {
        Ok(made) => finish(&work, &made).await,
        Err(Stop::Failed { failure, stage }) => {
            let end = give_up(state, &work.run, stage, failure).await?;
            Err(if end.is_unknown {
                RefundError::Unknown(end.failure)
            } else {
                RefundError::Provider(end.failure)
            })
        }
        Err(Stop::Database(error)) => Err(error.into()),
    }
}

async fn finish(work: &Work<'_>, made: &ProviderRefund) -> Result<Refunded, RefundError> {
    let answer = Answer::new(&work.instruction, made, work.state.clock.now())?;
    let stored = answer.store(work.state, &work.run.attempt, None).await?;
    let Some(answer) = stored else {
        let reason = "its id is another refund's";
        give_up_unread(work.state, &work.run, reason).await?;
        return Err(RefundError::Unknown(Failure::contradiction(reason)));
    };
    if !answer::is_refused(&answer.refund.status) {
        calls::record(work, &answer).await?;
    }
    Ok(Refunded {
        body: answer.body,
        replayed: false,
    })
}

fn replay(refund: Attempt) -> Result<Refunded, RefundError> {
    let response = refund.response.unwrap_or_default();
    if refund.step == AttemptStep::Finished {
        return Ok(Refunded {
            body: response,
            replayed: true,
        });
    }
    let status = refund
        .response_status
        .and_then(|status| u16::try_from(status).ok())
        .unwrap_or(502);
    Err(RefundError::Repeated {
        status,
        detail: response,
    })
}
