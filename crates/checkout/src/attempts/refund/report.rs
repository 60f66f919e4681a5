//! Records a report of a stored payment, with the refunds that it lists. A listed refund may belong
//! to an attempt of unknown outcome, or to one that was recorded as ended without a refund.

use super::RefundError;
use super::completed::CompletedRefund;
use super::matching::find_late;
use crate::attempts::model::Attempt;
use crate::attempts::settle::{ReportOutcome, settle_report};
use crate::attempts::store;
use crate::payments::store::find_stored;
use crate::payments::{AttemptStep, Source, StatusReport};
use crate::provider::{ProviderPayment, ProviderRefund};
use crate::state::State;

/// Records what the provider reports of a stored payment and of its refunds.
pub(crate) async fn record(
    state: &State,
    payment: &ProviderPayment,
    source: Source,
) -> Result<ReportOutcome, db::Error> {
    let report = StatusReport::from(payment);
    let recorded = settle_report(state, &payment.id, report, source).await?;
    if recorded != ReportOutcome::NotOurs {
        correct(state, payment, source).await?;
    }
    Ok(recorded)
}

/// Records those refunds of ours that the provider lists with a payment. This also corrects
/// attempts that were recorded as ended without a refund.
async fn correct(
    state: &State,
    payment: &ProviderPayment,
    source: Source,
) -> Result<(), db::Error> {
    if payment.refunds.is_empty() {
        return Ok(());
    }
    while let Some((attempt, made)) = next(state, payment).await? {
        if !complete(state, &attempt, &made, source).await? {
            break;
        }
    }
    Ok(())
}

/// Our oldest refund that the provider lists and that is not recorded here.
async fn next(
    state: &State,
    payment: &ProviderPayment,
) -> Result<Option<(Attempt, ProviderRefund)>, db::Error> {
    let id = payment.id.clone();
    let find = async move |conn: &mut db::Conn| match find_stored(conn, &id).await? {
        Some(stored) => store::refunds_of(conn, stored.row).await,
        None => Ok(Vec::new()),
    };
    let refunds = state.db.read::<_, db::Error, _>(find).await?;
    let now = state.clock.now();
    let mut late = refunds.iter().filter_map(|attempt| {
        let made = find_late(attempt, &refunds, &payment.refunds, now)?;
        Some((attempt.clone(), made))
    });
    Ok(late.next())
}

/// Returns false if the listed refund belongs to another attempt.
async fn complete(
    state: &State,
    attempt: &Attempt,
    made: &ProviderRefund,
    source: Source,
) -> Result<bool, db::Error> {
    let instruction = attempt.refund_instruction()?;
    let is_ended = attempt.step != AttemptStep::Sending;
    let corrects = is_ended.then_some((attempt.step, source));
    let stored = match CompletedRefund::new(instruction, made, state.clock.now()) {
        Ok(completed) => completed.store(state, attempt, corrects).await,
        Err(error) => Err(error.into()),
    };
    match stored {
        Ok(Some(completed)) if completed.refund.id == made.id => {}
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
            "refunds: the provider made a refund that was recorded as not made; it is recorded now. \
             Its caller may have been told that nothing was refunded: check for a second refund"
        );
        state.metrics.corrected.inc();
    }
    Ok(true)
}
