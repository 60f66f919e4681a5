//! The search for changes without a notification, such as the chargeback of a payment approved
//! months ago. The provider's search lists changed payments, a hundred per call. So the number of
//! calls a day is bounded, whatever the number of payments.

use std::time::Duration;

use db::{Db, Timestamp};

use super::store::{self, Sweep};
use super::{Finding, Report, Scope};
use crate::attempts;
use crate::payments::Source;
use crate::provider::{Changes, Failure, Purpose};
use crate::state::State;

/// The interval of searches.
const EVERY: Duration = Duration::from_secs(15 * 60);
/// The most calls of one turn, 384 a day. The next turn continues with the rest.
const CALLS: u32 = 4;
/// The provider's search lags behind its payments. Only changes older than this are certain to be
/// in it.
const LAG: Duration = Duration::from_secs(60 * 60);
/// How far back the search begins after a long downtime: as long as a payment can be charged back.
const WINDOW: Duration = Duration::from_secs(180 * DAY.as_secs());
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads the payments that have changed, if the search is due. Returns false if the quota ended the
/// work.
pub(super) async fn sweep(
    state: &State,
    scope: Scope,
    report: &mut Report,
) -> Result<bool, db::Error> {
    let (db, now) = (&state.db, state.clock.now());
    let stored = find_or_begin(db, now).await?;
    // A clock that was ahead leaves a due time in the future. The clocks of replicas differ by less.
    let is_due = stored.due <= now || stored.due > now + EVERY * 2 || scope == Scope::All;
    let sweep = Sweep {
        due: now + EVERY,
        ..stored.not_ahead_of(now)
    };
    let claim = async move |tx: &mut db::Tx| store::claim(tx, stored.due, sweep).await;
    if !is_due || !db.write::<_, db::Error, _>(claim).await? {
        return Ok(true);
    }
    let mut changes = Changes {
        from: sweep.until,
        // An operator's request includes the last hour. The next turn reads that hour again.
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
        let Some(next) = read_page(state, changes, report).await? else {
            return Ok(true);
        };
        changes = next;
        if changes.from <= now - LAG {
            db.write(async move |tx| store::save(tx, changes.from, changes.offset).await)
                .await?;
        }
    }
    if scope == Scope::Due && changes.from + LAG + DAY < now {
        tracing::warn!(since = %changes.from, "reconciler: the search for changed payments is more than a day behind: changes without a notification are seen late; check the provider and the quota of calls");
    }
    Ok(true)
}

impl Sweep {
    /// The position to continue from. While a clock was ahead, turns skipped the changes that came
    /// later. So the changes of a day are read again.
    fn not_ahead_of(self, now: Timestamp) -> Self {
        if self.until <= now - LAG {
            let until = self.until.max(now - WINDOW);
            return Self { until, ..self };
        }
        Self {
            until: now - DAY,
            offset: 0,
            ..self
        }
    }
}

/// The position of the search. The first search begins an hour before the oldest stored payment.
async fn find_or_begin(db: &Db, now: Timestamp) -> Result<Sweep, db::Error> {
    if let Some(sweep) = db.read(store::find_sweep).await? {
        return Ok(sweep);
    }
    db.write(async move |tx| {
        let oldest = store::oldest_payment(tx).await?.unwrap_or(now);
        store::begin(tx, oldest.min(now) - LAG, now).await?;
        let sweep = store::find_sweep(tx).await?;
        sweep.ok_or_else(|| db::Error::retry("the row of the sweeps vanished"))
    })
    .await
}

/// Reads one page of changes. Returns where the next page begins, or `None` if the provider did not
/// answer.
async fn read_page(
    state: &State,
    changes: Changes,
    report: &mut Report,
) -> Result<Option<Changes>, db::Error> {
    let page = match state.provider.changed(changes).await {
        Ok(page) => page,
        Err(failure) => {
            report.push("changed payments", Finding::Failed(failure.to_string()));
            return Ok(None);
        }
    };
    for payment in &page.payments {
        let outcome = attempts::adopt_or_record(state, payment, Source::Reconciler).await?;
        // Most changes are recorded already and not reported.
        if let Some(finding) =
            Finding::of(outcome).filter(|finding| !matches!(finding, Finding::Same(_)))
        {
            report.push(&payment.id, finding);
        }
    }
    if page.unreadable > 0 {
        tracing::warn!(
            payments = page.unreadable,
            "reconciler: the provider's list has changed payments that cannot be parsed, they are skipped"
        );
    }
    Ok(Some(page.next))
}
