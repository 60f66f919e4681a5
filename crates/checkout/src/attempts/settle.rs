//! Records the provider's report of a payment, new or stored. Every report passes through this
//! module, so the state machine is applied in one place.

use std::time::Duration;

use db::{Money, Timestamp, Tx};

use super::events;
use super::model::Attempt;
use super::store::{self as attempts, Finish};
use crate::json::to_text;
use crate::orders;
use crate::payments::store;
use crate::payments::{
    self, AttemptStep, Payment, PaymentBody, PaymentState, Source, StatusReport, StatusSnapshot,
    StoredPayment, TransitionError, TransitionKind, Transitions,
};
use crate::provider::ProviderPayment;
use crate::state::State;

/// Why a payment that the provider made could not be recorded.
#[derive(Debug, thiserror::Error)]
pub(super) enum SettleError {
    /// The status is unknown to this version. The payment is read again later.
    #[error(transparent)]
    Status(#[from] TransitionError),
    /// The payment cannot be the result of the attempt, for this reason.
    #[error("{0}")]
    Contradiction(&'static str),
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// The payment has another amount than requested.
const OTHER_AMOUNT: &str = "its amount is not the one asked for";
/// Two of our references have the same provider id, or one reference has two provider payments.
const OTHER_PAYMENT: &str = "its id is another payment's";

/// The result of a report of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportOutcome {
    Moved {
        state: PaymentState,
        /// Whether this was a cancellation under review, which the state table does not have.
        exceptional: bool,
    },
    /// The state did not change; details may have.
    Same(PaymentState),
    /// The report was refused and recorded in the history.
    Refused(PaymentState),
    /// This service did not create the payment.
    NotOurs,
    /// The report completed an attempt whose response was lost.
    Completed,
    /// The attempt's lease is still held, or the payment's status is unknown. The payment is read
    /// again later.
    Busy,
    /// The report contradicts the attempt that it belongs to, for this reason. The attempt stays
    /// open.
    Contradiction(&'static str),
}

/// When an open payment is checked next: a minute after its creation, then after waits that double
/// up to six hours.
pub(crate) fn next_check(state: PaymentState, checks: i64, now: Timestamp) -> Option<Timestamp> {
    let (first, most) = (Duration::from_secs(60), Duration::from_secs(6 * 60 * 60));
    let wait = delivery::backoff(first, checks, most);
    state.is_open().then(|| now + wait)
}

/// Records a payment that the provider has made and ends its attempt, also if the attempt was
/// recorded as ended without a payment. Returns the exact response body of the creation.
pub(super) async fn settle_payment(
    state: &State,
    attempt: &Attempt,
    payment: &ProviderPayment,
    source: Source,
) -> Result<(Payment, String), SettleError> {
    let now = state.clock.now();
    let instruction = attempt.payment_instruction()?;
    let (intent, reference) = (&instruction.intent, &instruction.reference);
    if payment.amount != intent.amount {
        // The attempt counts neither as paid nor as unpaid. A shop that ships on "approved" must
        // not do so for a wrong amount.
        tracing::error!(
            payment = payment.id,
            reference,
            requested = %intent.amount,
            made = %payment.amount,
            "payments: the provider made a payment of another amount than requested; it is not recorded, its attempt stays open: look at the payment there"
        );
        return Err(SettleError::Contradiction(OTHER_AMOUNT));
    }
    let (new, transitions) = Payment::new(
        intent,
        instruction.terms.boleto_method.as_deref(),
        reference,
        payment,
        now,
    )?;
    let body = to_text(&PaymentBody::new(&new))?;
    let corrects = attempt.step.had_no_effect().then_some(attempt.step);
    let record = PaymentRecord {
        order: instruction.order_id,
        attempt: attempt.id,
        corrects,
        payment: new.clone(),
        transitions,
        body,
        record: ReportRecord::new(state, StatusReport::from(payment), source, now),
    };
    let written = state
        .db
        .write::<_, SettleError, _>(async move |tx| record.write(tx).await)
        .await;
    if matches!(written, Err(SettleError::Contradiction(OTHER_PAYMENT))) {
        tracing::error!(
            payment = new.id,
            reference = new.reference,
            "payments: the provider's id and our reference belong to two payments: look at both there, one may be a second charge"
        );
    }
    let body = written?;
    if let Some(thought) = corrects {
        tracing::warn!(
            payment = new.id,
            reference = new.reference,
            thought = thought.name(),
            "payments: the provider made a payment that was recorded as not made; it is recorded now. \
             Its buyer may have been told that nothing was charged: check for a second payment"
        );
        state.metrics.corrected.inc();
    }
    state.metrics.payment(new.method, Ok(new.state));
    state
        .statuses
        .publish(&new.id, new.state, &new.status_detail);
    state.wake_deliveries();
    Ok((new, body))
}

/// Everything that the second transaction of a creation writes.
struct PaymentRecord {
    attempt: i64,
    /// The row of the order that it pays.
    order: Option<i64>,
    /// The wrong end that was recorded for the attempt, if this corrects one.
    corrects: Option<AttemptStep>,
    payment: Payment,
    transitions: Transitions,
    body: String,
    record: ReportRecord,
}

impl PaymentRecord {
    /// Returns the response body. If another run has ended the attempt in the meantime, it is the
    /// body that run stored.
    async fn write(&self, tx: &mut Tx) -> Result<String, SettleError> {
        let (payment, transitions, record) = (&self.payment, &self.transitions, &self.record);
        let (report, source, now) = (&record.report, record.source, record.now);
        let check_at = next_check(payment.state, 0, now);
        let Some(row) = store::insert_payment(tx, payment, now, check_at).await? else {
            let row = self.write_stored(tx).await?;
            return self.finish(tx, row).await;
        };
        if let Some(thought) = self.corrects {
            store::insert_correction(tx, row, thought, &report.status, source, now).await?;
        }
        store::insert_steps(tx, row, transitions, report, source, now).await?;
        let order = match self.order {
            Some(order) => Some(orders::lock(tx, order).await?),
            None => None,
        };
        // The events show the order's payments, which are found through the attempts. So the
        // attempt ends first.
        let body = self.finish(tx, row).await?;
        let (config, change) = (&record.state.config, (transitions, Money::ZERO));
        events::publish_change(tx, config, (row, payment), change, order.as_ref(), now).await?;
        Ok(body)
    }

    /// Ends the attempt with the payment in `row`.
    async fn finish(&self, tx: &mut Tx, row: i64) -> Result<String, SettleError> {
        let finish = Finish {
            id: self.attempt,
            payment: row,
            refund: None,
            response: self.body.clone(),
            check_at: None,
            now: self.record.now,
        };
        if attempts::finish_attempt(tx, &finish).await? {
            return Ok(self.body.clone());
        }
        let ended = attempts::find_attempt_by_reference(tx, &self.payment.reference).await?;
        Ok(ended
            .and_then(|attempt| attempt.response)
            .unwrap_or_else(|| self.body.clone()))
    }

    /// Another run has recorded the payment in the meantime. This is one more report of it.
    async fn write_stored(&self, tx: &mut Tx) -> Result<i64, SettleError> {
        let stored = store::find_stored(tx, &self.payment.id).await?;
        let stored = stored
            .filter(|stored| stored.reference == self.payment.reference)
            .ok_or(SettleError::Contradiction(OTHER_PAYMENT))?;
        self.record.write(tx, &stored).await?;
        Ok(stored.row)
    }
}

/// Records the provider's report of the stored payment with this id.
pub(super) async fn settle_report(
    state: &State,
    id: &str,
    report: StatusReport,
    source: Source,
) -> Result<ReportOutcome, db::Error> {
    let (key, detail) = (id.to_owned(), report.status_detail.clone());
    let record = ReportRecord::new(state, report, source, state.clock.now());
    let recorded = state
        .db
        .write(async move |tx| match store::find_stored(tx, &key).await? {
            Some(stored) => record.write(tx, &stored).await,
            None => Ok(ReportOutcome::NotOurs),
        })
        .await?;
    match recorded {
        ReportOutcome::Moved {
            state: current,
            exceptional,
        } => {
            if exceptional {
                state.metrics.exceptional_moves.inc();
            }
            state.statuses.publish(id, current, &detail);
        }
        ReportOutcome::Same(current) => state.statuses.publish(id, current, &detail),
        ReportOutcome::Refused(_) => {
            state.metrics.refused_moves.inc();
            tracing::warn!(
                payment = id,
                "payments: the provider reported another amount, another reference, or a state that cannot follow the stored one; the report was refused: compare the payment there"
            );
        }
        _ => return Ok(recorded),
    }
    state.wake_deliveries();
    Ok(recorded)
}

impl StatusReport {
    fn is_about(&self, stored: &StoredPayment) -> bool {
        let reference = self.reference.as_ref();
        self.amount == stored.amount && reference.is_none_or(|own| *own == stored.reference)
    }
}

/// A report of a payment, to be written.
struct ReportRecord {
    report: StatusReport,
    source: Source,
    state: State,
    now: Timestamp,
}

impl ReportRecord {
    fn new(state: &State, report: StatusReport, source: Source, now: Timestamp) -> Self {
        let state = state.clone();
        Self {
            report,
            source,
            state,
            now,
        }
    }

    /// Writes the report if the stored snapshot is still the one that it was judged by. If another
    /// transaction changed the row, the report is judged again.
    async fn write(&self, tx: &mut Tx, stored: &StoredPayment) -> Result<ReportOutcome, db::Error> {
        let (report, now) = (&self.report, self.now);
        if !report.is_about(stored) {
            return self.refuse(tx, stored).await;
        }
        let mut stored = stored.clone();
        loop {
            let Ok((next, transitions)) = stored.snapshot.after(report, now) else {
                return self.refuse(tx, &stored).await;
            };
            let recorded = outcome(&next, &transitions);
            if next == stored.snapshot {
                return Ok(recorded);
            }
            let check_at = next_check(next.state, stored.checks, now);
            if store::update_snapshot(tx, &stored, &next, check_at, now).await? {
                store::insert_steps(tx, stored.row, &transitions, report, self.source, now).await?;
                self.publish(tx, &stored, &transitions).await?;
                return Ok(recorded);
            }
            // Each iteration sees a later version of the row, so the loop ends.
            let again = store::find_stored(tx, &stored.id).await?;
            stored = again.ok_or_else(|| db::Error::other("a payment vanished"))?;
        }
    }

    /// Publishes the change, and updates the payment's order. An order that the shop cancels is
    /// canceled here, because a buyer's page reads the order as soon as its payment is cancelled.
    async fn publish(
        &self,
        tx: &mut Tx,
        stored: &StoredPayment,
        transitions: &Transitions,
    ) -> Result<(), db::Error> {
        let order = orders::lock_of_payment(tx, stored.row).await?;
        let payment = payments::find_by_row(tx, stored.row).await?;
        let payment = payment.ok_or_else(|| db::Error::other("a payment vanished"))?;
        let (payment, change) = (
            (stored.row, &payment),
            (transitions, stored.snapshot.refunded),
        );
        let (config, now) = (&self.state.config, self.now);
        events::publish_change(tx, config, payment, change, order.as_ref(), now).await?;
        if let Some(order) = order
            && self.source == Source::OrderCancellation
            && payment.1.state == PaymentState::Cancelled
        {
            orders::cancel_locked(tx, &order, now).await?;
        }
        Ok(())
    }

    /// Records a refused report in the history, unless it repeats the last entry.
    async fn refuse(
        &self,
        tx: &mut Tx,
        stored: &StoredPayment,
    ) -> Result<ReportOutcome, db::Error> {
        let state = stored.snapshot.state;
        let is_recorded = store::last_entry(tx, stored.row)
            .await?
            .is_some_and(|(kind, status)| kind == "refused" && status == self.report.status);
        if !is_recorded {
            store::insert_refusal(tx, stored.row, state, &self.report, self.source, self.now)
                .await?;
        }
        let is_approval = PaymentState::from_provider(&self.report.status)
            == Some(PaymentState::Approved)
            && self.report.is_about(stored);
        if state == PaymentState::Cancelled && is_approval {
            orders::follow_refused_approval(tx, stored.row, self.now).await?;
        }
        Ok(ReportOutcome::Refused(state))
    }
}

fn outcome(next: &StatusSnapshot, transitions: &Transitions) -> ReportOutcome {
    if transitions.is_empty() {
        return ReportOutcome::Same(next.state);
    }
    let exceptional = transitions
        .iter()
        .any(|step| step.kind == TransitionKind::Exceptional);
    ReportOutcome::Moved {
        state: next.state,
        exceptional,
    }
}
