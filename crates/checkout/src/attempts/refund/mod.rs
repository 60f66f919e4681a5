//! Refunds of the whole remaining amount of a payment, or of a part. The intent is stored before
//! the provider is called, so that a retry never refunds twice.

mod calls;
mod check;
mod claim;
mod completed;
mod matching;
mod report;
mod status;

use db::{Money, Timestamp};

use super::claim::{Claim, Run};
use super::end::{Stop, give_up, give_up_unread};
use super::model::{Attempt, RefundInstruction};
use crate::idempotency::IdempotencyKey;
use crate::payments::AttemptStep;
use crate::provider::{Failure, ProviderRefund};
use crate::state::State;
use completed::CompletedRefund;

pub(crate) use check::{RefundCheck, check_refund};
pub(crate) use report::record;

/// The response to a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefundResponse {
    /// The JSON body.
    pub(crate) body: String,
    /// Whether the response was sent before for the same idempotency key.
    pub(crate) replayed: bool,
}

/// Why a payment is not refunded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RefundError {
    /// There is no such payment.
    #[error("there is no such payment")]
    NotFound,
    /// The payment is not approved.
    #[error("the payment's state does not allow a refund")]
    State,
    /// The amount exceeds the amount that can still be refunded.
    #[error("more is asked for than is left")]
    Amount,
    /// Another request with the same idempotency key is at work.
    #[error("a request with this idempotency key is still running")]
    Busy,
    /// The idempotency key was used for another request.
    #[error("the idempotency key was used for another request")]
    Mismatch,
    /// The provider failed or refused: nothing was refunded.
    #[error(transparent)]
    Provider(Failure),
    /// The outcome is unknown. The refund may have been made.
    #[error("the refund's outcome is unknown: {0}")]
    Unknown(#[source] Failure),
    /// The stored refusal of an earlier request with the same idempotency key.
    #[error("refused before with {status}: {detail}")]
    Repeated {
        /// Its HTTP status.
        status: u16,
        /// Its `detail` text.
        detail: String,
    },
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// The response could not be serialised.
    #[error("a refund could not be written as JSON")]
    Shape(#[from] serde_json::Error),
}

/// A run of a refund's attempt.
struct RefundTask<'a> {
    state: &'a State,
    run: Run,
    instruction: RefundInstruction,
}

/// Refunds `amount`, or the remaining amount, for a caller who has waited since `requested_at`.
pub(crate) async fn refund(
    state: &State,
    id: &str,
    amount: Option<Money>,
    key: Option<IdempotencyKey>,
    requested_at: Timestamp,
) -> Result<RefundResponse, RefundError> {
    let run = match claim::claim(state, id, amount, key, requested_at).await? {
        Claim::Run(run) => *run,
        Claim::Ended(attempt) => return replay(*attempt),
        Claim::Busy => return Err(RefundError::Busy),
        Claim::Mismatch => return Err(RefundError::Mismatch),
    };
    let mut task = RefundTask {
        state,
        instruction: run.attempt.refund_instruction()?.clone(),
        run,
    };
    match calls::make(&mut task).await {
        Ok(made) => finish(&task, &made).await,
        Err(Stop::Failed { failure, stage }) => {
            let end = give_up(state, &task.run, stage, failure).await?;
            Err(if end.is_unknown {
                RefundError::Unknown(end.failure)
            } else {
                RefundError::Provider(end.failure)
            })
        }
        Err(Stop::LeaseLost) => Err(RefundError::Busy),
        Err(Stop::Database(error)) => Err(error.into()),
    }
}

async fn finish(
    task: &RefundTask<'_>,
    made: &ProviderRefund,
) -> Result<RefundResponse, RefundError> {
    let completed = CompletedRefund::new(&task.instruction, made, task.state.clock.now())?;
    let stored = completed.store(task.state, &task.run.attempt, None).await?;
    let Some(completed) = stored else {
        let reason = "its id is another refund's";
        give_up_unread(task.state, &task.run, reason).await?;
        return Err(RefundError::Unknown(Failure::contradiction(reason)));
    };
    if !status::is_refused(&completed.refund.status) {
        calls::record(task, &completed).await?;
    }
    Ok(RefundResponse {
        body: completed.body,
        replayed: false,
    })
}

/// The stored response of an attempt that has ended.
fn replay(refund: Attempt) -> Result<RefundResponse, RefundError> {
    if refund.step == AttemptStep::Finished {
        return Ok(RefundResponse {
            body: refund.response.unwrap_or_default(),
            replayed: true,
        });
    }
    let (status, detail) = refund.into_refusal();
    Err(RefundError::Repeated { status, detail })
}
