//! Claims the attempt of a refund: stores the intent, or acquires the existing attempt of the same
//! idempotency key.

use db::{Money, Timestamp, Tx};

use super::{RefundError, is_refused};
use crate::attempts::claim::{self, Claim};
use crate::attempts::model::{Attempt, Instruction, NewRun, RefundInstruction, RefundRecord};
use crate::attempts::store;
use crate::idempotency::IdempotencyKey;
use crate::payments::store::lock_stored;
use crate::payments::{AttemptStep, PaymentState, StoredPayment};
use crate::state::State;

/// Stores the intent. The payment's row is written first, which locks it, so that refunds of one
/// payment come one after the other.
pub(super) async fn claim(
    state: &State,
    payment: &str,
    amount: Option<Money>,
    key: Option<IdempotencyKey>,
    requested_at: Timestamp,
) -> Result<Claim, RefundError> {
    let fingerprint = key.as_ref().map(|_| fingerprint(state, amount));
    let key = key.map(|key| key.for_refund_of(payment));
    let run = NewRun::new(state, key, fingerprint, requested_at)?;
    let id = payment.to_owned();
    state
        .db
        .write(async move |tx| claim_in(tx, &run, &id, amount).await)
        .await
}

async fn claim_in(
    tx: &mut Tx,
    run: &NewRun,
    payment: &str,
    amount: Option<Money>,
) -> Result<Claim, RefundError> {
    let stored = lock_stored(tx, payment)
        .await?
        .ok_or(RefundError::NotFound)?;
    if let Some(claim) = claim::resume(tx, run).await? {
        return Ok(claim);
    }
    if stored.snapshot.state != PaymentState::Approved {
        return Err(RefundError::State);
    }
    let left = left(tx, &stored).await?;
    let amount = amount.unwrap_or(left);
    if amount > left || amount <= Money::ZERO {
        return Err(RefundError::Amount);
    }
    let instruction = Instruction::Refund(RefundInstruction {
        payment: stored.row,
        payment_id: stored.id,
        amount,
        made: None,
    });
    Ok(claim::begin(tx, run, &instruction).await?)
}

/// The amount that can still be refunded. Refunds of unknown outcome count as made. Completed
/// refunds are counted from our own rows, since the provider's report of the payment lags behind.
async fn left(tx: &mut Tx, stored: &StoredPayment) -> Result<Money, db::Error> {
    let refunds = store::refunds_of(tx, stored.row).await?;
    let sum = |counts: fn(&Attempt) -> bool| {
        let counted = refunds.iter().filter(|refund| counts(refund));
        counted
            .map(|refund| refund.instruction.amount())
            .try_fold(Money::ZERO, Money::checked_add)
    };
    let made = sum(is_made).map(|made| made.max(stored.snapshot.refunded));
    let open = sum(|refund| refund.step == AttemptStep::Sending);
    let committed = made
        .zip(open)
        .and_then(|(made, open)| made.checked_add(open));
    Ok(committed
        .and_then(|committed| stored.amount.checked_sub(committed))
        .unwrap_or(Money::ZERO))
}

/// Whether the provider accepted the refund and did not refuse it later.
fn is_made(refund: &Attempt) -> bool {
    let is_refused = |made: &RefundRecord| is_refused(&made.status);
    refund.step == AttemptStep::Finished && !refund.refund_made().is_some_and(is_refused)
}

fn fingerprint(state: &State, amount: Option<Money>) -> String {
    let amount = amount.map(|amount| amount.to_string()).unwrap_or_default();
    state.config.secret.token(&["refund", &amount])
}
