//! Refunds of ours that a payment shows as made: those that were thought not to be, and those of unknown outcome.

use super::RefundError;
use super::answer::Answer;
use super::matching::find_late;
use crate::app::State;
use crate::payments::store::{self, Attempt, AttemptStep, Source};
use crate::provider::{ProviderPayment, ProviderRefund};

/// Records the refunds of ours that the provider tells of with a payment, whatever was thought of them before.
///
/// # Errors
/// When the database fails.
pub(crate) async fn correct(
    state: &State,
    payment: &ProviderPayment,
    source: Source,
) -> Result<(), db::Error> {
    if payment.refunds.is_empty() {
        return Ok(());
    }
    while let Some((attempt, made)) = next(state, payment).await? {
        if !record(state, &attempt, &made, source).await? {
            break;
        }
    }
    Ok(())
}

/// The oldest of our refunds that the payment shows as made and we do not.
async fn next(
    state: &State,
    payment: &ProviderPayment,
) -> Result<Option<(Attempt, ProviderRefund)>, db::Error> {
    let id = payment.id.clone();
    let find = async move |conn: &mut db::Conn| match store::find_stored(conn, &id).await? {
        Some(stored) => store::refunds_of(conn, stored.row).await,
        None => Ok(Vec::new()),
    };
    let refunds = state.db.read::<_, db::Error, _>(find).await?;
    let now = state.clock.now();
    let mut late = refunds.iter().filter_map(|attempt| {
        let made = find_late(attempt, &refunds, &payment.refunds, now)?;
        Some((attempt.clone(), made.clone()))
    });
    Ok(late.next())
}

/// False when another refund of ours has it.
async fn record(
    state: &State,
    attempt: &Attempt,
    made: &ProviderRefund,
    source: Source,
) -> Result<bool, db::Error> {
    let instruction = attempt.refund_instruction()?;
    let is_ended = attempt.step != AttemptStep::Sending;
    let corrects = is_ended.then_some((attempt.step, source));
    let stored = match Answer::new(instruction, made, state.clock.now()) {
        Ok(answer) => answer.store(state, attempt, corrects).await,
        Err(error) => Err(error.into()),
    };
    match stored {
        Ok(Some(answer)) if answer.refund.id == made.id => {}
        Ok(_) => return Ok(false),
        Err(RefundError::Database(error)) => return Err(error),
        Err(error) => return Err(db::Error::other(error.to_string())),
    }
    if is_ended {
        tracing::warn!(
            payment = instruction.payment_id,
            refund = made.id,
            amount = %instruction.amount,
            thought = attempt.step.as_str(),
            "the provider made a refund that was thought not to have been made; it is recorded now: \
             whoever asked for it may have been told that nothing was given back"
        );
        state.metrics.attempt_corrected();
    }
    Ok(true)
}
