//! A refund that the provider has made, as it is stored and answered.

use db::{Timestamp, Tx};

use super::RefundError;
use super::calls::{Found, find};
use super::matching::is_free;
use crate::app::State;
use crate::payments::adopt;
use crate::payments::attempt::new_key;
use crate::payments::shape::RefundBody;
use crate::payments::store::{
    self, Attempt, AttemptStep, Finish, MadeRefund, RefundInstruction, Source,
};
use crate::provider::ProviderRefund;
use crate::reconcile::FIRST_WAIT;

/// The provider's word on a refund whose money went back.
pub(super) const APPROVED: &str = "approved";

/// A refund that the provider made, as it is stored and answered.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) refund: MadeRefund,
    pub(super) body: String,
    /// As the provider told it.
    told: ProviderRefund,
}

impl Answer {
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
            refund: MadeRefund {
                id: made.id.clone(),
                status: made.status.clone(),
                date_created,
            },
            body,
            told: made.clone(),
        })
    }

    /// Ends the attempt with it, under the payment's row, and gives what the attempt stands for: this, or what was recorded of it before, as
    /// others may have been told. None when another refund of ours has it. `corrects` is the end that the attempt was thought to have come
    /// to, and who told otherwise.
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
            check_at: is_open(&self.refund.status).then(|| now + FIRST_WAIT),
            now,
        };
        let (told, attempt, payment_id) = (
            self.told.clone(),
            attempt.clone(),
            instruction.payment_id.clone(),
        );
        let store = async move |tx: &mut Tx| {
            store::lock_stored(tx, &payment_id).await?;
            let refunds = store::refunds_of(tx, finish.payment).await?;
            if let Some(before) = made_of(&refunds, attempt.id) {
                return Ok(Stored::Before(before.clone()));
            }
            if !is_free(&told, &attempt, &refunds) {
                return Ok(Stored::Taken);
            }
            store::finish_attempt(tx, &finish).await?;
            if let Some((thought, source)) = corrects {
                let status = &told.status;
                store::insert_correction(tx, finish.payment, thought, status, source, now).await?;
            }
            Ok(Stored::Now)
        };
        match state.db.write::<_, db::Error, _>(store).await? {
            Stored::Now => Ok(Some(self.clone())),
            Stored::Before(before) => {
                let told = ProviderRefund {
                    id: before.id,
                    amount: Some(instruction.amount),
                    status: before.status,
                    date_created: Some(before.date_created),
                };
                Ok(Some(Self::new(instruction, &told, now)?))
            }
            Stored::Taken => {
                tracing::error!(
                    payment = instruction.payment_id,
                    refund = self.refund.id,
                    "the provider gave one id to two refunds of ours: look at the payment there"
                );
                Ok(None)
            }
        }
    }
}

/// What became of storing a refund that the provider made.
enum Stored {
    Now,
    /// The attempt has ended with this already.
    Before(MadeRefund),
    /// It is another attempt's.
    Taken,
}

fn made_of(refunds: &[Attempt], id: i64) -> Option<&MadeRefund> {
    let attempt = refunds.iter().find(|attempt| attempt.id == id)?;
    attempt.refund_instruction().ok()?.made.as_ref()
}

/// Is the provider still at work on it? It may yet refuse, and its amount would be free again.
fn is_open(status: &str) -> bool {
    status != APPROVED && !is_refused(status)
}

/// Does the provider's word on a refund say that no money went back?
pub(super) fn is_refused(status: &str) -> bool {
    matches!(status, "rejected" | "cancelled")
}

/// Did the provider take the refund and not refuse it afterwards?
pub(super) fn is_made(refund: &Attempt) -> bool {
    let made = refund
        .refund_instruction()
        .ok()
        .and_then(|instruction| instruction.made.as_ref());
    refund.step == AttemptStep::Finished && !made.is_some_and(|made| is_refused(&made.status))
}

/// What a check of a refund came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checked {
    /// The money went back.
    Made,
    /// The provider is still at work on it.
    Open,
    /// The provider refused it in the end.
    Refused,
    /// It is not in the provider's list.
    Absent,
    /// Which refund of the list is ours cannot be told yet.
    Undecided,
}

/// Records what the provider's list says of a refund of unknown outcome, or of one that the provider was still at work on. The list was asked
/// for at `asked_at`; `next` is when the attempt's check is due again, as it was claimed.
pub(crate) async fn check_refund(
    state: &State,
    attempt: &Attempt,
    (listed, asked_at): (&[ProviderRefund], Timestamp),
    next: Timestamp,
) -> Result<Checked, RefundError> {
    let instruction = attempt.refund_instruction()?;
    if let Some(made) = &instruction.made {
        return follow(state, attempt.id, instruction, &made.id, listed, next).await;
    }
    let made = match find(state, attempt, instruction, (listed, asked_at)).await? {
        Found::Made(made) => made,
        Found::Absent => return Ok(Checked::Absent),
        Found::Undecided => return Ok(Checked::Undecided),
    };
    let answer = Answer::new(instruction, &made, state.clock.now())?;
    if answer.store(state, attempt, None).await?.is_none() {
        return Ok(Checked::Undecided);
    }
    read_payment(state, &instruction.payment_id).await?;
    Ok(Checked::Made)
}

async fn follow(
    state: &State,
    attempt: i64,
    instruction: &RefundInstruction,
    id: &str,
    listed: &[ProviderRefund],
    next: Timestamp,
) -> Result<Checked, RefundError> {
    let status = listed
        .iter()
        .find(|made| made.id == id)
        .map(|made| made.status.clone());
    let Some(status) = status.filter(|status| !is_open(status)) else {
        return Ok(Checked::Open);
    };
    let is_refused = is_refused(&status);
    let write = async move |tx: &mut Tx| store::follow_refund(tx, attempt, next, &status).await;
    state.db.write::<_, db::Error, _>(write).await?;
    read_payment(state, &instruction.payment_id).await?;
    Ok(if is_refused {
        Checked::Refused
    } else {
        Checked::Made
    })
}

async fn read_payment(state: &State, id: &str) -> Result<(), db::Error> {
    match state.provider.read(id, new_key(state)).await {
        Ok(payment) => {
            adopt::record(state, &payment, Source::Refund).await?;
        }
        Err(failure) => {
            tracing::warn!(payment = id, %failure, "a refunded payment could not be read back");
        }
    }
    Ok(())
}
