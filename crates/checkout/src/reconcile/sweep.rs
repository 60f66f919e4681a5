//! Changes that nobody told us of, such as the chargeback of a payment approved months ago: the provider's search lists the payments that
//! have changed, a hundred a call. So the calls of a day are bounded whatever the number of payments.

use std::time::Duration;

use super::{Finding, Line, Report, Scope};
use crate::app::State;
use crate::payments::{self, Adopted, Source};
use crate::provider::{Changes, Failure, Purpose};

/// How often changes are searched for.
const EVERY: Duration = Duration::from_secs(15 * 60);
/// Calls of one turn: 384 a day at most. What is left over is the beginning of the next turn.
const CALLS: u32 = 4;
/// The search lags behind: changes are looked at once it must have caught up with them.
const LAG: Duration = Duration::from_secs(60 * 60);
/// How far back a search begins after a long absence: as long as a payment can be charged back.
const WINDOW: Duration = Duration::from_secs(180 * 24 * 60 * 60);

/// Looks at the payments that have changed, when that is due. False when the quota ended the work.
pub(super) async fn sweep(
    state: &State,
    scope: Scope,
    report: &mut Report,
) -> Result<bool, db::Error> {
    let now = state.clock.now();
    let sweep = payments::sweep_from(state, LAG).await?;
    let is_due = sweep.due <= now || scope == Scope::All;
    if !is_due || !payments::claim_sweep(state, sweep.due, now + EVERY).await? {
        return Ok(true);
    }
    let mut changes = Changes {
        from: sweep.until.max(now - WINDOW),
        // An operator who asks wants to know what is known now; the next turn looks at the last hour again.
        to: if scope == Scope::All { now } else { now - LAG },
        offset: sweep.offset,
    };
    let mut calls = 0;
    while changes.from < changes.to && (calls < CALLS || scope == Scope::All) {
        calls += 1;
        if let Err(Failure::Quota { retry_after }) =
            state.provider.reserve(1, Purpose::Background).await
        {
            report.push("changed payments", Finding::Quota(retry_after));
            return Ok(false);
        }
        let Some(next) = look_at(state, changes, report).await? else {
            return Ok(true);
        };
        changes = next;
        if changes.from <= now - LAG {
            payments::save_sweep(state, changes.from, changes.offset).await?;
        }
    }
    if scope == Scope::Due && changes.from + LAG + Duration::from_secs(24 * 60 * 60) < now {
        tracing::warn!(since = %changes.from, "the search for changed payments is more than a day behind");
    }
    Ok(true)
}

/// Looks at one page of changes, and says where the next begins; none when the provider did not answer.
async fn look_at(
    state: &State,
    changes: Changes,
    report: &mut Report,
) -> Result<Option<Changes>, db::Error> {
    let page = match state
        .provider
        .changed(changes, payments::new_key(state))
        .await
    {
        Ok(page) => page,
        Err(failure) => {
            report.push("changed payments", Finding::Failed(failure.to_string()));
            return Ok(None);
        }
    };
    for payment in &page.payments {
        let adopted = payments::adopt_or_record(state, payment, Source::Reconciler).await?;
        let finding = match adopted {
            Adopted::Made => Some(Finding::Found),
            Adopted::Recorded(recorded) => Finding::of(recorded),
            Adopted::Busy | Adopted::Contradiction(_) => None,
        };
        // Most are known already: only what is news is told.
        if let Some(finding) = finding.filter(|finding| !matches!(finding, Finding::Same(_))) {
            report.push(&payment.id, finding);
        }
    }
    if page.unreadable > 0 {
        tracing::warn!(
            payments = page.unreadable,
            "changed payments that the provider lists cannot be read, and were passed over"
        );
    }
    Ok(Some(page.next))
}

impl Report {
    fn push(&mut self, payment: &str, finding: Finding) {
        self.lines.push(Line {
            payment: payment.to_owned(),
            finding,
        });
    }
}
