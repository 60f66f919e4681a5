//! Handles a report of a payment that did not come in the response to its creation (from a
//! notification or the reconciler). The payment is either stored already, or belongs to an attempt
//! whose response was lost, or was not created by this service.

use super::model::Attempt;
use super::refund::record;
use super::settle::{ReportOutcome, SettleError, settle_payment};
use super::store;
use crate::payments::Source;
use crate::provider::ProviderPayment;
use crate::state::State;

/// Records the report of a stored payment, or completes the attempt that the payment belongs to.
pub(crate) async fn adopt_or_record(
    state: &State,
    payment: &ProviderPayment,
    source: Source,
) -> Result<ReportOutcome, db::Error> {
    let recorded = record(state, payment, source).await?;
    if recorded != ReportOutcome::NotOurs {
        return Ok(recorded);
    }
    let Some(reference) = payment.external_reference.clone() else {
        return Ok(recorded);
    };
    let find =
        async move |conn: &mut db::Conn| store::find_attempt_by_reference(conn, &reference).await;
    match state.db.read(find).await? {
        Some(attempt) if attempt.is_leased(state.clock.now()) => Ok(ReportOutcome::Busy),
        Some(attempt) => complete(state, &attempt, payment, source).await,
        None => Ok(recorded),
    }
}

/// Completes an attempt with the payment that the provider made for it. This also corrects an
/// attempt that was recorded as ended without a payment.
pub(crate) async fn complete(
    state: &State,
    attempt: &Attempt,
    payment: &ProviderPayment,
    source: Source,
) -> Result<ReportOutcome, db::Error> {
    match settle_payment(state, attempt, payment, source).await {
        Ok(_) => Ok(ReportOutcome::Completed),
        Err(SettleError::Contradiction(reason)) => Ok(ReportOutcome::Contradiction(reason)),
        // An unknown status. The payment is read again later.
        Err(SettleError::Status(_)) => Ok(ReportOutcome::Busy),
        Err(SettleError::Database(error)) => Err(error),
    }
}
