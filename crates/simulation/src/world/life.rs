//! The running processes. A process may die or stall at calls of the network, the provider or the
//! database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use checkout::State;
use db::{Interference, JobKind, KeepAlive, lock_mutex};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

use super::World;

/// The running processes.
#[derive(Default)]
pub(crate) struct Replicas(Mutex<ReplicaSet>);

#[derive(Default)]
struct ReplicaSet {
    replicas: Vec<Arc<Replica>>,
    /// Whether no process may start.
    is_absent: bool,
    /// The number of injected crashes.
    crashes: usize,
}

/// One running process.
pub(crate) struct Replica {
    pub(crate) router: Router,
    pub(crate) state: State,
    pub(crate) life: Arc<Life>,
    pub(crate) _heartbeats: Option<KeepAlive>,
}

/// The most crashes of a run. More of them take time and find no further violations.
const CRASHES_MAX: usize = 8;

/// Whether a process is alive, and until when it is frozen.
pub(crate) struct Life {
    pub(crate) number: usize,
    world: Arc<World>,
    /// Kills the process with this number.
    crash: fn(&Arc<World>, usize),
    is_dead: AtomicBool,
    /// Wakes waiting tasks when the process dies, in the order in which they came. A `watch` would
    /// wake them in random order.
    death: Notify,
    frozen_until: Mutex<Instant>,
}

impl Life {
    pub(crate) fn new(
        number: usize,
        world: &Arc<World>,
        crash: fn(&Arc<World>, usize),
    ) -> Arc<Self> {
        Arc::new(Self {
            number,
            world: Arc::clone(world),
            crash,
            is_dead: AtomicBool::new(false),
            death: Notify::new(),
            frozen_until: Mutex::new(Instant::now()),
        })
    }

    pub(crate) fn kill(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
        self.death.notify_waiters();
    }

    fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }

    /// Waits for the death of the process.
    pub(crate) async fn died(&self) {
        // Registered before the check, so that no death is missed between the two.
        let death = self.death.notified();
        if !self.is_dead() {
            death.await;
        }
    }

    /// A fault injection point: here the process may die or stall. In a dead process this never
    /// returns, so nothing after it happens.
    pub(crate) async fn seam(&self, place: &str) {
        self.wait().await;
        if self.world.happens(|faults| faults.crashes) && self.world.replicas.may_crash() {
            self.world
                .note(|| format!("replica {} dies {place}", self.number));
            (self.crash)(&self.world, self.number);
        } else if self.world.happens(|faults| faults.freezes) {
            let time = self.world.dice.seconds(1, 180);
            let is_whole = self.world.dice.happens(500);
            self.world.note(|| {
                let who = if is_whole {
                    "replica"
                } else {
                    "a task of replica"
                };
                format!(
                    "{who} {} stands still for {} s {place}",
                    self.number,
                    time.as_secs()
                )
            });
            if is_whole {
                *lock_mutex(&self.frozen_until) = Instant::now() + time;
            } else {
                sleep(time).await;
            }
        }
        self.wait().await;
    }

    /// Returns when the process is alive and not frozen.
    async fn wait(&self) {
        loop {
            if self.is_dead() {
                std::future::pending::<()>().await;
            }
            let until = *lock_mutex(&self.frozen_until);
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }
}

impl Interference for Life {
    fn before(&self, kind: JobKind) -> db::Moment<'_> {
        Box::pin(async move {
            match kind {
                JobKind::Work => self.seam("before a job of the database").await,
                // Heartbeats are most of the jobs, so nearly every crash would hit one.
                JobKind::Heartbeat => self.wait().await,
            }
            if self.world.dice.happens(150) {
                sleep(self.world.dice.millis(1, 20)).await;
            }
            !self.world.happens(|faults| faults.lost_jobs)
        })
    }

    fn after(&self, kind: JobKind) -> db::Moment<'_> {
        Box::pin(async move {
            match kind {
                JobKind::Work => self.seam("after a job of the database").await,
                JobKind::Heartbeat => self.wait().await,
            }
            !self.world.happens(|faults| faults.lost_commits)
        })
    }
}

impl Replicas {
    /// The running replicas.
    pub(crate) fn running(&self) -> Vec<Arc<Replica>> {
        lock_mutex(&self.0).replicas.clone()
    }

    /// Sets whether no replica may start.
    pub(crate) fn set_absent(&self, is_absent: bool) {
        lock_mutex(&self.0).is_absent = is_absent;
    }

    pub(crate) fn add(&self, replica: Arc<Replica>) {
        lock_mutex(&self.0).replicas.push(replica);
    }

    fn may_crash(&self) -> bool {
        let mut running = lock_mutex(&self.0);
        running.crashes += 1;
        running.crashes <= CRASHES_MAX
    }

    /// Whether no replica may start.
    pub(crate) fn is_absent(&self) -> bool {
        lock_mutex(&self.0).is_absent
    }

    pub(crate) fn remove(&self, number: usize) -> Option<Arc<Replica>> {
        let mut running = lock_mutex(&self.0);
        let place = running
            .replicas
            .iter()
            .position(|replica| replica.life.number == number)?;
        Some(running.replicas.remove(place))
    }
}
