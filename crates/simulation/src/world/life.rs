//! The running processes. A process may die or stall where it calls the network, the provider or
//! the database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use checkout::State;
use db::{Interference, JobKind, KeepAlive};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

use super::{World, lock};

/// The processes that run now.
#[derive(Default)]
pub(crate) struct Replicas(Mutex<ReplicaSet>);

#[derive(Default)]
struct ReplicaSet {
    replicas: Vec<Arc<Replica>>,
    /// None is started.
    is_absent: bool,
    /// How many were ended by a fault.
    crashes: usize,
}

/// One running process.
pub(crate) struct Replica {
    pub(crate) router: Router,
    pub(crate) state: State,
    pub(crate) life: Arc<Life>,
    pub(crate) _heartbeats: Option<KeepAlive>,
}

/// The most crashes of a run: they cost time, and more of them find no more.
const CRASHES_MAX: usize = 8;

/// Whether a process lives, and when it goes on if it does not.
pub(crate) struct Life {
    pub(crate) number: usize,
    world: Arc<World>,
    /// Ends the process of this number.
    crash: fn(&Arc<World>, usize),
    is_dead: AtomicBool,
    /// Wakes those that wait for the death, in the order they came: a `watch` wakes them in an
    /// order of chance.
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
        // Made before the question, so that no death falls between them.
        let death = self.death.notified();
        if !self.is_dead() {
            death.await;
        }
    }

    /// A place where the process leaves its own code: here it may die or stand still. A dead one
    /// never goes on, so all that it would have done never happens.
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
                *lock(&self.frozen_until) = Instant::now() + time;
            } else {
                sleep(time).await;
            }
        }
        self.wait().await;
    }

    /// Returns while the process lives and is not frozen.
    async fn wait(&self) {
        loop {
            if self.is_dead() {
                std::future::pending::<()>().await;
            }
            let until = *lock(&self.frozen_until);
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
                // They are most of the jobs: nearly every crash would fall on one.
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
    /// Those that run.
    pub(crate) fn running(&self) -> Vec<Arc<Replica>> {
        lock(&self.0).replicas.clone()
    }

    /// Allows replicas to start, or not.
    pub(crate) fn set_absent(&self, is_absent: bool) {
        lock(&self.0).is_absent = is_absent;
    }

    pub(crate) fn add(&self, replica: Arc<Replica>) {
        lock(&self.0).replicas.push(replica);
    }

    fn may_crash(&self) -> bool {
        let mut running = lock(&self.0);
        running.crashes += 1;
        running.crashes <= CRASHES_MAX
    }

    /// Is none started?
    pub(crate) fn is_absent(&self) -> bool {
        lock(&self.0).is_absent
    }

    pub(crate) fn remove(&self, number: usize) -> Option<Arc<Replica>> {
        let mut running = lock(&self.0);
        let place = running
            .replicas
            .iter()
            .position(|replica| replica.life.number == number)?;
        Some(running.replicas.remove(place))
    }
}
