//! The worker: fans out events, runs a courier for each endpoint whose lease this process holds, deletes what has expired. It sleeps when there
//! is nothing to do.

use std::{collections::HashMap, sync::Arc, time::Duration};

use db::{Error, Timestamp};
use tokio::{
    sync::watch,
    task::{AbortHandle, JoinSet},
    time::Instant,
};

use web::Supervisor;

use super::{
    courier::{EndpointQueue, Progress, deliver_due},
    fan_out::fan_out,
    lease::lease,
};
use crate::{Outbox, deliveries, store};

/// The longest sleep: what other processes and commands left is found after it.
const SLEEP_MAX: Duration = Duration::from_secs(5);
/// The shortest: what is due and may not be sent must not make a courier spin.
const SLEEP_MIN: Duration = Duration::from_millis(20);
/// What happens within this of the first word is taken together, so that many small changes do not make as many small turns.
const GATHERING: Duration = Duration::from_millis(10);
/// The same while nobody waits for it: at every endpoint there are older ones that are not taken. Each turn takes the writer, so frequent
/// small turns slow the service's own writes down.
const GATHERING_FOR_NOBODY: Duration = Duration::from_millis(250);
/// How often the figures of what waits are renewed, and how often what has expired is removed.
const METRICS_EVERY: Duration = Duration::from_secs(15);
const PURGE_EVERY: Duration = Duration::from_secs(60 * 60);

/// The couriers at work, by endpoint.
#[derive(Default)]
struct Couriers {
    at: HashMap<i64, (Arc<EndpointQueue>, AbortHandle)>,
    work: JoinSet<()>,
}

/// Delivers until the service stops. A service that publishes many events notifies of them by `changes`, whose sender outlives this worker:
/// those of a moment are taken together. After [`Outbox::wake`] they are taken at once.
pub async fn run(outbox: Outbox, mut changes: watch::Receiver<u64>) {
    let mut couriers = Couriers::default();
    let (mut metrics_at, mut purge_at) = (Instant::now(), Instant::now());
    while !outbox.shutdown.has_begun() {
        if let Err(error) = turn(&outbox, &mut couriers).await {
            tracing::warn!(%error, "events could not be worked on");
        }
        if Instant::now() >= metrics_at {
            metrics_at = Instant::now() + METRICS_EVERY;
            log_failure(show_waiting(&outbox).await);
        }
        if Instant::now() >= purge_at {
            purge_at = Instant::now() + PURGE_EVERY;
            log_failure(purge_expired(&outbox).await);
        }
        tokio::select! {
            biased;
            () = outbox.shutdown.begun() => {}
            () = outbox.0.published.notified() => {}
            _ = changes.changed() => tokio::time::sleep(couriers.gathering()).await,
            () = tokio::time::sleep(SLEEP_MAX) => {}
        }
    }
    while couriers.work.join_next().await.is_some() {}
}

fn log_failure(done: Result<(), Error>) {
    if let Err(error) = done {
        tracing::warn!(%error, "the events' books could not be kept");
    }
}

/// Makes deliveries of all that was published, and sees to it that couriers are where they should be.
async fn turn(outbox: &Outbox, couriers: &mut Couriers) -> Result<(), Error> {
    loop {
        let ours = lease(outbox).await?;
        let shared = outbox.clone();
        couriers.place(&outbox.workers, &ours, move |endpoint, queue| {
            courier(shared.clone(), endpoint, queue)
        });
        let made = fan_out(outbox).await?;
        for endpoint in &made.endpoints {
            if let Some((queue, _)) = couriers.at.get(endpoint) {
                queue.wake.notify_one();
            }
        }
        if made.mails {
            outbox.wake_mail();
        }
        if !made.is_full() {
            return Ok(());
        }
    }
}

impl Couriers {
    /// Starts couriers where there are none, and keeps them at work. Those whose endpoint is another process's end by themselves.
    fn place<C>(
        &mut self,
        workers: &Supervisor,
        ours: &[i64],
        courier: impl Fn(i64, Arc<EndpointQueue>) -> C + Clone + Send + Sync + 'static,
    ) where
        C: Future<Output = ()> + Send + 'static,
    {
        while self.work.try_join_next().is_some() {}
        self.at.retain(|_, (_, task)| !task.is_finished());
        for endpoint in ours {
            if !self.at.contains_key(endpoint) {
                let queue = Arc::new(EndpointQueue::default());
                let (workers, courier) = (workers.clone(), courier.clone());
                let (endpoint, kept) = (*endpoint, Arc::clone(&queue));
                let start = move || courier(endpoint, Arc::clone(&kept));
                let work = async move { workers.keep_to_its_end("courier", start).await };
                let task = self.work.spawn(work);
                self.at.insert(endpoint, (queue, task));
            }
        }
    }

    /// How long events are gathered before their deliveries are made.
    fn gathering(&self) -> Duration {
        if self.at.values().all(|(queue, _)| queue.is_unresponsive()) {
            GATHERING_FOR_NOBODY
        } else {
            GATHERING
        }
    }
}

