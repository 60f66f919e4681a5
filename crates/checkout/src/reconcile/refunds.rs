//! Refunds that were sent and never answered, or that the provider is still at work on: the payment's refunds are read
//! from it.

use db::Timestamp;

use super::{CERTAIN_AFTER, Finding, Line, Report, first, wait};
use crate::app::State;
use crate::payments::{self, AttemptStep, OpenRefund};
use crate::provider::{Failure, Purpose};

/// False when the quota ended the work.
pub(super) async fn check(
    state: &State,
    until: Timestamp,
    report: &mut Report,
) -> Result<bool, db::Error> {
    let mut due = first(until);
    loop {
        let refunds = payments::due_refunds(state, due).await?;
        let Some(last) = refunds.last() else {
            return Ok(true);
        };
        due.after = (last.check_at, last.id);
        for refund in refunds {
            let payment = refund.payment_id.clone();
            let Some(finding) = ask(state, refund).await? else {
                continue;
            };
            let is_quota = matches!(finding, Finding::Quota(_));
            report.lines.push(Line { payment, finding });
            if is_quota {
                return Ok(false);
            }
        }
    }
}

/// None when another process asks.
async fn ask(state: &State, refund: OpenRefund) -> Result<Option<Finding>, db::Error> {
    if let Err(Failure::Quota { retry_after }) =
        state.provider.reserve(2, Purpose::Background).await
    {
        return Ok(Some(Finding::Quota(retry_after)));
    }
    let now = state.clock.now();
    let next = now + wait(refund.checks);
    if refund.made.is_some() {
        return follow(state, refund, next).await;
    }
    if !payments::postpone_refund(
        state,
        &refund,
        refund.check_at,
        AttemptStep::Sending,
        Some(next),
    )
    .await?
    {
        return Ok(None);
    }
    let listed = match state
        .provider
        .refunds(&refund.payment_id, payments::new_key(state))
        .await
    {
        Ok(listed) => listed,
        Err(failure) => return Ok(Some(Finding::Failed(failure.to_string()))),
    };
    match payments::match_refund(state, &refund, listed).await {
        Ok(true) => return Ok(Some(Finding::Refunded)),
        Ok(false) => {}
        Err(payments::RefundError::Database(error)) => return Err(error),
        Err(error) => return Ok(Some(Finding::Failed(error.to_string()))),
    }
    if now < refund.created_at + CERTAIN_AFTER {
        return Ok(Some(Finding::NotFound));
    }
    payments::postpone_refund(state, &refund, next, AttemptStep::Closed, None).await?;
    Ok(Some(Finding::RefundClosed))
}

/// A refund that the provider was still at work on when it answered.
async fn follow(
    state: &State,
    refund: OpenRefund,
    next: Timestamp,
) -> Result<Option<Finding>, db::Error> {
    if !payments::postpone_made_refund(state, &refund, Some(next)).await? {
        return Ok(None);
    }
    let listed = state
        .provider
        .refunds(&refund.payment_id, payments::new_key(state))
        .await;
    let finding = match listed {
        Ok(listed) => match payments::follow_refund(state, &refund, &listed, next).await? {
            Some(true) => Finding::Refunded,
            Some(false) => Finding::RefundRefused,
            None => Finding::RefundOpen,
        },
        Err(failure) => Finding::Failed(failure.to_string()),
    };
    Ok(Some(finding))
}
