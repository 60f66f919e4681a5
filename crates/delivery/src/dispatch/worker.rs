//! The worker: fans out events, runs a dispatcher for each endpoint that this process has leased,
//! and deletes expired rows. Sleeps when there is no work.

use std::{collections::HashMap, sync::Arc, time::Duration};

use db::{Error, Timestamp};
use tokio::{
    sync::watch,
    task::{AbortHandle, JoinSet},
    time::Instant,
};

use web::Supervisor;

use super::{
    endpoint_queue::{EndpointQueue, Progress, deliver_due},
    fan_out::fan_out,
};
use crate::{
    Outbox, deliveries,
    store::{self, endpoints},
};

/// The longest sleep. Work from other processes and commands is found after it.
const SLEEP_MAX: Duration = Duration::from_secs(5);
/// The shortest sleep. Otherwise a due delivery that may not be sent would make a dispatcher spin.
const SLEEP_MIN: Duration = Duration::from_millis(20);
/// Events published within this time of the first are handled in one pass.
const BATCH_WINDOW: Duration = Duration::from_millis(10);
/// The same while no endpoint responds. Each pass takes the database's writer, so frequent small
/// passes slow down the service's own writes.
const BATCH_WINDOW_UNRESPONSIVE: Duration = Duration::from_millis(250);
/// The interval of counting the backlog for metrics, and the interval of deleting expired rows.
const METRICS_EVERY: Duration = Duration::from_secs(15);
const PURGE_EVERY: Duration = Duration::from_secs(60 * 60);

/// The running dispatchers by endpoint.
#[derive(Default)]
struct Dispatchers {
    at: HashMap<i64, (Arc<EndpointQueue>, AbortHandle)>,
    work: JoinSet<()>,
}

/// Delivers until the service stops. A service that publishes many events signals them through
/// `changes`, whose sender must outlive this worker; events in quick succession are then batched.
/// [`Outbox::wake`] handles events without that delay.
pub async fn run(outbox: Outbox, mut changes: watch::Receiver<u64>) {
    let mut dispatchers = Dispatchers::default();
    let (mut metrics_at, mut purge_at) = (Instant::now(), Instant::now());
    while !outbox.shutdown.has_begun() {
        if let Err(error) = turn(&outbox, &mut dispatchers).await {
            tracing::warn!(%error, "webhook dispatcher: reading the outbox failed, retrying in 5 s");
        }
        if Instant::now() >= metrics_at {
            metrics_at = Instant::now() + METRICS_EVERY;
            if let Err(error) = show_backlog(&outbox).await {
                tracing::warn!(%error, "webhook dispatcher: counting the backlog failed, its metrics are stale, retrying in 15 s");
            }
        }
        if Instant::now() >= purge_at {
            purge_at = Instant::now() + PURGE_EVERY;
            if let Err(error) = purge_expired(&outbox).await {
                tracing::warn!(%error, "webhook dispatcher: deleting expired events failed, retrying in an hour");
            }
        }
        tokio::select! {
            biased;
            () = outbox.shutdown.begun() => {}
            () = outbox.0.published.notified() => {}
            _ = changes.changed() => tokio::time::sleep(dispatchers.batch_window()).await,
            () = tokio::time::sleep(SLEEP_MAX) => {}
        }
    }
    while dispatchers.work.join_next().await.is_some() {}
}

