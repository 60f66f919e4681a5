//! Changes without a notification, such as the chargeback of a payment approved months ago. The
//! provider's search lists the payments that have changed, a hundred a call. So the number of calls
//! a day is bounded, whatever the number of payments.

use std::time::Duration;

use super::{Finding, Report, ReportLine, Scope};
use crate::attempts::{self, Adoption};
use crate::payments::Source;
use crate::provider::{Changes, Failure, Purpose};
use crate::state::State;

/// How often changes are searched for.
const EVERY: Duration = Duration::from_secs(15 * 60);
/// Calls of one turn: 384 a day at most. The next turn continues with the rest.
const CALLS: u32 = 4;
/// The provider's search lags behind its payments: only older changes are sure to be in it.
const LAG: Duration = Duration::from_secs(60 * 60);
/// How far back a search begins after a long absence: as long as a payment can be charged back.
const WINDOW: Duration = Duration::from_secs(180 * 24 * 60 * 60);

/// Looks at the payments that have changed, when that is due. False when the quota ended the work.
pub(super) async fn sweep(
    state: &State,
    scope: Scope,
    report: &mut Report,
) -> Result<bool, db::Error> {
    let (db, now) = (&state.db, state.clock.now());
    let sweep = attempts::find_or_begin_sweep(db, LAG, now).await?;
    let is_due = sweep.due <= now || scope == Scope::All;
    if !is_due || !attempts::claim_sweep(db, sweep.due, now + EVERY).await? {
        return Ok(true);
    }
    let mut changes = Changes {
        from: sweep.until.max(now - WINDOW),
        // An operator who asks wants to know what is known now; the next turn looks at the last
        // hour again.
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
            attempts::save_sweep(db, changes.from, changes.offset).await?;
        }
    }
    if scope == Scope::Due && changes.from + LAG + Duration::from_secs(24 * 60 * 60) < now {
        tracing::warn!(since = %changes.from, "reconciler: the search for changed payments is more than a day behind");
    }
    Ok(true)
}

/// Looks at one page of changes, and says where the next begins; none when the provider did not
/// answer.
async fn look_at(
    state: &State,
    changes: Changes,
    report: &mut Report,
) -> Result<Option<Changes>, db::Error> {
    let page = match state
        .provider
        .changed(changes, attempts::new_key(state))
        .await
    {
        Ok(page) => page,
        Err(failure) => {
            report.push("changed payments", Finding::Failed(failure.to_string()));
            return Ok(None);
        }
    };
    for payment in &page.payments {
        let adopted = attempts::adopt_or_record(state, payment, Source::Reconciler).await?;
        let finding = match adopted {
            Adoption::Completed => Some(Finding::Found),
            Adoption::Recorded(recorded) => Finding::of(recorded),
            Adoption::Busy | Adoption::Contradiction(_) => None,
        };
        // Most are recorded already, and are not reported.
        if let Some(finding) = finding.filter(|finding| !matches!(finding, Finding::Same(_))) {
            report.push(&payment.id, finding);
        }
    }
    if page.unreadable > 0 {
        tracing::warn!(
            payments = page.unreadable,
            "reconciler: changed payments that the provider lists cannot be read, they are passed over"
        );
    }
    Ok(Some(page.next))
}

impl Report {
    fn push(&mut self, payment: &str, finding: Finding) {
        self.lines.push(ReportLine {
            payment: payment.to_owned(),
            finding,
        });
    }
}
