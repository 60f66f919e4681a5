//! Refunds of the whole remaining amount of a payment, or of a part. The intent is stored before
//! the provider is called, so that a retry never refunds twice.

mod calls;
mod claim;
mod completed;
mod listed;
mod matching;

use db::{Money, Timestamp};

use super::claim::{Claim, Run};
use super::end::{RunError, end_stopped, give_up_unread};
use super::model::{Attempt, RefundInstruction};
use crate::idempotency::IdempotencyKey;
use crate::payments::AttemptStep;
use crate::provider::{Failure, ProviderRefund};
use crate::state::State;

pub(crate) use listed::{check_refund, record};

/// The response to a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefundResponse {
    pub(crate) body: String,
    /// Whether the response was sent before for the same idempotency key.
    pub(crate) replayed: bool,
    /// The provider's status of the refund.
    status: String,
}

impl RefundResponse {
    /// Whether the provider has not finished the refund. It may still refuse.
    pub(crate) fn is_open(&self) -> bool {
        is_open(&self.status)
    }

    /// Whether the provider refused the refund.
    pub(crate) fn is_refused(&self) -> bool {
        is_refused(&self.status)
    }
}

/// Why a payment is not refunded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RefundError {
    #[error("there is no such payment")]
    NotFound,
    /// The payment is not approved.
    #[error("the payment's state does not allow a refund")]
    State,
    /// The amount exceeds the amount that can still be refunded.
    #[error("more is asked for than is left")]
    Amount,
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Database(#[from] db::Error),
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
        Claim::Busy => return Err(RunError::Busy.into()),
        Claim::Mismatch => return Err(RunError::Mismatch.into()),
    };
    let mut task = RefundTask {
        state,
        instruction: run.attempt.refund_instruction()?.clone(),
        run,
    };
    match calls::make(&mut task).await {
        Ok(made) => finish(&task, &made).await,
        Err(stop) => Err(end_stopped(state, &task.run, stop).await?.into()),
    }
}

async fn finish(
    task: &RefundTask<'_>,
    made: &ProviderRefund,
) -> Result<RefundResponse, RefundError> {
    let stored = completed::complete(task.state, &task.run.attempt, made, None).await?;
    let Some(completed) = stored else {
        let reason = "its id is another refund's";
        give_up_unread(task.state, &task.run, reason).await?;
        return Err(RunError::unknown(Failure::contradiction(reason)).into());
    };
    if !is_refused(&completed.refund.status) {
        calls::record(task, &completed).await?;
    }
    Ok(RefundResponse {
        body: completed.body,
        replayed: false,
        status: completed.refund.status,
    })
}

/// The stored response of an attempt that has ended.
fn replay(refund: Attempt) -> Result<RefundResponse, RefundError> {
    if refund.step == AttemptStep::Finished {
        let made = refund.refund_made().map(|made| made.status.clone());
        return Ok(RefundResponse {
            body: refund.response.unwrap_or_default(),
            replayed: true,
            status: made.unwrap_or_default(),
        });
    }
    Err(RunError::repeated(refund).into())
}

/// The status of a refund whose money went back.
const APPROVED: &str = "approved";

/// Whether the provider has not finished a refund of this status. It may still refuse, which frees the amount.
fn is_open(status: &str) -> bool {
    status != APPROVED && !is_refused(status)
}

/// Whether no money went back.
fn is_refused(status: &str) -> bool {
    matches!(status, "rejected" | "cancelled")
}