/// Creates the deliveries of all published events, and starts the dispatchers of endpoints that
/// this process has leased.
async fn turn(outbox: &Outbox, dispatchers: &mut Dispatchers) -> Result<(), Error> {
    loop {
        let ours = lease(outbox).await?;
        let shared = outbox.clone();
        dispatchers.place(&outbox.workers, &ours, move |endpoint, queue| {
            dispatch(shared.clone(), endpoint, queue)
        });
        let made = fan_out(outbox).await?;
        for endpoint in &made.endpoints {
            if let Some((queue, _)) = dispatchers.at.get(endpoint) {
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

/// Leases the endpoints that no registered replica has: one replica at a time delivers to an
/// endpoint, as long as it is registered. Returns the endpoints that this replica has leased.
async fn lease(outbox: &Outbox) -> Result<Vec<i64>, Error> {
    let service = outbox.service.name;
    let read = async move |conn: &mut db::Conn| endpoints::leases(conn, service).await;
    let leases = outbox.db.read::<_, Error, _>(read).await?;
    let mut ours = Vec::new();
    for (endpoint, leased_by) in leases {
        let replica = outbox.replica.clone();
        let take =
            async move |tx: &mut db::Tx| endpoints::take_lease(tx, endpoint, replica.id()).await;
        let is_ours = match leased_by {
            Some(replica) => replica == outbox.replica.id(),
            None => outbox.db.write::<_, Error, _>(take).await?,
        };
        if is_ours {
            ours.push(endpoint);
        }
    }
    Ok(ours)
}

impl Dispatchers {
    /// Starts missing dispatchers under the supervisor. Dispatchers whose endpoint another process
    /// has leased end by themselves.
    fn place<C>(
        &mut self,
        workers: &Supervisor,
        ours: &[i64],
        dispatch: impl Fn(i64, Arc<EndpointQueue>) -> C + Clone + Send + Sync + 'static,
    ) where
        C: Future<Output = ()> + Send + 'static,
    {
        while self.work.try_join_next().is_some() {}
        self.at.retain(|_, (_, task)| !task.is_finished());
        for endpoint in ours {
            if !self.at.contains_key(endpoint) {
                let queue = Arc::new(EndpointQueue::default());
                let (workers, dispatch) = (workers.clone(), dispatch.clone());
                let (endpoint, kept) = (*endpoint, Arc::clone(&queue));
                let start = move || dispatch(endpoint, Arc::clone(&kept));
                let work = async move { workers.keep_to_its_end("dispatcher", start).await };
                let task = self.work.spawn(work);
                self.at.insert(endpoint, (queue, task));
            }
        }
    }

    /// How long to wait for more events before a pass.
    fn batch_window(&self) -> Duration {
        if self.at.values().all(|(queue, _)| queue.is_unresponsive()) {
            BATCH_WINDOW_UNRESPONSIVE
        } else {
            BATCH_WINDOW
        }
    }
}

/// Delivers to one endpoint until the service stops or another process has leased the endpoint.
async fn dispatch(outbox: Outbox, endpoint: i64, queue: Arc<EndpointQueue>) {
    while !outbox.shutdown.has_begun() {
        let sleep = match deliver_due(&outbox, endpoint, &queue).await {
            Ok(Progress { is_over: true, .. }) => return,
            Ok(Progress { next, .. }) => next.map_or(SLEEP_MAX, |next| {
                next.since(outbox.clock.now()).clamp(SLEEP_MIN, SLEEP_MAX)
            }),
            Err(error) => {
                tracing::warn!(%error, endpoint, "webhook dispatcher: delivering to an endpoint failed, retrying in 5 s");
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

/// One pass without sleeping: fans out published events and posts due deliveries at all endpoints
/// concurrently until none is due. For tests and commands.
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
    show_backlog(outbox).await?;
    Ok(all)
}

async fn show_backlog(outbox: &Outbox) -> Result<(), Error> {
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

/// Deletes what is older than the retention time.
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
    async fn a_dispatcher_that_panics_is_missed_until_it_is_started_again() {
        let metrics = Metrics::new();
        let workers = Supervisor::new("inventory", &metrics, Shutdown::new());
        let workers = workers.first_wait(Duration::from_secs(3600));
        let mut dispatchers = Dispatchers::default();
        dispatchers.place(&workers, &[1, 2], |endpoint, _| async move {
            assert_eq!(endpoint, 2, "a fault of the dispatcher");
        });
        while workers.missing().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(workers.missing(), ["dispatcher"]);
        let up = "balcao_worker_up{service=\"inventory\",worker=\"dispatcher\"} 0";
        assert!(metrics.encode().unwrap().contains(up));
        // No second dispatcher starts beside a running one. A dispatcher whose endpoint is leased
        // elsewhere is not started again.
        while dispatchers.work.try_join_next().is_none() {
            tokio::task::yield_now().await;
        }
        dispatchers.place(&workers, &[1], |_, _| async {});
        assert_eq!(dispatchers.work.len(), 1);
    }

    /// Dispatchers of endpoints with these states.
    fn dispatchers(unresponsive: &[bool]) -> Dispatchers {
        let mut dispatchers = Dispatchers::default();
        for (endpoint, is_unresponsive) in (1..).zip(unresponsive) {
            let queue = Arc::new(EndpointQueue::default());
            queue.set_unresponsive(*is_unresponsive);
            let task = dispatchers.work.spawn(std::future::pending());
            dispatchers.at.insert(endpoint, (queue, task));
        }
        dispatchers
    }

    #[tokio::test]
    async fn events_wait_a_little_longer_only_while_no_endpoint_takes_any() {
        for (unresponsive, expected) in [
            ([].as_slice(), BATCH_WINDOW_UNRESPONSIVE),
            (&[true, true], BATCH_WINDOW_UNRESPONSIVE),
            (&[true, false], BATCH_WINDOW),
            (&[false], BATCH_WINDOW),
        ] {
            assert_eq!(
                dispatchers(unresponsive).batch_window(),
                expected,
                "{unresponsive:?}"
            );
        }
    }
}
