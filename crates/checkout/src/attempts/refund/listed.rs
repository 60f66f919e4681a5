//! Records what the provider lists of our refunds: of those whose outcome is unknown, of those that
//! it has not finished, and of those that were recorded as ended without a refund.

use db::{Conn, Db, Timestamp, Tx};

use super::completed;
use super::matching::{self, Match, find_late};
use super::{is_open, is_refused};
use crate::attempts::finding::Finding;
use crate::attempts::model::{Attempt, RefundInstruction};
use crate::attempts::settle::{ReportOutcome, settle_report};
use crate::attempts::store;
use crate::payments::store::find_stored;
use crate::payments::{AttemptStep, Source, StatusReport};
use crate::provider::{ProviderPayment, ProviderRefund};
use crate::state::State;

/// Searches the provider's list for a refund. The list was requested at `requested_at`.
pub(super) async fn find(
    db: &Db,
    attempt: &Attempt,
    listed: &[ProviderRefund],
    requested_at: Timestamp,
) -> Result<Match, db::Error> {
    let payment = attempt.refund_instruction()?.payment;
    let refunds = db
        .read(async move |conn| store::refunds_of(conn, payment).await)
        .await?;
    Ok(matching::find(attempt, &refunds, listed, requested_at))
}

/// Records the payment of a refund as the provider reports it now. Returns false if the provider
/// does not answer.
pub(super) async fn read_payment(state: &State, id: &str) -> Result<bool, db::Error> {
    match state.provider.read(id).await {
        Ok(payment) => {
            record(state, &payment, Source::Refund).await?;
            Ok(true)
        }
        Err(failure) => {
            tracing::warn!(payment = id, %failure, "refunds: reading a payment after its refund failed; the reconciler will read it");
            Ok(false)
        }
    }
}

/// Records what the provider's list says of a refund of unknown outcome, or of one that was not
/// finished. The list was requested at `requested_at`. `next` is the due time that was set when the
/// check was claimed.
pub(crate) async fn check_refund(
    state: &State,
    attempt: &Attempt,
    listed: &[ProviderRefund],
    requested_at: Timestamp,
    next: Timestamp,
) -> Result<Finding, db::Error> {
    let instruction = attempt.refund_instruction()?;
    if let Some(made) = &instruction.made {
        return follow(state, attempt.id, instruction, &made.id, listed, next).await;
    }
    let made = match find(&state.db, attempt, listed, requested_at).await? {
        Match::Ours(made) => made,
        Match::Absent => return Ok(Finding::NotFound),
        Match::Undecided => return Ok(undecided()),
    };
    if completed::complete(state, attempt, &made, None)
        .await?
        .is_none()
    {
        return Ok(undecided());
    }
    read_payment(state, &instruction.payment_id).await?;
    Ok(Finding::Refunded)
}

/// It is not certain yet which refund in the list is ours.
fn undecided() -> Finding {
    Finding::Failed("another refund of the same amount is open too".to_owned())
}

async fn follow(
    state: &State,
    attempt: i64,
    instruction: &RefundInstruction,
    id: &str,
    listed: &[ProviderRefund],
    next: Timestamp,
) -> Result<Finding, db::Error> {
    let status = listed
        .iter()
        .find(|made| made.id == id)
        .map(|made| made.status.clone());
    let Some(status) = status.filter(|status| !is_open(status)) else {
        return Ok(Finding::RefundOpen);
    };
    let is_refused = is_refused(&status);
    let write = async move |tx: &mut Tx| store::follow_refund(tx, attempt, next, &status).await;
    state.db.write::<_, db::Error, _>(write).await?;
    if is_refused {
        tracing::warn!(
            payment = instruction.payment_id,
            refund = id,
            amount = %instruction.amount,
            "refunds: the provider refused a refund that it had accepted: no money went back, and its caller was told that it was being processed"
        );
    }
    read_payment(state, &instruction.payment_id).await?;
    Ok(if is_refused {
        Finding::RefundRefused
    } else {
        Finding::Refunded
    })
}

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
    let find = async move |conn: &mut Conn| match find_stored(conn, &id).await? {
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
    let stored = completed::complete(state, attempt, made, corrects).await?;
    if stored.is_none_or(|stored| stored.refund.id != made.id) {
        return Ok(false);
    }
    if is_ended {
        tracing::warn!(
            payment = instruction.payment_id,
            refund = made.id,
            amount = %instruction.amount,
            thought = attempt.step.name(),
            "refunds: the provider made a refund that was recorded as not made; it is recorded now. \
             Its caller may have been told that nothing was refunded: check for a second refund"
        );
        state.metrics.corrected.inc();
    }
    Ok(true)
}
