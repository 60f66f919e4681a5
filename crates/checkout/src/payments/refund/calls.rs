//! The calls to the provider for a refund, in the order that never gives back twice.

use db::{Money, Timestamp};

use super::answer::{APPROVED, Answer};
use super::matching::{self, Match};
use super::{RefundError, Work};
use crate::app::State;
use crate::payments::adopt;
use crate::payments::attempt::{Stage, is_certain, new_key};
use crate::payments::model::{Payment, Word};
use crate::payments::read;
use crate::payments::settle::settle_word;
use crate::payments::store::{self, Attempt, RefundInstruction, Source};
use crate::provider::{Failure, ProviderRefund, Purpose, RefundAnswer};

/// Where a run stopped, or that the database failed.
pub(super) enum Stop {
    Failed { failure: Failure, stage: Stage },
    Database(db::Error),
}

fn at(stage: Stage) -> impl Fn(Failure) -> Stop {
    move |failure| Stop::Failed { failure, stage }
}

/// What the provider's list says of a refund.
pub(crate) enum Found {
    Made(ProviderRefund),
    Absent,
    Undecided,
}

/// The calls of one run: what an earlier one came to is looked for before anything is sent again.
pub(super) async fn give_back(work: &mut Work<'_>) -> Result<ProviderRefund, Stop> {
    let asks = work.run.sent_at.is_some();
    // The refund, the payment after it, and the list before it.
    reserve(work, 2 + u32::from(asks)).await?;
    if asks && let Some(made) = made_before(work).await? {
        return Ok(made);
    }
    work.run
        .check_lease(&work.state.clock)
        .map_err(at(Stage::Moving))?;
    let (instruction, provider) = (&work.instruction, &work.state.provider);
    let key = work.run.attempt.upstream_key;
    match provider
        .refund(&instruction.payment_id, instruction.amount, key)
        .await
    {
        Ok(RefundAnswer::Made(refund)) => Ok(refund),
        Ok(RefundAnswer::AlreadyMade) => told_again(work).await,
        Err(failure) => Err(at(Stage::Moving)(failure)),
    }
}

async fn reserve(work: &Work<'_>, calls: u32) -> Result<(), Stop> {
    let reserved = work.state.provider.reserve(calls, Purpose::Buyer).await;
    reserved.map_err(at(Stage::Asking))
}

/// What an earlier run made. When the list must show it by now and does not, nothing was made: what is sent next is sent for the first time.
async fn made_before(work: &mut Work<'_>) -> Result<Option<ProviderRefund>, Stop> {
    let asked_at = work.state.clock.now();
    match look(work, Stage::Asking).await? {
        Found::Made(made) => Ok(Some(made)),
        Found::Absent => {
            let is_open = |sent: &Timestamp| !is_certain(*sent, asked_at);
            work.run.sent_at = work.run.sent_at.filter(is_open);
            Ok(None)
        }
        Found::Undecided => {
            let cause = "another refund of the same amount is of unknown outcome too";
            Err(at(Stage::Asking)(Failure::Unknown(cause.into())))
        }
    }
}

/// The provider repeats a refund without saying which: its list has it.
async fn told_again(work: &Work<'_>) -> Result<ProviderRefund, Stop> {
    let reserved = work.state.provider.reserve(1, Purpose::Buyer).await;
    // Made it is, though it cannot be looked up: not as if nothing had been sent.
    let unseen = |cause: String| at(Stage::Moving)(Failure::Unknown(cause.into()));
    reserved.map_err(|failure| unseen(failure.to_string()))?;
    match look(work, Stage::Moving).await {
        Ok(Found::Made(made)) => Ok(made),
        Ok(Found::Absent | Found::Undecided) => {
            let cause = "the provider does not list the refund that it says it made";
            Err(unseen(cause.to_owned()))
        }
        Err(Stop::Failed { failure, .. }) => Err(unseen(failure.to_string())),
        Err(stop) => Err(stop),
    }
}

async fn look(work: &Work<'_>, stage: Stage) -> Result<Found, Stop> {
    let asked_at = work.state.clock.now();
    let listed = work
        .state
        .provider
        .refunds(&work.instruction.payment_id, new_key(work.state))
        .await
        .map_err(at(stage))?;
    let listed = (listed.as_slice(), asked_at);
    find(work.state, &work.run.attempt, &work.instruction, listed)
        .await
        .map_err(Stop::Database)
}

/// Looks for a refund in the provider's list, which was asked for at `asked_at`.
pub(super) async fn find(
    state: &State,
    attempt: &Attempt,
    instruction: &RefundInstruction,
    (listed, asked_at): (&[ProviderRefund], Timestamp),
) -> Result<Found, db::Error> {
    let payment = instruction.payment;
    let refunds = state
        .db
        .read(async move |conn| store::refunds_of(conn, payment).await)
        .await?;
    Ok(
        match matching::find(attempt, instruction, &refunds, listed, asked_at) {
            Match::Ours(made) => Found::Made(made.clone()),
            Match::Absent => Found::Absent,
            Match::Undecided => Found::Undecided,
        },
    )
}

/// The payment after a refund that was made: as the provider tells it, or by our own books when it does not answer. Those may know less than
/// the provider, never more: a payment that is thought to be refunded stays so.
pub(super) async fn record(work: &Work<'_>, made: &Answer) -> Result<(), RefundError> {
    let (state, id) = (work.state, work.instruction.payment_id.as_str());
    match state.provider.read(id, new_key(state)).await {
        Ok(payment) => {
            adopt::record(state, &payment, Source::Refund).await?;
        }
        Err(failure) => {
            tracing::warn!(payment = id, %failure, "a refunded payment could not be read back");
            if made.refund.status == APPROVED {
                let payment = read::find(state, id).await?.ok_or(RefundError::NotFound)?;
                let row = work.instruction.payment;
                let given_back = async move |conn: &mut db::Conn| {
                    Ok(given_back(&store::refunds_of(conn, row).await?))
                };
                let given_back = state.db.read::<_, db::Error, _>(given_back).await?;
                let reported = reckoned(&payment, given_back);
                settle_word(state, id, reported, Source::Refund).await?;
            }
        }
    }
    Ok(())
}

/// What our refunds have given back for good.
fn given_back(refunds: &[Attempt]) -> Money {
    let is_approved = |refund: &&Attempt| {
        let made = refund
            .refund_instruction()
            .ok()
            .and_then(|instruction| instruction.made.as_ref());
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

/// Refunded once nothing is left, until then approved. What the provider said before counts our refunds too.
fn reckoned(payment: &Payment, given_back: Money) -> Word {
    let refunded = payment.refunded.max(given_back).min(payment.amount);
    let is_whole = refunded == payment.amount;
    let (status, detail) = if is_whole {
        ("refunded", "refunded")
    } else {
        ("approved", "partially_refunded")
    };
    Word {
        status: status.to_owned(),
        status_detail: detail.to_owned(),
        date_approved: payment.date_approved.clone(),
        amount: payment.amount,
        refunded,
    }
}
