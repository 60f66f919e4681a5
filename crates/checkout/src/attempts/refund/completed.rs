//! A refund that the provider has made: its row and its response.

use db::{Money, Tx};

use super::is_open;
use super::matching::is_free;
use crate::attempts::end::FIRST_CHECK_AFTER;
use crate::attempts::model::{Attempt, RefundInstruction, RefundRecord};
use crate::attempts::store::{self, Finish};
use crate::json::to_text;
use crate::payments::store::{insert_correction, lock_stored};
use crate::payments::{AttemptStep, RefundBody, Source};
use crate::provider::ProviderRefund;
use crate::state::State;

/// A refund that the provider made, with the response body for it.
#[derive(Debug, Clone)]
pub(super) struct CompletedRefund {
    pub(super) refund: RefundRecord,
    pub(super) body: String,
}

/// Ends the attempt with the refund that the provider `made`, while the payment's row is locked.
/// Returns the attempt's refund: this one, or the one that was recorded and perhaps returned
/// earlier. `None` if the provider's id belongs to another refund of ours. `corrects` is the wrong
/// end that was recorded for the attempt, with the source of the correction.
pub(super) async fn complete(
    state: &State,
    attempt: &Attempt,
    made: &ProviderRefund,
    corrects: Option<(AttemptStep, Source)>,
) -> Result<Option<CompletedRefund>, db::Error> {
    let (instruction, now) = (attempt.refund_instruction()?, state.clock.now());
    let refund = RefundRecord {
        id: made.id.clone(),
        status: made.status.clone(),
        date_created: made.date_created.clone().unwrap_or_else(|| now.to_string()),
    };
    let body = body(
        instruction,
        &refund,
        made.amount.unwrap_or(instruction.amount),
    )?;
    let finish = Finish {
        id: attempt.id,
        payment: instruction.payment,
        refund: Some(refund.clone()),
        response: body.clone(),
        check_at: is_open(&refund.status).then(|| now + FIRST_CHECK_AFTER),
        now,
    };
    let (made, attempt) = (refund.clone(), attempt.clone());
    let payment_id = instruction.payment_id.clone();
    let store = async move |tx: &mut Tx| {
        lock_stored(tx, &payment_id).await?;
        let refunds = store::refunds_of(tx, finish.payment).await?;
        let same = refunds.iter().find(|refund| refund.id == attempt.id);
        if let Some(before) = same.and_then(Attempt::refund_made) {
            return Ok(Some(before.clone()));
        }
        if !is_free(&made.id, &attempt, &refunds) {
            return Ok(None);
        }
        store::finish_attempt(tx, &finish).await?;
        if let Some((thought, source)) = corrects {
            let status = &made.status;
            insert_correction(tx, finish.payment, thought, status, source, now).await?;
        }
        Ok(Some(made.clone()))
    };
    let stored = state.db.write::<_, db::Error, _>(store).await?;
    let Some(stored) = stored else {
        tracing::error!(
            payment = instruction.payment_id,
            refund = refund.id,
            "refunds: the provider gave one id to two of our refunds, the second is not recorded: look at the payment there"
        );
        return Ok(None);
    };
    let body = if stored == refund {
        body
    } else {
        self::body(instruction, &stored, instruction.amount)?
    };
    let refund = stored;
    Ok(Some(CompletedRefund { refund, body }))
}

/// The response body for a refund of `amount`.
fn body(
    instruction: &RefundInstruction,
    refund: &RefundRecord,
    amount: Money,
) -> Result<String, db::Error> {
    to_text(&RefundBody {
        id: &refund.id,
        payment_id: &instruction.payment_id,
        amount: amount.to_json(),
        status: &refund.status,
        date_created: &refund.date_created,
    })
}
