//! A payment that the provider reports otherwise than in the response to its creation. It is a
//! stored one, one whose response was lost, or not ours.

use super::model::Attempt;
use super::refund::record;
use super::settle::{CompletedAttempt, ReportOutcome, SettleError, settle_payment};
use super::store;
use crate::payments::Source;
use crate::provider::ProviderPayment;
use crate::state::State;

/// The result for such a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Adoption {
    /// It is stored; what became of the report.
    Recorded(ReportOutcome),
    /// It completes an attempt whose answer was lost.
    Completed,
    /// Its creation is still at work.
    Busy,
    /// It contradicts the attempt that it belongs to, which stays open.
    Contradiction(&'static str),
}

/// Records what the provider reports of a payment, or completes the attempt that it belongs to.
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
        Some(attempt) => complete(state, &attempt, payment, source).await,
        None => Ok(Adoption::Recorded(ReportOutcome::NotOurs)),
    }
}

/// Completes an attempt with the payment that the provider made for it, whatever end was recorded
/// for it before.
pub(crate) async fn complete(
    state: &State,
    attempt: &Attempt,
    payment: &ProviderPayment,
    source: Source,
) -> Result<Adoption, db::Error> {
    let completed = CompletedAttempt {
        attempt: attempt.id,
        instruction: attempt.payment_instruction()?.clone(),
        corrects: attempt.step.came_to_nothing().then_some(attempt.step),
    };
    match settle_payment(state, completed, payment, source).await {
        Ok(_) => Ok(Adoption::Completed),
        Err(SettleError::Contradiction(reason)) => Ok(Adoption::Contradiction(reason)),
        // An unknown status. The payment is read again later.
        Err(SettleError::Status(_) | SettleError::Shape(_)) => Ok(Adoption::Busy),
        Err(SettleError::Database(error)) => Err(error),
    }
}
