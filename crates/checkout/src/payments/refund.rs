//! Giving money back: all that is left of a payment, or a part. The intent is stored before the provider is called, so
//! that a repetition never gives back twice.

use super::claim::{lease_length, new_key};
use super::idempotency::{IdempotencyKey, KEPT};
use super::model::{Payment, Word};
use super::read;
use super::settle::settle_word;
use super::shape::RefundBody;
use super::state::PaymentState;
use super::store::{self, AttemptStep, Lease, NewRefund, OpenRefund, Refund, Source};
use crate::app::State;
use crate::digest;
use crate::provider::{Failure, ProviderRefund, Purpose, RefundAnswer, UpstreamKey};
use db::{Money, Timestamp, Tx};

/// The answer to a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refunded {
    /// The response's JSON.
    pub body: String,
    /// Was it answered before?
    pub replayed: bool,
}

/// Why nothing is given back.
#[derive(Debug, thiserror::Error)]
pub enum RefundError {
    /// There is no such payment.
    #[error("there is no such payment")]
    NotFound,
    /// The payment is not approved.
    #[error("the payment's state does not allow a refund")]
    State,
    /// More is asked for than is left.
    #[error("more is asked for than is left")]
    Amount,
    /// Another request with the same idempotency key is at work.
    #[error("a request with this idempotency key is still running")]
    Busy,
    /// The idempotency key was used for another request.
    #[error("the idempotency key was used for another request")]
    Mismatch,
    /// The provider failed or refused.
    #[error(transparent)]
    Provider(#[from] Failure),
    /// The refusal that was answered before for the same key.
    #[error("refused before with {status}: {detail}")]
    Repeated {
        /// The status of that answer.
        status: u16,
        /// Its detail.
        detail: String,
    },
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// The answer could not be written.
    #[error("a refund could not be written as JSON")]
    Shape(#[from] serde_json::Error),
}

/// A refund that this request may work on.
struct Run {
    id: i64,
    lease: String,
    upstream_key: UpstreamKey,
    whole: bool,
    amount: Money,
    /// What the payment has had refunded before, by our books.
    before: Money,
    /// Did an earlier run send the call without learning its outcome?
    was_sent: bool,
}

enum Claim {
    Run(Run),
    Ended(Refund),
}

/// Gives back `amount`, or all that is left.
///
/// # Errors
/// See [`RefundError`].
pub async fn refund(
    state: &State,
    id: &str,
    amount: Option<Money>,
    key: Option<IdempotencyKey>,
) -> Result<Refunded, RefundError> {
    let run = match claim(state, id, amount, key).await? {
        Claim::Run(run) => run,
        Claim::Ended(refund) => return replay(refund),
    };
    match give_back(state, id, &run).await {
        Ok(made) => finish(state, id, &run, &made).await,
        Err(failure) => {
            give_up(state, &run, &failure).await?;
            Err(failure.into())
        }
    }
}

/// Stores the intent under the payment's row, which is written first so that refunds of one payment come one by one.
async fn claim(
    state: &State,
    id: &str,
    asked: Option<Money>,
    key: Option<IdempotencyKey>,
) -> Result<Claim, RefundError> {
    let now = state.clock.now();
    let lease = Lease {
        id: state.random.uuid().to_string(),
        until: now + lease_length(state.config.provider.timeout),
    };
    let upstream_key = new_key(state);
    let fingerprint = key.as_ref().map(|_| fingerprint(state, asked));
    let (id, key) = (id.to_owned(), key.map(|key| key.as_str().to_owned()));
    state
        .db
        .write(async move |tx| {
            let known = store::lock_known(tx, &id)
                .await?
                .ok_or(RefundError::NotFound)?;
            let again = match &key {
                Some(key) => find_again(tx, known.row, key, now).await?,
                None => None,
            };
            if let Some(found) = again {
                return take_up(
                    tx,
                    found,
                    fingerprint.as_deref(),
                    &lease,
                    known.standing.refunded,
                    now,
                )
                .await;
            }
            if known.standing.state != PaymentState::Approved {
                return Err(RefundError::State);
            }
            let left = left(tx, known.row, known.amount, known.standing.refunded).await?;
            let amount = asked.unwrap_or(left);
            if amount > left || amount <= Money::ZERO {
                return Err(RefundError::Amount);
            }
            let new = NewRefund {
                payment: known.row,
                idempotency_key: key.clone(),
                fingerprint: fingerprint.clone(),
                upstream_key: upstream_key.to_string(),
                whole: amount == known.amount,
                amount,
                check_at: lease.until,
                lease: lease.clone(),
                now,
            };
            let row = store::insert_refund(tx, &new)
                .await?
                .ok_or(RefundError::Busy)?;
            let (whole, before) = (new.whole, known.standing.refunded);
            let lease = lease.id.clone();
            Ok(Claim::Run(Run {
                id: row,
                lease,
                upstream_key,
                whole,
                amount,
                before,
                was_sent: false,
            }))
        })
        .await
}

/// The refund that the key stands for, unless it has held the key long enough.
async fn find_again(
    tx: &mut Tx,
    payment: i64,
    key: &str,
    now: Timestamp,
) -> Result<Option<Refund>, db::Error> {
    if store::free_refund_key(tx, payment, key, now - KEPT).await? {
        return Ok(None);
    }
    store::find_refund_by_key(tx, payment, key).await
}

async fn take_up(
    tx: &mut Tx,
    found: Refund,
    fingerprint: Option<&str>,
    lease: &Lease,
    before: Money,
    now: Timestamp,
) -> Result<Claim, RefundError> {
    if found.fingerprint.as_deref() != fingerprint {
        return Err(RefundError::Mismatch);
    }
    if matches!(found.step, AttemptStep::Finished | AttemptStep::Refused) {
        return Ok(Claim::Ended(found));
    }
    if !store::take_refund(tx, found.id, lease, now).await? {
        return Err(RefundError::Busy);
    }
    let key = found
        .upstream_key
        .parse()
        .map_err(|_| db::Error::other("a stored upstream key is no UUID"))?;
    let was_sent = found.step == AttemptStep::Sending;
    let (id, lease, whole, amount) = (found.id, lease.id.clone(), found.whole, found.amount);
    Ok(Claim::Run(Run {
        id,
        lease,
        upstream_key: UpstreamKey(key),
        whole,
        amount,
        before,
        was_sent,
    }))
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
        counted.fold(Some(Money::ZERO), |sum, refund| {
            sum?.checked_add(refund.amount)
        })
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

async fn give_back(state: &State, id: &str, run: &Run) -> Result<ProviderRefund, Failure> {
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

async fn finish(
    state: &State,
    id: &str,
    run: &Run,
    made: &ProviderRefund,
) -> Result<Refunded, RefundError> {
    let answer = Answer::new(id, run.amount, made, state.clock.now())?;
    let (row, stored) = (run.id, answer.clone());
    state
        .db
        .write(async move |tx| stored.store(tx, row).await)
        .await?;
    if answer.status != "rejected" {
        record(state, id, run, answer.amount).await?;
    }
    Ok(Refunded {
        body: answer.body,
        replayed: false,
    })
}

/// A refund that the provider made, as it is stored and answered.
#[derive(Debug, Clone)]
struct Answer {
    id: String,
    status: String,
    date_created: String,
    amount: Money,
    body: String,
}

impl Answer {
    fn new(
        payment: &str,
        asked: Money,
        made: &ProviderRefund,
        now: Timestamp,
    ) -> Result<Self, serde_json::Error> {
        let amount = made.amount.unwrap_or(asked);
        let date_created = made.date_created.clone().unwrap_or_else(|| now.to_string());
        let body = serde_json::to_string(&RefundBody {
            id: &made.id,
            payment_id: payment,
            amount: amount.to_json(),
            status: &made.status,
            date_created: &date_created,
        })?;
        Ok(Self {
            id: made.id.clone(),
            status: made.status.clone(),
            date_created,
            amount,
            body,
        })
    }

    async fn store(&self, tx: &mut Tx, row: i64) -> Result<bool, db::Error> {
        let provider = Some((
            self.id.as_str(),
            self.status.as_str(),
            self.date_created.as_str(),
        ));
        store::finish_refund(
            tx,
            row,
            AttemptStep::Finished,
            provider,
            (200, Some(&self.body)),
        )
        .await
    }
}

/// Completes an open refund with the provider's list of the payment's refunds: the first with its amount that no other
/// refund of ours has. False when there is none.
pub(crate) async fn match_refund(
    state: &State,
    refund: &OpenRefund,
    listed: Vec<ProviderRefund>,
) -> Result<bool, RefundError> {
    let mut candidates = Vec::new();
    for made in listed
        .iter()
        .filter(|made| made.amount.is_none_or(|amount| amount == refund.amount))
    {
        candidates.push(Answer::new(
            &refund.payment_id,
            refund.amount,
            made,
            state.clock.now(),
        )?);
    }
    let (row, payment) = (refund.id, refund.payment);
    let matched = async move |tx: &mut Tx| {
        let kept = store::refunds_of(tx, payment).await?;
        let is_free = |answer: &&Answer| {
            kept.iter()
                .all(|other| other.provider_id.as_deref() != Some(&answer.id))
        };
        match candidates.iter().find(is_free) {
            Some(answer) => answer.store(tx, row).await,
            None => Ok(false),
        }
    };
    if !state.db.write::<_, db::Error, _>(matched).await? {
        return Ok(false);
    }
    match state
        .provider
        .read(&refund.payment_id, new_key(state))
        .await
    {
        Ok(payment) => {
            settle_word(
                state,
                &refund.payment_id,
                Word::from(&payment),
                Source::Refund,
            )
            .await?;
        }
        Err(failure) => {
            tracing::warn!(payment = refund.payment_id, %failure, "a refunded payment could not be read back")
        }
    }
    Ok(true)
}

/// The payment after a refund that was made: as the provider tells it, or by our own books when it does not answer.
async fn record(state: &State, id: &str, run: &Run, amount: Money) -> Result<(), RefundError> {
    let word = match state.provider.read(id, new_key(state)).await {
        Ok(payment) => Word::from(&payment),
        Err(failure) => {
            tracing::warn!(payment = id, %failure, "a refunded payment could not be read back");
            let payment = read::find(state, id).await?.ok_or(RefundError::NotFound)?;
            reckoned(&payment, run.before, amount)
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
        refunded,
    }
}

async fn give_up(state: &State, run: &Run, failure: &Failure) -> Result<(), db::Error> {
    let (row, lease) = (run.id, run.lease.clone());
    if failure.is_final() {
        let (status, detail) = failure.answer();
        let status = i64::from(status.as_u16());
        return state
            .db
            .write(async move |tx| {
                store::finish_refund(tx, row, AttemptStep::Refused, None, (status, Some(&detail)))
                    .await
            })
            .await
            .map(drop);
    }
    let may_be_made = run.was_sent || failure.is_unknown();
    let step = if may_be_made {
        AttemptStep::Sending
    } else {
        AttemptStep::Started
    };
    let check_at = may_be_made.then(|| state.clock.now() + crate::reconcile::FIRST_WAIT);
    let release =
        async move |tx: &mut Tx| store::release_refund(tx, row, &lease, step, check_at).await;
    state.db.write(release).await?;
    state.wake_reconciler();
    Ok(())
}

fn replay(refund: Refund) -> Result<Refunded, RefundError> {
    let response = refund.response.unwrap_or_default();
    if refund.step == AttemptStep::Finished {
        return Ok(Refunded {
            body: response,
            replayed: true,
        });
    }
    let status = refund
        .response_status
        .and_then(|status| u16::try_from(status).ok())
        .unwrap_or(502);
    Err(RefundError::Repeated {
        status,
        detail: response,
    })
}

fn fingerprint(state: &State, asked: Option<Money>) -> String {
    let asked = asked.map(|amount| amount.to_string()).unwrap_or_default();
    digest::token(digest::keyed(
        &state.config.secret,
        &[b"refund", asked.as_bytes()],
    ))
}
