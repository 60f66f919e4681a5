//! The right to work on a refund: stores the intent, or finds what the caller's idempotency key already stands for.

use db::{Money, Timestamp, Tx};

use super::RefundError;
use crate::app::State;
use crate::digest;
use crate::payments::PaymentState;
use crate::payments::claim::{lease_length, new_key};
use crate::payments::idempotency::{IdempotencyKey, KEPT};
use crate::payments::store::{self, AttemptStep, Known, Lease, NewRefund, Refund};
use crate::provider::UpstreamKey;

/// A refund that this request may work on.
pub(super) struct Run {
    pub(super) id: i64,
    pub(super) lease: String,
    pub(super) upstream_key: UpstreamKey,
    pub(super) whole: bool,
    pub(super) amount: Money,
    /// What the payment has had refunded before, by our books.
    pub(super) before: Money,
    /// Did an earlier run send the call without learning its outcome?
    pub(super) was_sent: bool,
}

pub(super) enum Claim {
    Run(Run),
    Ended(Refund),
}

/// What is asked for, and what a run of it needs.
struct Ask {
    payment: String,
    amount: Option<Money>,
    key: Option<String>,
    fingerprint: Option<String>,
    upstream_key: UpstreamKey,
    lease: Lease,
    now: Timestamp,
}

/// Stores the intent under the payment's row, which is written first so that refunds of one payment come one by one.
pub(super) async fn claim(
    state: &State,
    payment: &str,
    amount: Option<Money>,
    key: Option<IdempotencyKey>,
) -> Result<Claim, RefundError> {
    let now = state.clock.now();
    let ask = Ask {
        payment: payment.to_owned(),
        amount,
        fingerprint: key.as_ref().map(|_| fingerprint(state, amount)),
        key: key.map(|key| key.as_str().to_owned()),
        upstream_key: new_key(state),
        lease: Lease {
            id: state.replica.lease(&state.random.uuid().to_string()),
            until: now + lease_length(state.config.provider.timeout),
        },
        now,
    };
    state.db.write(async move |tx| ask.claim(tx).await).await
}

impl Ask {
    async fn claim(&self, tx: &mut Tx) -> Result<Claim, RefundError> {
        let known = store::lock_known(tx, &self.payment)
            .await?
            .ok_or(RefundError::NotFound)?;
        if let Some(found) = self.find_again(tx, known.row).await? {
            return self.take_up(tx, found, known.standing.refunded).await;
        }
        if known.standing.state != PaymentState::Approved {
            return Err(RefundError::State);
        }
        let left = left(tx, known.row, known.amount, known.standing.refunded).await?;
        let amount = self.amount.unwrap_or(left);
        if amount > left || amount <= Money::ZERO {
            return Err(RefundError::Amount);
        }
        self.store(tx, &known, amount).await
    }

    /// The refund that the key stands for, unless it has held the key long enough.
    async fn find_again(&self, tx: &mut Tx, payment: i64) -> Result<Option<Refund>, db::Error> {
        let Some(key) = &self.key else {
            return Ok(None);
        };
        if store::free_refund_key(tx, payment, key, self.now - KEPT).await? {
            return Ok(None);
        }
        store::find_refund_by_key(tx, payment, key).await
    }

    async fn take_up(
        &self,
        tx: &mut Tx,
        found: Refund,
        before: Money,
    ) -> Result<Claim, RefundError> {
        if found.fingerprint != self.fingerprint {
            return Err(RefundError::Mismatch);
        }
        if matches!(found.step, AttemptStep::Finished | AttemptStep::Refused) {
            return Ok(Claim::Ended(found));
        }
        if !store::take_refund(tx, found.id, &self.lease, self.now).await? {
            return Err(RefundError::Busy);
        }
        let key = found
            .upstream_key
            .parse()
            .map_err(|_| db::Error::other("a stored upstream key is no UUID"))?;
        Ok(Claim::Run(Run {
            id: found.id,
            lease: self.lease.id.clone(),
            upstream_key: UpstreamKey(key),
            whole: found.whole,
            amount: found.amount,
            before,
            was_sent: found.step == AttemptStep::Sending,
        }))
    }

    async fn store(&self, tx: &mut Tx, known: &Known, amount: Money) -> Result<Claim, RefundError> {
        let whole = amount == known.amount;
        let new = NewRefund {
            payment: known.row,
            idempotency_key: self.key.clone(),
            fingerprint: self.fingerprint.clone(),
            upstream_key: self.upstream_key.to_string(),
            whole,
            amount,
            lease: self.lease.clone(),
            check_at: self.lease.until,
            now: self.now,
        };
        let id = store::insert_refund(tx, &new)
            .await?
            .ok_or(RefundError::Busy)?;
        Ok(Claim::Run(Run {
            id,
            lease: self.lease.id.clone(),
            upstream_key: self.upstream_key,
            whole,
            amount,
            before: known.standing.refunded,
            was_sent: false,
        }))
    }
}

/// What can still be given back. Refunds whose outcome is open count as made; those that were made count by our books
/// too, since the provider's word on the payment comes a moment later.
async fn left(
    tx: &mut Tx,
    payment: i64,
    amount: Money,
    refunded: Money,
) -> Result<Money, db::Error> {
    let refunds = store::refunds_of(tx, payment).await?;
    let sum = |counts: fn(&Refund) -> bool| {
        let counted = refunds.iter().filter(|refund| counts(refund));
        counted
            .map(|refund| refund.amount)
            .try_fold(Money::ZERO, Money::checked_add)
    };
    let made = sum(Refund::is_made).map(|made| made.max(refunded));
    let open = sum(|refund| refund.step == AttemptStep::Sending);
    let taken = made
        .zip(open)
        .and_then(|(made, open)| made.checked_add(open));
    Ok(taken
        .and_then(|taken| amount.checked_sub(taken))
        .unwrap_or(Money::ZERO))
}

fn fingerprint(state: &State, asked: Option<Money>) -> String {
    let asked = asked.map(|amount| amount.to_string()).unwrap_or_default();
    digest::token(digest::keyed(
        &state.config.secret,
        &[b"refund", asked.as_bytes()],
    ))
}
