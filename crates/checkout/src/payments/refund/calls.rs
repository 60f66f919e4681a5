//! The calls to the provider for a refund.

use db::Money;

use super::answer::{APPROVED, Answer};
use super::{RefundError, Run};
use crate::app::State;
use crate::payments::claim::new_key;
use crate::payments::model::{Payment, Word};
use crate::payments::read;
use crate::payments::settle::settle_word;
use crate::payments::store::Source;
use crate::provider::{Failure, ProviderRefund, Purpose, RefundAnswer};

pub(super) async fn give_back(
    state: &State,
    id: &str,
    run: &Run,
) -> Result<ProviderRefund, Failure> {
    // Two: the refund, and the payment after it.
    state.provider.reserve(2, Purpose::Buyer).await?;
    let amount = (!run.whole).then_some(run.amount);
    match state.provider.refund(id, amount, run.upstream_key).await? {
        RefundAnswer::Made(refund) => Ok(refund),
        RefundAnswer::AlreadyMade => made_before(state, id, run).await,
    }
}

/// The provider repeats a refund without saying which: the newest of its list with our amount.
async fn made_before(state: &State, id: &str, run: &Run) -> Result<ProviderRefund, Failure> {
    state.provider.reserve(1, Purpose::Buyer).await?;
    let refunds = state.provider.refunds(id, new_key(state)).await?;
    let ours = refunds
        .into_iter()
        .rev()
        .find(|refund| refund.amount.is_none_or(|amount| amount == run.amount));
    ours.ok_or_else(|| {
        Failure::Unknown("the provider does not list the refund that it says it made".into())
    })
}

/// The payment after a refund that was made: as the provider tells it, or by our own books when it does not answer.
pub(super) async fn record(
    state: &State,
    id: &str,
    run: &Run,
    made: &Answer,
) -> Result<(), RefundError> {
    let word = match state.provider.read(id, new_key(state)).await {
        Ok(payment) => Word::from(&payment),
        Err(failure) => {
            tracing::warn!(payment = id, %failure, "a refunded payment could not be read back");
            if made.status != APPROVED {
                return Ok(());
            }
            let payment = read::find(state, id).await?.ok_or(RefundError::NotFound)?;
            reckoned(&payment, run.before, made.amount)
        }
    };
    settle_word(state, id, word, Source::Refund).await?;
    Ok(())
}

/// Refunded once nothing is left, until then approved.
fn reckoned(payment: &Payment, before: Money, amount: Money) -> Word {
    let refunded = before
        .checked_add(amount)
        .map_or(payment.amount, |sum| sum.min(payment.amount));
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
