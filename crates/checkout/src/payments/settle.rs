//! Recording what the provider says of a payment, new or known. All ways by which we hear from the provider end here, so that the state
//! machine is asked in one place.

use std::time::Duration;

use db::{Timestamp, Tx};

use super::model::{Intent, Payment, StatusSnapshot, Word};
use super::news;
use super::shape::PaymentBody;
use super::state::{PaymentState, Refusal, StepKind, Transitions};
use super::store::{self, AttemptStep, Finish, Source, StoredPayment};
use crate::app::State;
use crate::orders::{self, PaymentNews};
use crate::provider::ProviderPayment;

/// An attempt whose payment the provider has made.
#[derive(Debug, Clone)]
pub(crate) struct CompletedAttempt {
    /// The attempt's row.
    pub(crate) attempt: i64,
    /// Our `external_reference`.
    pub(crate) reference: String,
    /// The row of the order that it pays.
    pub(crate) order_id: Option<i64>,
    /// What was asked for.
    pub(crate) intent: Intent,
    /// The end that the attempt was thought to have come to, when this is news that corrects it.
    pub(crate) corrects: Option<AttemptStep>,
}

/// Why a payment that the provider made could not be recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettleError {
    /// Its status is none we know: it is asked for again later.
    #[error(transparent)]
    Word(#[from] Refusal),
    #[error(transparent)]
    Database(#[from] db::Error),
    #[error("a payment could not be written as JSON")]
    Shape(#[from] serde_json::Error),
    /// The provider gave one id to two of our references, or made two payments by one of them.
    #[error("the provider's id and our reference belong to two payments")]
    Mixed,
    /// It is of another amount than was asked for.
    #[error("its amount is not the one that was asked for")]
    Amount,
}

/// What became of a word on a known payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// The state moved.
    Moved {
        /// Where to.
        state: PaymentState,
        /// Was it a cancellation under review, which the table does not have?
        exceptional: bool,
    },
    /// Nothing but perhaps details changed.
    Same(PaymentState),
    /// The word was refused and kept in the history.
    Refused(PaymentState),
    /// The payment is none of ours.
    Unknown,
}

/// How often an open payment is asked for: a minute after its creation, then ever less, at most every six hours.
pub(crate) fn next_check(state: PaymentState, checks: i64, now: Timestamp) -> Option<Timestamp> {
    let exponent = u32::try_from(checks.clamp(0, 9)).unwrap_or(9);
    let wait = Duration::from_secs(60 * 2u64.pow(exponent)).min(Duration::from_secs(6 * 60 * 60));
    state.is_open().then(|| now + wait)
}

/// Records a payment that the provider has made, ends its attempt and answers the exact body of the creation.
pub(crate) async fn settle_made(
    state: &State,
    completed: CompletedAttempt,
    payment: &ProviderPayment,
    source: Source,
) -> Result<(Payment, String), SettleError> {
    let now = state.clock.now();
    if payment.amount != completed.intent.amount {
        // Neither paid nor unpaid: a shop that hands over goods for "approved" must not do so for a cent.
        tracing::error!(
            payment = payment.id,
            reference = completed.reference,
            asked = %completed.intent.amount,
            made = %payment.amount,
            "the provider made a payment of another amount than was asked for: look at it there; it is not taken for the one asked for"
        );
        return Err(SettleError::Amount);
    }
    let (new, steps) = Payment::new(&completed.intent, &completed.reference, payment, now)?;
    let body = PaymentBody::to_text(&new)?;
    let word = Word::from(payment);
    let corrects = completed.corrects;
    let record = Record {
        completed,
        payment: new.clone(),
        steps,
        word,
        body,
        source,
        state: state.clone(),
        now,
    };
    let written = state
        .db
        .write::<_, SettleError, _>(async move |tx| record.write(tx).await)
        .await;
    if matches!(written, Err(SettleError::Mixed)) {
        tracing::error!(
            payment = new.id,
            reference = new.reference,
            "the provider's id and our reference belong to two payments: look at both there, one may be a second charge"
        );
    }
    let body = written?;
    if let Some(thought) = corrects {
        tracing::warn!(
            payment = new.id,
            reference = new.reference,
            thought = thought.as_str(),
            "the provider made a payment of an attempt that was thought to have made none; it is recorded now: \
             its buyer may have been told that nothing was charged"
        );
        state.metrics.attempt_corrected();
    }
    state.metrics.payment_created(new.method, new.state);
    state.hub.publish(&new.id, new.state, &new.status_detail);
    state.wake_deliveries();
    Ok((new, body))
}

/// All that the second transaction of a creation writes.
struct Record {
    completed: CompletedAttempt,
    payment: Payment,
    steps: Transitions,
    word: Word,
    body: String,
    source: Source,
    state: State,
    now: Timestamp,
}

impl Record {
    /// The body to answer: that of an earlier run, if one has ended the attempt in the meantime.
    async fn write(&self, tx: &mut Tx) -> Result<String, SettleError> {
        let check_at = next_check(self.payment.state, 0, self.now);
        let Some(row) = store::insert_payment(tx, &self.payment, self.now, check_at).await? else {
            let row = self.write_known(tx).await?;
            return self.finish(tx, row).await;
        };
        if let Some(thought) = self.completed.corrects {
            let status = &self.word.status;
            store::insert_correction(tx, row, thought, status, self.source, self.now).await?;
        }
        store::insert_steps(tx, row, &self.steps, &self.word, self.source, self.now).await?;
        let order = match self.completed.order_id {
            Some(order) => Some(orders::lock(tx, order).await?),
            None => None,
        };
        // News of the order show its payments, which it knows by their attempts.
        let body = self.finish(tx, row).await?;
        let payment = (row, &self.payment);
        news::tell_of_new(tx, &self.state, payment, order.as_ref(), self.now).await?;
        if let Some(order) = &order {
            let news = PaymentNews {
                payment: row,
                state: self.payment.state,
                steps: &self.steps,
                refunds_overpayment: self.state.config.refund_overpayment,
            };
            orders::follow(tx, order, news, self.now).await?;
        }
        Ok(body)
    }

    /// Ends the attempt with the payment in `row`.
    async fn finish(&self, tx: &mut Tx, row: i64) -> Result<String, SettleError> {
        let finish = Finish {
            id: self.completed.attempt,
            payment: row,
            refund: None,
            response: self.body.clone(),
            check_at: None,
            now: self.now,
        };
        if store::finish_attempt(tx, &finish).await? {
            return Ok(self.body.clone());
        }
        let ended = store::find_attempt_by_reference(tx, &self.completed.reference).await?;
        Ok(ended
            .and_then(|attempt| attempt.response)
            .unwrap_or_else(|| self.body.clone()))
    }

    /// The payment was recorded by another run in the meantime: this word is one more on a known payment.
    async fn write_known(&self, tx: &mut Tx) -> Result<i64, SettleError> {
        let known = store::find_stored(tx, &self.payment.id).await?;
        let known = known
            .filter(|known| known.reference == self.payment.reference)
            .ok_or(SettleError::Mixed)?;
        let record = WordRecord {
            word: &self.word,
            source: self.source,
            state: &self.state,
            now: self.now,
        };
        record.write(tx, &known).await?;
        Ok(known.row)
    }
}

/// Records the provider's word on a payment that is known by the provider's id.
pub(crate) async fn settle_word(
    state: &State,
    id: &str,
    word: Word,
    source: Source,
) -> Result<Recorded, db::Error> {
    let now = state.clock.now();
    let (id, detail) = (id.to_owned(), word.status_detail.clone());
    let (key, shared) = (id.clone(), state.clone());
    let recorded = state
        .db
        .write(async move |tx| match store::find_stored(tx, &key).await? {
            Some(known) => {
                let record = WordRecord {
                    word: &word,
                    source,
                    state: &shared,
                    now,
                };
                record.write(tx, &known).await
            }
            None => Ok(Recorded::Unknown),
        })
        .await?;
    state.metrics.word_recorded(recorded);
    match recorded {
        Recorded::Moved { state: moved, .. } | Recorded::Same(moved) => {
            state.hub.publish(&id, moved, &detail);
        }
        Recorded::Refused(_) => tracing::warn!(
            payment = id,
            "the provider reported a move backwards or another amount; it was refused"
        ),
        Recorded::Unknown => return Ok(recorded),
    }
    state.wake_deliveries();
    Ok(recorded)
}

/// The provider's word on a known payment, as it is written.
struct WordRecord<'a> {
    word: &'a Word,
    source: Source,
    state: &'a State,
    now: Timestamp,
}

