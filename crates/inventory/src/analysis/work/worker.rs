//! The worker that processes the queue of requests and sleeps while none is due.

use std::time::Duration;

use tokio::task::JoinSet;

use super::{Claim, claim_next, queue, work};
use crate::State;

/// Concurrent requests. One slow response must not block the queue; local models handle few.
const CONCURRENCY: usize = 2;
/// The longest sleep. It bounds the delay of requests that other processes added.
const SLEEP_MAX: Duration = Duration::from_secs(5);
/// The shortest sleep. Prevents a busy loop while another worker holds a request that is due.
const SLEEP_MIN: Duration = Duration::from_millis(200);

pub(crate) async fn run(state: State) {
    let mut working: JoinSet<()> = JoinSet::new();
    loop {
        let mut sleep = SLEEP_MAX;
        while working.len() < CONCURRENCY {
            match claim_next(&state).await {
                Ok(Some(claim)) => {
                    working.spawn(finish(state.clone(), claim));
                }
                Ok(None) => {
                    sleep = until_due(&state).await;
                    break;
                }
                Err(error) => {
                    tracing::warn!(%error, "analysis worker: reading the queue failed, retrying in 5 s");
                    break;
                }
            }
        }
        tokio::select! {
            Some(_) = working.join_next(), if !working.is_empty() => {}
            () = state.analysis.wake_worker.notified() => {}
            () = tokio::time::sleep(sleep) => {}
            () = state.shutdown.begun() => break,
        }
    }
    // Each task sees the shutdown and puts its request back.
    while working.join_next().await.is_some() {}
}

/// Processes one request. At shutdown, puts it back unchanged.
async fn finish(state: State, claim: Claim) {
    let (product, lease, tries) = (
        claim.request.product,
        claim.lease.clone(),
        claim.request.tries,
    );
    tokio::select! {
        worked = work(&state, claim) => match worked {
            Ok(outcome) => tracing::debug!(product, ?outcome, "analysis worker: a request was handled"),
            Err(error) => tracing::warn!(product, %error, "analysis worker: the analysis failed; it is retried when its lease ends"),
        },
        () = state.shutdown.begun() => {
            let now = state.clock.now();
            let put_back = async move |tx: &mut db::Tx| queue::put_back(tx, product, &lease, now, tries).await;
            if let Err(error) = state.db.write::<_, db::Error, _>(put_back).await {
                tracing::warn!(product, %error, "analysis worker: the request could not be put back at shutdown; it is due again when its lease ends");
            }
        }
    }
}

/// The time until a request is due. Also updates the metrics of the queue.
async fn until_due(state: &State) -> Duration {
    let now = state.clock.now();
    match state.db.read(queue::backlog).await {
        Ok((length, oldest, next)) => {
            let age = oldest.map_or(Duration::ZERO, |oldest| now.since(oldest));
            state.analysis.metrics.set_queue(length, age);
            next.map_or(SLEEP_MAX, |due| due.since(now).clamp(SLEEP_MIN, SLEEP_MAX))
        }
        Err(_) => SLEEP_MAX,
    }
}
