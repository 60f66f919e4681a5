//! Payments that are pending or under review: read back at growing intervals, in case a notification was lost.

use std::collections::HashSet;

use db::Timestamp;

use super::{Finding, Line, Report, first};
use crate::app::State;
use crate::payments::{self, Known, Recorded, Source};
use crate::provider::{Failure, Purpose};

/// False when the quota ended the work.
pub(super) async fn check(
    state: &State,
    until: Timestamp,
    report: &mut Report,
) -> Result<bool, db::Error> {
    let mut due = first(until);
    // A payment that was asked about comes later in the order again.
    let mut seen = HashSet::new();
    loop {
        let open = payments::due_payments(state, due).await?;
        let Some(last) = open.last() else {
            return Ok(true);
        };
        due.after = (last.check_at.unwrap_or(until), last.row);
        for known in open {
            if !seen.insert(known.row) {
                continue;
            }
            let payment = known.id.clone();
            let Some(finding) = ask(state, known).await? else {
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
async fn ask(state: &State, known: Known) -> Result<Option<Finding>, db::Error> {
    if let Err(Failure::Quota { retry_after }) =
        state.provider.reserve(1, Purpose::Background).await
    {
        return Ok(Some(Finding::Quota(retry_after)));
    }
    if !payments::postpone_payment(state, &known).await? {
        return Ok(None);
    }
    let payment = match state
        .provider
        .read(&known.id, payments::new_key(state))
        .await
    {
        Ok(payment) => payment,
        Err(failure) => return Ok(Some(Finding::Failed(failure.to_string()))),
    };
    let word = payments::Word::from(&payment);
    Ok(
        match payments::settle_word(state, &known.id, word, Source::Reconciler).await? {
            Recorded::Moved { state, .. } => Some(Finding::Moved(state)),
            Recorded::Same(state) => Some(Finding::Same(state)),
            Recorded::Refused(state) => Some(Finding::Refused(state)),
            Recorded::Unknown => None,
        },
    )
}