impl WordRecord<'_> {
    /// Writes the word over the snapshot that it is judged by; another writer in between makes it judged again.
    async fn write(&self, tx: &mut Tx, known: &StoredPayment) -> Result<Recorded, db::Error> {
        let (word, now) = (self.word, self.now);
        if word.amount != known.amount {
            return self.refuse(tx, known).await;
        }
        let mut known = known.clone();
        loop {
            let Ok((next, steps)) = known.snapshot.after(word, now) else {
                return self.refuse(tx, &known).await;
            };
            let recorded = outcome(&next, &steps);
            if next == known.snapshot {
                return Ok(recorded);
            }
            let check_at = next_check(next.state, known.checks, now);
            if store::update_snapshot(tx, &known, &next, check_at, now).await? {
                store::insert_steps(tx, known.row, &steps, word, self.source, now).await?;
                self.publish(tx, &known, &next, &steps).await?;
                return Ok(recorded);
            }
            // The row that was written in between is the newest: each turn of the loop sees a later version.
            let again = store::find_stored(tx, &known.id).await?;
            known = again.ok_or_else(|| db::Error::other("a payment vanished"))?;
        }
    }

    /// Publishes the change, and lets the payment's order follow.
    async fn publish(
        &self,
        tx: &mut Tx,
        known: &StoredPayment,
        next: &StatusSnapshot,
        steps: &Transitions,
    ) -> Result<(), db::Error> {
        let order = orders::lock_of_payment(tx, known.row).await?;
        let change = (&known.snapshot, next);
        let (state, now) = (self.state, self.now);
        news::tell_of_change(tx, state, (known.row, change), order.as_ref(), now).await?;
        let Some(order) = order else { return Ok(()) };
        let news = PaymentNews {
            payment: known.row,
            state: next.state,
            steps,
            refunds_overpayment: state.config.refund_overpayment,
        };
        orders::follow(tx, &order, news, now).await
    }

    /// Keeps a refused word in the history, once for as long as nothing else is said.
    async fn refuse(&self, tx: &mut Tx, known: &StoredPayment) -> Result<Recorded, db::Error> {
        let state = known.snapshot.state;
        let is_told = store::last_entry(tx, known.row)
            .await?
            .is_some_and(|(kind, status)| kind == "refused" && status == self.word.status);
        if !is_told {
            store::insert_refusal(tx, known.row, state, self.word, self.source, self.now).await?;
            let is_approval = PaymentState::from_provider(&self.word.status)
                == Some(PaymentState::Approved)
                && self.word.amount == known.amount;
            if state == PaymentState::Cancelled && is_approval {
                orders::follow_refused_approval(tx, known.row, self.now).await?;
            }
        }
        Ok(Recorded::Refused(state))
    }
}

fn outcome(next: &StatusSnapshot, steps: &Transitions) -> Recorded {
    if steps.is_empty() {
        return Recorded::Same(next.state);
    }
    let exceptional = steps.iter().any(|step| step.kind == StepKind::Exceptional);
    Recorded::Moved {
        state: next.state,
        exceptional,
    }
}
