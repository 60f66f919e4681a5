//! The worker that runs the checks when they are due, and deletes expired rows once an hour. It
//! sleeps in between.

use std::time::Duration;

use tokio::time::Instant;

use super::store::find_sweep;
use super::{Finding, Scope, purge_expired, run_once};
use crate::attempts::store::next_attempt_due;
use crate::payments::store::next_payment_due;
use crate::state::State;

/// The longest sleep. Work that another process leaves behind is found after it.
const SLEEP_MAX: Duration = Duration::from_secs(60);
/// The shortest sleep. Otherwise a check that another process has claimed would make this one spin.
const SLEEP_MIN: Duration = Duration::from_millis(500);
/// How often expired keys, responses and notifications are deleted.
const PURGE_EVERY: Duration = Duration::from_secs(60 * 60);

/// Runs the worker until the service stops.
pub(crate) async fn run(state: State) {
    // Nothing is deleted at the start. A machine may boot with a wrong clock that is soon corrected,
    // and an idempotency key that is deleted too early allows a second charge.
    let mut purge_at = Instant::now() + PURGE_EVERY;
    loop {
        // Checks come before the erasure: recording a payment needs its payer's data.
        let sleep = match run_once(&state, Scope::Due).await {
            Ok(report) => match report.lines.last().map(|line| &line.finding) {
                Some(Finding::Quota(wait)) => *wait,
                _ => until_due(&state).await,
            },
            Err(error) => {
                tracing::warn!(%error, "reconciler: a database error interrupted the checks of open payments, retrying in 60 s");
                SLEEP_MAX
            }
        };
        if Instant::now() >= purge_at {
            if let Err(error) = purge_expired(&state).await {
                tracing::warn!(%error, "reconciler: deleting expired keys, personal data and notifications failed, retrying in an hour");
            }
            purge_at = Instant::now() + PURGE_EVERY;
        }
        tokio::select! {
            biased;
            () = state.shutdown.begun() => return,
            () = state.reconciler.notified() => {}
            () = tokio::time::sleep(sleep.clamp(SLEEP_MIN, SLEEP_MAX)) => {}
        }
    }
}

/// The time until the next check of any kind is due.
async fn until_due(state: &State) -> Duration {
    let next = async |conn: &mut db::Conn| {
        let attempt = next_attempt_due(conn).await?;
        let payment = next_payment_due(conn).await?;
        let sweep = find_sweep(conn).await?.map(|sweep| sweep.due);
        Ok([attempt, payment, sweep].into_iter().flatten().min())
    };
    let next = state.db.read::<_, db::Error, _>(next).await.ok().flatten();
    next.map_or(SLEEP_MAX, |due| due.since(state.clock.now()))
}
