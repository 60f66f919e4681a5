//! The calls to the provider for a refund, in the order that excludes a double refund.

use db::Money;

use super::completed::CompletedRefund;
use super::listed;
use super::matching::Match;
use super::{APPROVED, RefundError, RefundTask};
use crate::attempts::end::Stop;
use crate::attempts::finality::Stage;
use crate::attempts::model::Attempt;
use crate::attempts::settle::settle_report;
use crate::attempts::store;
use crate::payments::{self, Payment, Source, StatusReport};
use crate::provider::{Failure, ProviderRefund, Purpose, RefundAnswer};

/// Makes the calls of one run. The provider's list is searched for an earlier refund before
/// anything is sent again.
pub(super) async fn make(task: &mut RefundTask<'_>) -> Result<ProviderRefund, Stop> {
    let must_read_first = task.run.sent_at.is_some();
    // One call each for the refund, the payment after it, and the list before it.
    reserve(task, 2 + u32::from(must_read_first)).await?;
    if must_read_first && let Some(made) = find_earlier_refund(task).await? {
        return Ok(made);
    }
    task.run
        .check_lease(&task.state.clock)
        .map_err(Stop::at(Stage::Moving))?;
    let (instruction, provider) = (&task.instruction, &task.state.provider);
    let key = task.run.attempt.upstream_key;
    match provider
        .refund(&instruction.payment_id, instruction.amount, key)
        .await
    {
        Ok(RefundAnswer::Made(refund)) => Ok(refund),
        Ok(RefundAnswer::AlreadyMade) => find_repeated(task).await,
        Err(failure) => Err(Stop::at(Stage::Moving)(failure)),
    }
}

async fn reserve(task: &RefundTask<'_>, calls: u32) -> Result<(), Stop> {
    let reserved = task.state.provider.reserve(calls, Purpose::Buyer).await;
    reserved.map_err(Stop::at(Stage::Asking))
}

/// The refund that an earlier run made.
async fn find_earlier_refund(task: &mut RefundTask<'_>) -> Result<Option<ProviderRefund>, Stop> {
    let requested_at = task.state.clock.cautious();
    match search_list(task, Stage::Asking).await? {
        Match::Ours(made) => Ok(Some(made)),
        Match::Absent => {
            task.run.rule_out_earlier_call(requested_at);
            Ok(None)
        }
        Match::Undecided => {
            let cause = "another refund of the same amount is of unknown outcome too";
            Err(Stop::at(Stage::Asking)(Failure::Unknown(cause.into())))
        }
    }
}

/// Finds our refund in the provider's list. The provider refused the call as a repeated one without
/// naming the refund.
async fn find_repeated(task: &RefundTask<'_>) -> Result<ProviderRefund, Stop> {
    let reserved = task.state.provider.reserve(1, Purpose::Buyer).await;
    // The refund exists, though the list cannot be read. The attempt must not count as unsent.
    let unseen = |cause: String| Stop::at(Stage::Moving)(Failure::Unknown(cause.into()));
    reserved.map_err(|failure| unseen(failure.to_string()))?;
    match search_list(task, Stage::Moving).await {
        Ok(Match::Ours(made)) => Ok(made),
        Ok(Match::Absent | Match::Undecided) => {
            let cause = "the provider does not list the refund that it says it made";
            Err(unseen(cause.to_owned()))
        }
        Err(Stop::Failed { failure, .. }) => Err(unseen(failure.to_string())),
        Err(stop) => Err(stop),
    }
}

async fn search_list(task: &RefundTask<'_>, stage: Stage) -> Result<Match, Stop> {
    let requested_at = task.state.clock.cautious();
    let listed = task
        .state
        .provider
        .refunds(&task.instruction.payment_id)
        .await
        .map_err(Stop::at(stage))?;
    let (db, attempt) = (&task.state.db, &task.run.attempt);
    listed::find(db, attempt, &listed, requested_at)
        .await
        .map_err(Stop::Database)
}

/// Records the payment after its refund, as the provider reports it. If the provider does not
/// answer, the state is computed from our refunds. They may be fewer than the provider's, never
/// more, so the computed state never has to be reverted.
pub(super) async fn record(
    task: &RefundTask<'_>,
    completed: &CompletedRefund,
) -> Result<(), RefundError> {
    let (state, id) = (task.state, task.instruction.payment_id.as_str());
    if listed::read_payment(state, id).await? || completed.refund.status != APPROVED {
        return Ok(());
    }
    let payment = payments::find(&state.db, id).await?;
    let payment = payment.ok_or(RefundError::NotFound)?;
    let row = task.instruction.payment;
    let refunds = state
        .db
        .read(async move |conn| store::refunds_of(conn, row).await)
        .await?;
    let report = computed_report(&payment, approved_sum(&refunds));
    settle_report(state, id, report, Source::Refund).await?;
    Ok(())
}

/// The sum of our approved refunds.
fn approved_sum(refunds: &[Attempt]) -> Money {
    let is_approved = |refund: &&Attempt| {
        let made = refund.refund_made();
        made.is_some_and(|made| made.status == APPROVED)
    };
    let amounts = refunds
        .iter()
        .filter(is_approved)
        .map(|refund| refund.instruction.amount());
    amounts.fold(Money::ZERO, |sum, amount| {
        sum.checked_add(amount).unwrap_or(sum)
    })
}

/// The status of the payment, computed from our refunds: refunded once nothing is left, approved
/// until then. The amount that the provider reported earlier includes our refunds too.
fn computed_report(payment: &Payment, given_back: Money) -> StatusReport {
    let refunded = payment.refunded.max(given_back).min(payment.amount);
    let is_whole = refunded == payment.amount;
    let (status, detail) = if is_whole {
        ("refunded", "refunded")
    } else {
        ("approved", "partially_refunded")
    };
    StatusReport {
        status: status.to_owned(),
        status_detail: detail.to_owned(),
        date_approved: payment.date_approved.clone(),
        amount: payment.amount,
        reference: Some(payment.reference.clone()),
        refunded,
    }
}
