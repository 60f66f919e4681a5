//! The worker that runs the checks when they are due, and deletes expired rows once an hour. It sleeps in between.

use std::time::Duration;

use tokio::time::Instant;

use super::{Finding, Scope, purge_expired, run_once};
use crate::app::State;
use crate::payments;

/// The longest sleep: what another process left behind is found after it.
const SLEEP_MAX: Duration = Duration::from_secs(60);
/// The shortest: a check that another process holds must not make this one spin.
const SLEEP_MIN: Duration = Duration::from_millis(500);
/// How often old keys, answers and notifications are removed.
const PURGE_EVERY: Duration = Duration::from_secs(60 * 60);

/// Works until the service stops.
pub(crate) async fn run(state: State) {
    let mut purge_at = Instant::now();
    loop {
        // Asked first, erased after: an answer needs what is known of its payer.
        let sleep = match run_once(&state, Scope::Due).await {
            Ok(report) => match report.lines.last().map(|line| &line.finding) {
                Some(Finding::Quota(wait)) => *wait,
                _ => until_due(&state).await,
            },
            Err(error) => {
                tracing::warn!(%error, "open payments could not be asked about");
                SLEEP_MAX
            }
        };
        if Instant::now() >= purge_at {
            if let Err(error) = purge_expired(&state).await {
                tracing::warn!(%error, "old keys and notifications could not be removed");
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

async fn until_due(state: &State) -> Duration {
    let next = payments::next_due(state).await.ok().flatten();
    next.map_or(SLEEP_MAX, |due| due.since(state.clock.now()))
}
