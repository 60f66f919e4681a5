//! Cancelling a payment that has not been paid.

use super::settle::settle_report;
use crate::payments::{self, Payment, PaymentState, Source, StatusReport};
use crate::provider::{Failure, Purpose};
use crate::state::State;

/// Why a payment is not cancelled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CancelError {
    #[error("there is no such payment")]
    NotFound,
    #[error("the payment's state does not allow its cancellation")]
    State,
    #[error(transparent)]
    Provider(#[from] Failure),
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Cancels the payment at the provider and records the response, with its order's cancellation if
/// the source is one. The calls count against the quota of `purpose`. Cancelling a cancelled payment
/// succeeds and changes nothing.
pub(crate) async fn cancel(
    state: &State,
    id: &str,
    purpose: Purpose,
    source: Source,
) -> Result<Payment, CancelError> {
    let payment = payments::find(&state.db, id)
        .await?
        .ok_or(CancelError::NotFound)?;
    match payment.state {
        PaymentState::Cancelled => return Ok(payment),
        PaymentState::Pending => {}
        _ => return Err(CancelError::State),
    }
    state.provider.reserve(1, purpose).await?;
    cancel_pending(state, id, purpose, source).await
}

/// Same as [`cancel`], for a payment that was pending when its call was reserved.
pub(super) async fn cancel_pending(
    state: &State,
    id: &str,
    purpose: Purpose,
    source: Source,
) -> Result<Payment, CancelError> {
    let report = match state.provider.cancel(id).await {
        Ok(answer) => StatusReport::from(&answer),
        Err(failure) if failure.is_final() => read_back(state, id, purpose, failure).await?,
        Err(failure) => return Err(failure.into()),
    };
    settle_report(state, id, report, source).await?;
    let payment = payments::find(&state.db, id)
        .await?
        .ok_or(CancelError::NotFound)?;
    if payment.state == PaymentState::Cancelled {
        Ok(payment)
    } else {
        Err(CancelError::State)
    }
}

/// Reads the payment after the provider refused to cancel it: the payment may no longer be pending.
/// Returns the refusal if the payment still is.
async fn read_back(
    state: &State,
    id: &str,
    purpose: Purpose,
    refused: Failure,
) -> Result<StatusReport, CancelError> {
    state.provider.reserve(1, purpose).await?;
    let payment = state.provider.read(id).await?;
    if PaymentState::from_provider(&payment.status) == Some(PaymentState::Pending) {
        return Err(refused.into());
    }
    Ok(StatusReport::from(&payment))
}
