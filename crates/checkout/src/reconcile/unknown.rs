//! Payments whose creation was sent and never answered: the provider is asked by our reference.

use db::Timestamp;

use super::{CERTAIN_AFTER, Finding, Line, Report, first, wait};
use crate::app::State;
use crate::payments::{self, Adopted, Attempt, AttemptStep, Source};
use crate::provider::{Failure, Purpose};

/// False when the quota ended the work.
pub(super) async fn check(
    state: &State,
    until: Timestamp,
    report: &mut Report,
) -> Result<bool, db::Error> {
    let mut due = first(until);
    loop {
        let attempts = payments::due_attempts(state, due).await?;
        let Some(last) = attempts.last() else {
            return Ok(true);
        };
        due.after = (last.check_at.unwrap_or(until), last.id);
        for attempt in attempts {
            let name = attempt.reference.clone();
            let Some(finding) = ask(state, attempt).await? else {
                continue;
            };
            let is_quota = matches!(finding, Finding::Quota(_));
            report.lines.push(Line {
                payment: name,
                finding,
            });
            if is_quota {
                return Ok(false);
            }
        }
    }
}

/// None when there is nothing to ask, or another process asks.
async fn ask(state: &State, attempt: Attempt) -> Result<Option<Finding>, db::Error> {
    let Some(seen) = attempt.check_at else {
        return Ok(None);
    };
    if attempt.step == AttemptStep::Started {
        // A run died before it sent anything: a repetition may go on, nothing is to be asked.
        payments::postpone_attempt(state, &attempt, seen, AttemptStep::Started, None).await?;
        return Ok(None);
    }
    if let Err(Failure::Quota { retry_after }) =
        state.provider.reserve(1, Purpose::Background).await
    {
        return Ok(Some(Finding::Quota(retry_after)));
    }
    let now = state.clock.now();
    let next = now + wait(attempt.checks);
    if !payments::postpone_attempt(state, &attempt, seen, AttemptStep::Sending, Some(next)).await? {
        return Ok(None);
    }
    let reference = payments::reference(&attempt.reference)?;
    let found = state
        .provider
        .find_by_reference(&reference, payments::new_key(state))
        .await;
    match found.map(|payments| payments.into_iter().next()) {
        Ok(Some(payment)) => {
            let adopted = payments::complete(state, attempt, &payment, Source::Reconciler).await?;
            Ok(Some(match adopted {
                Adopted::Made => Finding::Found,
                Adopted::Contradiction(reason) => Finding::Failed(reason.to_owned()),
                Adopted::Busy | Adopted::Recorded(_) => {
                    Finding::Failed("unknown status".to_owned())
                }
            }))
        }
        Ok(None) => none_found(state, attempt, next, now).await.map(Some),
        Err(failure) => Ok(Some(Finding::Failed(failure.to_string()))),
    }
}

async fn none_found(
    state: &State,
    attempt: Attempt,
    next: Timestamp,
    now: Timestamp,
) -> Result<Finding, db::Error> {
    let sent_at = attempt.sent_at.unwrap_or(attempt.created_at);
    if now < sent_at + CERTAIN_AFTER {
        return Ok(Finding::NotFound);
    }
    payments::postpone_attempt(state, &attempt, next, AttemptStep::Closed, None).await?;
    Ok(Finding::Closed)
}
