//! The worker that empties the queue, a few requests at once, and sleeps while there is nothing to do.

use std::time::Duration;

use tokio::task::JoinSet;

use super::{Claim, claim, queue, work};
use crate::State;

/// Requests that are worked on at once: enough that one slow answer does not hold up the queue, few enough for a model on this machine.
const AT_ONCE: usize = 2;
/// The longest sleep: sales of this process and of others are seen after it, at the cost of one small query.
const SLEEP_MAX: Duration = Duration::from_secs(5);
/// The shortest: what somebody else holds must not make this worker spin.
const SLEEP_MIN: Duration = Duration::from_millis(200);

/// Works until the service stops.
pub(crate) async fn run(state: State) {
    let mut working: JoinSet<()> = JoinSet::new();
    loop {
        let mut sleep = SLEEP_MAX;
        while working.len() < AT_ONCE {
            match claim(&state).await {
                Ok(Some(claim)) => {
                    working.spawn(finish(state.clone(), claim));
                }
                Ok(None) => {
                    sleep = until_due(&state).await;
                    break;
                }
                Err(error) => {
                    tracing::warn!(%error, "the requests for analyses could not be read");
                    break;
                }
            }
        }
        tokio::select! {
            Some(_) = working.join_next(), if !working.is_empty() => {}
            () = state.analysis.bell.notified() => {}
            () = tokio::time::sleep(sleep) => {}
            () = state.shutdown.begun() => break,
        }
    }
    // Each of them hears the word too, and puts its request back.
    while working.join_next().await.is_some() {}
}

/// Works on one request, or at the word to stop puts it back as it was.
async fn finish(state: State, claim: Claim) {
    let (product, lease, tries) = (claim.taken.product, claim.lease.clone(), claim.taken.tries);
    tokio::select! {
        worked = work(&state, claim) => match worked {
            Ok(step) => tracing::debug!(product, ?step, "a request for an analysis was worked on"),
            Err(error) => tracing::warn!(product, %error, "an analysis could not be made; it is tried again when its lease ends"),
        },
        () = state.shutdown.begun() => {
            let now = state.clock.now();
            let put_back = async move |tx: &mut db::Tx| queue::put_back(tx, product, &lease, now, tries).await;
            if let Err(error) = state.db.write::<_, db::Error, _>(put_back).await {
                tracing::warn!(product, %error, "a request for an analysis could not be put back; it is due when its lease ends");
            }
        }
    }
}

/// How long until a request is due; on the way the figures of the queue are told.
async fn until_due(state: &State) -> Duration {
    let read = async |conn: &mut db::Conn| {
        let (length, oldest) = queue::length(conn).await?;
        let next = if length == 0 {
            None
        } else {
            queue::next_due(conn).await?
        };
        Ok::<_, db::Error>((length, oldest, next))
    };
    let now = state.clock.now();
    match state.db.read(read).await {
        Ok((length, oldest, next)) => {
            let age = oldest.map_or(Duration::ZERO, |oldest| now.since(oldest));
            state.analysis.metrics.queue(length, age);
            next.map_or(SLEEP_MAX, |due| due.since(now).clamp(SLEEP_MIN, SLEEP_MAX))
        }
        Err(_) => SLEEP_MAX,
    }
}
