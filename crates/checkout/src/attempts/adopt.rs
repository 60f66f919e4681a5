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

/// The result of handling such a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Adoption {
    /// The payment is stored already. The value is the result of recording the report.
    Recorded(ReportOutcome),
    /// The report completed an attempt whose response was lost.
    Completed,
    /// The attempt's lease is still held, or the payment's status is unknown. The payment is read
    /// again later.
    Busy,
    /// The report contradicts the attempt that it belongs to, for this reason. The attempt stays
    /// open.
    Contradiction(&'static str),
}

/// Records the report of a stored payment, or completes the attempt that the payment belongs to.
pub(crate) async fn adopt_or_record(
    state: &State,
    payment: &ProviderPayment,
    source: Source,
) -> Result<Adoption, db::Error> {
    let recorded = record(state, payment, source).await?;
    if recorded != ReportOutcome::NotOurs {
        return Ok(Adoption::Recorded(recorded));
    }
    let Some(reference) = payment.external_reference.clone() else {
        return Ok(Adoption::Recorded(ReportOutcome::NotOurs));
    };
    let find =
        async move |conn: &mut db::Conn| store::find_attempt_by_reference(conn, &reference).await;
    match state.db.read(find).await? {
        Some(attempt) if attempt.is_leased(state.clock.now()) => Ok(Adoption::Busy),
        Some(attempt) => complete(state, attempt, payment, source).await,
        None => Ok(Adoption::Recorded(ReportOutcome::NotOurs)),
    }
}

/// Completes an attempt with the payment that the provider made for it. This also corrects an
/// attempt that was recorded as ended without a payment.
pub(crate) async fn complete(
    state: &State,
    attempt: Attempt,
    payment: &ProviderPayment,
    source: Source,
) -> Result<Adoption, db::Error> {
    match settle_payment(state, attempt, payment, source).await {
        Ok(_) => Ok(Adoption::Completed),
        Err(SettleError::Contradiction(reason)) => Ok(Adoption::Contradiction(reason)),
        // An unknown status. The payment is read again later.
        Err(SettleError::Status(_) | SettleError::Shape(_)) => Ok(Adoption::Busy),
        Err(SettleError::Database(error)) => Err(error),
    }
}
