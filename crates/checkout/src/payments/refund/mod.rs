//! Refunds: of all that is left of a payment, or of a part. The intent is stored before the provider is called, so
//! that a repetition never refunds twice.

mod answer;
mod calls;
mod claim;

use db::{Money, Tx};

use super::idempotency::IdempotencyKey;
use super::store::{self, AttemptStep, Refund};
use crate::app::State;
use crate::provider::{Failure, ProviderRefund};
use answer::Answer;
use claim::{Claim, Run};

pub(crate) use answer::{follow_refund, match_refund};

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
    /// The provider failed or refused.
    #[error(transparent)]
    Provider(#[from] Failure),
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

/// Gives back `amount`, or all that is left.
///
/// # Errors
/// See [`RefundError`].
pub async fn refund(
    state: &State,
    id: &str,
    amount: Option<Money>,
    key: Option<IdempotencyKey>,
) -> Result<Refunded, RefundError> {
    let run = match claim::claim(state, id, amount, key).await? {
        Claim::Run(run) => run,
        Claim::Ended(refund) => return replay(refund),
    };
    match calls::give_back(state, id, &run).await {
        Ok(made) => finish(state, id, &run, &made).await,
        Err(failure) => {
            give_up(state, &run, &failure).await?;
            Err(failure.into())
        }
    }
}

async fn finish(
    state: &State,
    id: &str,
    run: &Run,
    made: &ProviderRefund,
) -> Result<Refunded, RefundError> {
    let answer = Answer::new(id, run.amount, made, state.clock.now())?;
    let (row, stored, now) = (run.id, answer.clone(), state.clock.now());
    state
        .db
        .write(async move |tx| stored.store(tx, row, now).await)
        .await?;
    if !store::is_refused(&answer.status) {
        calls::record(state, id, run, &answer).await?;
    }
    Ok(Refunded {
        body: answer.body,
        replayed: false,
    })
}

async fn give_up(state: &State, run: &Run, failure: &Failure) -> Result<(), db::Error> {
    let (row, lease) = (run.id, run.lease.clone());
    if failure.is_final() {
        let (status, detail) = failure.answer();
        let status = i64::from(status.as_u16());
        return state
            .db
            .write(async move |tx| {
                let answer = (status, Some(detail.as_str()));
                store::finish_refund(tx, row, AttemptStep::Refused, None, answer, None).await
            })
            .await
            .map(drop);
    }
    let may_be_made = run.was_sent || failure.is_unknown();
    let step = if may_be_made {
        AttemptStep::Sending
    } else {
        AttemptStep::Started
    };
    let check_at = may_be_made.then(|| state.clock.now() + crate::reconcile::FIRST_WAIT);
    let release =
        async move |tx: &mut Tx| store::release_refund(tx, row, &lease, step, check_at).await;
    state.db.write(release).await?;
    state.wake_reconciler();
    Ok(())
}

fn replay(refund: Refund) -> Result<Refunded, RefundError> {
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
