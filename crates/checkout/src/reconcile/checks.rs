//! The checks that are due: attempts of unknown outcome, unfinished refunds, and open payments.
//! Each check counts against the quota and is claimed before the call to the provider, so that only
//! one of several processes makes the call.

use std::collections::HashSet;
use std::time::Duration;

use db::{Conn, Timestamp, Tx};

use super::{Finding, Report};
use crate::attempts::{self, Attempt, Instruction, ReportOutcome, next_check, store};
use crate::payments::store::{due_payments, postpone_payment};
use crate::payments::{AttemptStep, DueQuery, Source, StoredPayment};
use crate::provider::{Failure, Purpose};
use crate::state::State;

/// Rows of one batch.
const BATCH: i64 = 50;

/// The table of a check.
#[derive(Debug, Clone, Copy)]
enum Queue {
    Attempts,
    Payments,
}

/// A row that must be checked at the provider.
enum DueCheck {
    Attempt(Box<Attempt>),
    Payment(StoredPayment),
}

/// Checks everything that is due by `until`. Returns false if the quota ended the work.
pub(super) async fn check_due(
    state: &State,
    until: Timestamp,
    report: &mut Report,
) -> Result<bool, db::Error> {
    for queue in [Queue::Attempts, Queue::Payments] {
        let mut after = (Timestamp::from_micros(0), 0);
        // A checked attempt gets a later due time and appears again in this order.
        let mut seen = HashSet::new();
        loop {
            let checks = due(state, queue, until, after).await?;
            let Some(last) = checks.last() else { break };
            after = last.position(until);
            for check in checks {
                if !seen.insert(check.position(until).1) {
                    continue;
                }
                let Some(finding) = run_check(state, &check).await? else {
                    continue;
                };
                let is_quota = matches!(finding, Finding::Quota(_));
                report.push(check.name(), finding);
                if is_quota {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

async fn due(
    state: &State,
    queue: Queue,
    until: Timestamp,
    after: (Timestamp, i64),
) -> Result<Vec<DueCheck>, db::Error> {
    let due = DueQuery {
        until,
        after,
        limit: BATCH,
    };
    Ok(match queue {
        Queue::Attempts => {
            let now = state.clock.now();
            let due = async move |conn: &mut Conn| store::due_attempts(conn, now, &due).await;
            let attempts = state.db.read::<_, db::Error, _>(due).await?;
            let checks = attempts.into_iter().map(Box::new);
            checks.map(DueCheck::Attempt).collect()
        }
        Queue::Payments => {
            let due = async move |conn: &mut Conn| due_payments(conn, &due).await;
            let payments = state.db.read::<_, db::Error, _>(due).await?;
            payments.into_iter().map(DueCheck::Payment).collect()
        }
    })
}

impl DueCheck {
    /// Its position in the order of due time and row id.
    fn position(&self, until: Timestamp) -> (Timestamp, i64) {
        let (check_at, row) = match self {
            Self::Attempt(attempt) => (attempt.check_at, attempt.id),
            Self::Payment(stored) => (stored.check_at, stored.row),
        };
        (check_at.unwrap_or(until), row)
    }

    fn name(&self) -> &str {
        match self {
            Self::Attempt(attempt) => attempt.instruction.name(),
            Self::Payment(stored) => &stored.id,
        }
    }

    /// The number of calls that the check needs.
    fn calls(&self) -> u32 {
        match self {
            // The list of refunds, and the payment after it.
            Self::Attempt(attempt) if matches!(attempt.instruction, Instruction::Refund(_)) => 2,
            Self::Attempt(_) | Self::Payment(_) => 1,
        }
    }

    /// Whether there is anything to check. An attempt whose run died before it sent anything has
    /// nothing.
    fn is_open(&self) -> bool {
        match self {
            Self::Attempt(attempt) => {
                matches!(attempt.step, AttemptStep::Sending | AttemptStep::Finished)
            }
            Self::Payment(_) => true,
        }
    }
}

/// Checks one row. Returns `None` if there is nothing to check or another process checks it.
async fn run_check(state: &State, check: &DueCheck) -> Result<Option<Finding>, db::Error> {
    if check.is_open()
        && let Err(Failure::Quota { retry_after }) = state
            .provider
            .reserve(check.calls(), Purpose::Background)
            .await
    {
        return Ok(Some(Finding::Quota(retry_after)));
    }
    match check {
        DueCheck::Payment(stored) => check_payment(state, stored).await,
        DueCheck::Attempt(attempt) => {
            let Some(seen) = attempt.check_at else {
                return Ok(None);
            };
            let next = state.clock.now() + wait(attempt.checks);
            let next = check.is_open().then_some(next);
            let id = attempt.id;
            let claim = async move |tx: &mut Tx| store::postpone_attempt(tx, id, seen, next).await;
            let is_ours = state.db.write::<_, db::Error, _>(claim).await?;
            match next.filter(|_| is_ours) {
                Some(next) => check_attempt(state, attempt, next).await.map(Some),
                None => Ok(None),
            }
        }
    }
}

/// Reads the outcome of an attempt and records it. `next` is the due time that was set when the
/// check was claimed.
async fn check_attempt(
    state: &State,
    attempt: &Attempt,
    next: Timestamp,
) -> Result<Finding, db::Error> {
    // The time before the call: a response proves the absence only of what should have been visible
    // when it was requested.
    let (id, now) = (attempt.id, state.clock.cautious());
    let finding = match &attempt.instruction {
        Instruction::Payment(instruction) => {
            find_payment(state, attempt, &instruction.reference).await?
        }
        Instruction::Refund(instruction) => {
            find_refund(state, attempt, &instruction.payment_id, next).await?
        }
    };
    if attempt.step != AttemptStep::Sending {
        return Ok(finding);
    }
    let is_certain = attempts::is_certain(attempt.sent_at.unwrap_or(attempt.created_at), now);
    if finding == Finding::NotFound && is_certain {
        // If a run has acquired the attempt since, that run records the outcome.
        let closed_at = state.clock.now();
        let close = async move |tx: &mut Tx| store::close_attempt(tx, id, next, closed_at).await;
        let is_closed = state.db.write::<_, db::Error, _>(close).await?;
        return Ok(if is_closed {
            match attempt.instruction {
                Instruction::Payment(_) => Finding::Closed,
                Instruction::Refund(_) => Finding::RefundClosed,
            }
        } else {
            finding
        });
    }
    if let Some(answer) = finding.as_answer() {
        if is_certain {
            tracing::warn!(
                kind = attempt.instruction.kind(),
                reference = attempt.instruction.name(),
                amount = %attempt.instruction.amount(),
                hours = now.since(attempt.created_at).as_secs() / 3600,
                answer,
                "reconciler: an outcome is still unknown, it is checked every hour: look for the reference at the provider"
            );
        }
        let answer = answer.to_owned();
        let record = async move |tx: &mut Tx| store::update_answer(tx, id, next, &answer).await;
        state.db.write::<_, db::Error, _>(record).await?;
    }
    Ok(finding)
}

async fn find_payment(
    state: &State,
    attempt: &Attempt,
    reference: &str,
) -> Result<Finding, db::Error> {
    let found = state.provider.find_by_reference(reference).await;
    let payment = match found.map(|payments| payments.into_iter().next()) {
        Ok(Some(payment)) => payment,
        Ok(None) => return Ok(Finding::NotFound),
        Err(failure) => return Ok(Finding::Failed(failure.to_string())),
    };
    Ok(
        match attempts::complete(state, attempt, &payment, Source::Reconciler).await? {
            ReportOutcome::Completed => Finding::Found,
            ReportOutcome::Contradiction(reason) => Finding::Failed(reason.to_owned()),
            _ => Finding::Failed("unknown status".to_owned()),
        },
    )
}

async fn find_refund(
    state: &State,
    attempt: &Attempt,
    payment: &str,
    next: Timestamp,
) -> Result<Finding, db::Error> {
    let requested_at = state.clock.cautious();
    let listed = match state.provider.refunds(payment).await {
        Ok(listed) => listed,
        Err(failure) => return Ok(Finding::Failed(failure.to_string())),
    };
    attempts::check_refund(state, attempt, &listed, requested_at, next).await
}

/// Reads an open payment, in case a notification was lost. Returns `None` if another process checks
/// it.
async fn check_payment(
    state: &State,
    stored: &StoredPayment,
) -> Result<Option<Finding>, db::Error> {
    let next = next_check(stored.snapshot.state, stored.checks + 1, state.clock.now());
    let (row, seen) = (stored.row, stored.check_at);
    let claim = async move |tx: &mut Tx| postpone_payment(tx, row, seen, next).await;
    if !state.db.write::<_, db::Error, _>(claim).await? {
        return Ok(None);
    }
    let payment = match state.provider.read(&stored.id).await {
        Ok(payment) => payment,
        Err(failure) => return Ok(Some(Finding::Failed(failure.to_string()))),
    };
    let recorded = attempts::record(state, &payment, Source::Reconciler).await?;
    Ok(Finding::of(recorded))
}

impl Finding {
    /// The finding for a report. `None` if nothing was recorded.
    pub(super) const fn of(recorded: ReportOutcome) -> Option<Self> {
        match recorded {
            ReportOutcome::Moved { state, .. } => Some(Self::Moved(state)),
            ReportOutcome::Same(state) => Some(Self::Same(state)),
            ReportOutcome::Refused(state) => Some(Self::Refused(state)),
            ReportOutcome::Completed => Some(Self::Found),
            ReportOutcome::NotOurs | ReportOutcome::Busy | ReportOutcome::Contradiction(_) => None,
        }
    }

    /// The text that is stored as the provider's last answer while the outcome stays unknown.
    fn as_answer(&self) -> Option<&str> {
        match self {
            Self::NotFound => Some("not known to the provider yet"),
            Self::Failed(cause) => Some(cause),
            _ => None,
        }
    }
}

/// 10, 20, 40, … seconds, at most an hour.
fn wait(checks: i64) -> Duration {
    delivery::backoff(
        Duration::from_secs(10),
        checks,
        Duration::from_secs(60 * 60),
    )
}