/// Delivers at one endpoint until the service stops or the endpoint is another process's.
async fn courier(outbox: Outbox, endpoint: i64, queue: Arc<EndpointQueue>) {
    while !outbox.shutdown.has_begun() {
        let sleep = match deliver_due(&outbox, endpoint, &queue).await {
            Ok(Progress { is_over: true, .. }) => return,
            Ok(Progress { next, .. }) => next.map_or(SLEEP_MAX, |next| {
                next.since(outbox.clock.now()).clamp(SLEEP_MIN, SLEEP_MAX)
            }),
            Err(error) => {
                tracing::warn!(%error, endpoint, "events could not be delivered");
                SLEEP_MAX
            }
        };
        tokio::select! {
            biased;
            () = outbox.shutdown.begun() => {}
            () = queue.wake.notified() => {}
            () = tokio::time::sleep(sleep) => {}
        }
    }
}

/// One turn of everything, without sleeping: makes the deliveries of what was published and posts what is due, at all endpoints at
/// once, until nothing is. For tests, and for commands.
///
/// # Errors
///
/// Faults of the store.
pub async fn pass(outbox: &Outbox) -> Result<Progress, Error> {
    while fan_out(outbox).await?.is_full() {}
    let mut work = JoinSet::new();
    for endpoint in lease(outbox).await? {
        let (outbox, queue) = (outbox.clone(), EndpointQueue::default());
        work.spawn(async move { deliver_due(&outbox, endpoint, &queue).await });
    }
    let mut all = Progress::default();
    while let Some(done) = work.join_next().await {
        let one = done.map_err(|error| Error::other(error.to_string()))??;
        all.attempts += one.attempts;
        all.delivered += one.delivered;
        all.next = all.next.into_iter().chain(one.next).min();
    }
    show_waiting(outbox).await?;
    Ok(all)
}

async fn show_waiting(outbox: &Outbox) -> Result<(), Error> {
    let service = outbox.service;
    let read = async move |conn: &mut db::Conn| deliveries::waiting(conn, &service).await;
    let waiting = outbox.db.read(read).await?;
    let now = outbox.clock.now();
    let age = waiting
        .oldest
        .map_or(Duration::ZERO, |oldest| now.since(oldest));
    outbox
        .0
        .metrics
        .waiting(waiting.deliveries + waiting.events, age);
    Ok(())
}

/// Removes what is older than it is kept.
///
/// # Errors
///
/// Faults of the store.
pub async fn purge_expired(outbox: &Outbox) -> Result<(), Error> {
    let before: Timestamp = outbox.clock.now() - outbox.webhooks.retention;
    let service = outbox.service.name;
    let events = async move |tx: &mut db::Tx| store::remove_old_events(tx, service, before).await;
    while outbox.db.write::<_, Error, _>(events).await? > 0 {}
    let mails = async move |tx: &mut db::Tx| store::mails::remove_old(tx, service, before).await;
    while outbox.db.write::<_, Error, _>(mails).await? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use web::{metrics::Metrics, server::Shutdown};

    use super::*;

    #[tokio::test]
    async fn a_courier_that_panics_is_missed_until_it_is_started_again() {
        let metrics = Metrics::new();
        let workers = Supervisor::new("inventory", &metrics, Shutdown::new());
        let workers = workers.first_wait(Duration::from_secs(3600));
        let mut couriers = Couriers::default();
        couriers.place(&workers, &[1, 2], |endpoint, _| async move {
            assert_eq!(endpoint, 2, "a fault of the courier");
        });
        while workers.missing().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(workers.missing(), ["courier"]);
        let up = "balcao_worker_up{service=\"inventory\",worker=\"courier\"} 0";
        assert!(metrics.encode().unwrap().contains(up));
        // No second one begins beside it, and one whose endpoint is another process's is not started again.
        while couriers.work.try_join_next().is_none() {
            tokio::task::yield_now().await;
        }
        couriers.place(&workers, &[1], |_, _| async {});
        assert_eq!(couriers.work.len(), 1);
    }

    /// Couriers at so many endpoints, with what they know of them.
    fn couriers(unresponsive: &[bool]) -> Couriers {
        let mut couriers = Couriers::default();
        for (endpoint, is_unresponsive) in (1..).zip(unresponsive) {
            let queue = Arc::new(EndpointQueue::default());
            queue.note(*is_unresponsive);
            let task = couriers.work.spawn(std::future::pending());
            couriers.at.insert(endpoint, (queue, task));
        }
        couriers
    }

    #[tokio::test]
    async fn events_wait_a_little_longer_only_while_no_endpoint_takes_any() {
        for (unresponsive, expected) in [
            ([].as_slice(), GATHERING_FOR_NOBODY),
            (&[true, true], GATHERING_FOR_NOBODY),
            (&[true, false], GATHERING),
            (&[false], GATHERING),
        ] {
            assert_eq!(
                couriers(unresponsive).gathering(),
                expected,
                "{unresponsive:?}"
            );
        }
    }
}
