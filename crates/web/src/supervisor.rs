//! Background workers: each runs until the service stops. One that ends or panics earlier is
//! restarted after a backoff, counted and logged; `/ready` names it while it is down.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use db::lock_mutex;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use crate::metrics::Metrics;
use crate::metrics::workers::{WorkerLabels, WorkerMetrics};
use crate::server::Shutdown;

/// The backoff before a worker is restarted: doubled each time, up to the longest.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// After so long a run the backoff begins anew.
const STEADY: Duration = Duration::from_secs(5 * 60);
/// How long a worker may go on once the service stops. The next start continues its work, as after
/// a crash.
const GRACE: Duration = Duration::from_secs(10);

/// The workers of one service. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Supervisor {
    service: &'static str,
    metrics: WorkerMetrics,
    /// How many workers of a name are down.
    down: Arc<Mutex<BTreeMap<&'static str, usize>>>,
    shutdown: Shutdown,
    first_wait: Duration,
    grace: Duration,
}

impl Supervisor {
    /// No worker runs yet. They are counted in `metrics`, and end when `shutdown` begins.
    pub fn new(service: &'static str, metrics: &Metrics, shutdown: Shutdown) -> Self {
        Self {
            service,
            metrics: metrics.workers().clone(),
            down: Arc::default(),
            shutdown,
            first_wait: FIRST_WAIT,
            grace: GRACE,
        }
    }

    /// Waits so long before the first restart, instead of a second.
    #[must_use]
    pub const fn first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = wait;
        self
    }

    /// Lets workers go on for so long once the service stops, instead of ten seconds.
    #[must_use]
    pub const fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Keeps a worker running until the service stops. `start` makes its work, which ends by itself
    /// when the shutdown begins.
    pub async fn keep<W>(&self, worker: &'static str, start: impl Fn() -> W)
    where
        W: Future<Output = ()> + Send + 'static,
    {
        self.run(worker, start, false).await;
    }

    /// As [`Supervisor::keep`], for one of several workers of a name whose work may end. A worker
    /// that has ended is not restarted.
    pub async fn keep_to_its_end<W>(&self, worker: &'static str, start: impl Fn() -> W)
    where
        W: Future<Output = ()> + Send + 'static,
    {
        self.run(worker, start, true).await;
    }

    async fn run<W>(&self, worker: &'static str, start: impl Fn() -> W, may_end: bool)
    where
        W: Future<Output = ()> + Send + 'static,
    {
        let restarts = self
            .metrics
            .restarts
            .get_or_create_owned(&self.labels(worker));
        self.show(worker, &lock_mutex(&self.down));
        let mut wait = self.first_wait;
        while !self.shutdown.has_begun() {
            let started = Instant::now();
            let ended = self.to_its_end(worker, start()).await;
            if self.shutdown.has_begun() || (may_end && ended.is_ok()) {
                return;
            }
            let _down = DownGuard::new(self, worker);
            if started.elapsed() >= STEADY {
                wait = self.first_wait;
            }
            let how = if ended.is_err() { "panicked" } else { "ended" };
            let service = self.service;
            tracing::error!(
                service,
                worker,
                how,
                ?wait,
                "a worker is down and is restarted after a pause"
            );
            if timeout(wait, self.shutdown.begun()).await.is_ok() {
                return;
            }
            wait = (wait * 2).min(LONGEST_WAIT);
            restarts.inc();
        }
    }

    /// The workers that are down now, by name.
    pub fn missing(&self) -> Vec<&'static str> {
        lock_mutex(&self.down).keys().copied().collect()
    }

    fn labels(&self, worker: &'static str) -> WorkerLabels {
        WorkerLabels {
            service: self.service,
            worker,
        }
    }

    /// Shows whether all workers of a name are up.
    fn show(&self, worker: &'static str, down: &BTreeMap<&'static str, usize>) {
        let up = self.metrics.up.get_or_create_owned(&self.labels(worker));
        up.set(i64::from(!down.contains_key(worker)));
    }

    /// A separate task, so that a panic ends only this worker. It is aborted when this future is
    /// dropped.
    async fn to_its_end(
        &self,
        worker: &'static str,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), JoinError> {
        let mut task = JoinSet::new();
        task.spawn(work);
        let too_late = async {
            self.shutdown.begun().await;
            sleep(self.grace).await;
        };
        tokio::select! {
            biased;
            ended = task.join_next() => ended.unwrap_or(Ok(())),
            () = too_late => {
                tracing::warn!(service = self.service, worker, "a worker did not end in time and is cut off");
                Ok(())
            }
        }
    }
}

/// A worker that is down, for as long as this lives.
struct DownGuard<'a>(&'a Supervisor, &'static str);

impl<'a> DownGuard<'a> {
    fn new(supervisor: &'a Supervisor, worker: &'static str) -> Self {
        let mut down = lock_mutex(&supervisor.down);
        *down.entry(worker).or_default() += 1;
        supervisor.show(worker, &down);
        Self(supervisor, worker)
    }
}

impl Drop for DownGuard<'_> {
    fn drop(&mut self) {
        let Self(supervisor, worker) = *self;
        let mut down = lock_mutex(&supervisor.down);
        let others = down.get(worker).map_or(0, |count| count - 1);
        if others == 0 {
            down.remove(worker);
        } else {
            down.insert(worker, others);
        }
        supervisor.show(worker, &down);
    }
}
