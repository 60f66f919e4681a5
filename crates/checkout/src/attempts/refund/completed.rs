//! A refund that the provider has made: its row and its response.

use db::{Timestamp, Tx};

use super::RefundError;
use super::matching::is_free;
use super::status::is_open;
use crate::attempts::end::FIRST_CHECK_AFTER;
use crate::attempts::model::{Attempt, RefundInstruction, RefundRecord};
use crate::attempts::store::{self, Finish};
use crate::payments::store::{insert_correction, lock_stored};
use crate::payments::{AttemptStep, RefundBody, Source};
use crate::provider::ProviderRefund;
use crate::state::State;

/// A refund that the provider made, with the row and the response body for it.
#[derive(Debug, Clone)]
pub(super) struct CompletedRefund {
    pub(super) refund: RefundRecord,
    pub(super) body: String,
    /// The provider's refund, unchanged.
    reported: ProviderRefund,
}

impl CompletedRefund {
    pub(super) fn new(
        instruction: &RefundInstruction,
        made: &ProviderRefund,
        now: Timestamp,
    ) -> Result<Self, serde_json::Error> {
        let amount = made.amount.unwrap_or(instruction.amount);
        let date_created = made.date_created.clone().unwrap_or_else(|| now.to_string());
        let body = serde_json::to_string(&RefundBody {
            id: &made.id,
            payment_id: &instruction.payment_id,
            amount: amount.to_json(),
            status: &made.status,
            date_created: &date_created,
        })?;
        Ok(Self {
            refund: RefundRecord {
                id: made.id.clone(),
                status: made.status.clone(),
                date_created,
            },
            body,
            reported: made.clone(),
        })
    }

    /// Ends the attempt with this refund while the payment's row is locked. Returns the attempt's
    /// refund: this one, or the one that was recorded and perhaps returned earlier. `None` if the
    /// provider's id belongs to another refund of ours. `corrects` is the wrong end that was
    /// recorded for the attempt, with the source of the correction.
    pub(super) async fn store(
        &self,
        state: &State,
        attempt: &Attempt,
        corrects: Option<(AttemptStep, Source)>,
    ) -> Result<Option<Self>, RefundError> {
        let instruction = attempt.refund_instruction()?;
        let now = state.clock.now();
        let finish = Finish {
            id: attempt.id,
            payment: instruction.payment,
            refund: Some(self.refund.clone()),
            response: self.body.clone(),
            check_at: is_open(&self.refund.status).then(|| now + FIRST_CHECK_AFTER),
            now,
        };
        let (reported, attempt, payment_id) = (
            self.reported.clone(),
            attempt.clone(),
            instruction.payment_id.clone(),
        );
        let store = async move |tx: &mut Tx| {
            lock_stored(tx, &payment_id).await?;
            let refunds = store::refunds_of(tx, finish.payment).await?;
            let same = refunds.iter().find(|refund| refund.id == attempt.id);
            if let Some(before) = same.and_then(Attempt::refund_made) {
                return Ok(RefundWrite::Before(before.clone()));
            }
            if !is_free(&reported, &attempt, &refunds) {
                return Ok(RefundWrite::Taken);
            }
            store::finish_attempt(tx, &finish).await?;
            if let Some((thought, source)) = corrects {
                let status = &reported.status;
                insert_correction(tx, finish.payment, thought, status, source, now).await?;
            }
            Ok(RefundWrite::Now)
        };
        match state.db.write::<_, db::Error, _>(store).await? {
            RefundWrite::Now => Ok(Some(self.clone())),
            RefundWrite::Before(before) => {
                let reported = ProviderRefund {
                    id: before.id,
                    amount: Some(instruction.amount),
                    status: before.status,
                    date_created: Some(before.date_created),
                };
                Ok(Some(Self::new(instruction, &reported, now)?))
            }
            RefundWrite::Taken => {
                tracing::error!(
                    payment = instruction.payment_id,
                    refund = self.refund.id,
                    "refunds: the provider gave one id to two of our refunds, the second is not recorded: look at the payment there"
                );
                Ok(None)
            }
        }
    }
}

/// The result of storing a refund that the provider made.
enum RefundWrite {
    Now,
    /// The attempt has ended with this refund already.
    Before(RefundRecord),
    /// The refund belongs to another attempt.
    Taken,
}
