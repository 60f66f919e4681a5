//! The world of a run: its shared state, and its time.

mod life;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use db::{MemoryDatabase, Timestamp, lock_mutex};
use tokio::sync::Notify;
use tokio::time::sleep;
use web::Clock;

use crate::dice::Dice;
use crate::faults::Faults;
use crate::promises::Promises;
use crate::provider::{Change, Moment, Provider};
use crate::shop::{Sale, Shop};
use crate::trace::Trace;

pub(crate) use life::{Life, Replica, Replicas};

/// The start time of every run: 2026-11-20, noon in UTC.
const BEGINNING: Timestamp = Timestamp::from_micros(1_795_176_000_000_000);

/// The limit of calls to the provider, more than any correct run needs.
const CALLS_MAX: usize = 3000;

/// The shared state of a run.
pub(crate) struct World {
    pub(crate) dice: Dice,
    pub(crate) faults: Faults,
    pub(crate) shop: Shop,
    pub(crate) sales: Mutex<Vec<Sale>>,
    pub(crate) database: Arc<MemoryDatabase>,
    pub(crate) replicas: Replicas,
    pub(crate) promises: Mutex<Promises>,
    provider: Mutex<Provider>,
    trace: Trace,
    clock: Clock,
    is_calm: AtomicBool,
    busy: AtomicUsize,
    calls: AtomicUsize,
    has_ended: Notify,
    violations: Mutex<Vec<String>>,
    follow: fn(&Arc<Self>, Change),
}

/// Marks a call or request as in progress while it exists. Time does not leap meanwhile.
pub(crate) struct BusyGuard(Arc<World>);

impl World {
    /// Creates a world. `follow` is called for every change at the provider.
    pub(crate) fn new(
        seed: u64,
        database: Arc<MemoryDatabase>,
        is_traced: bool,
        follow: fn(&Arc<Self>, Change),
    ) -> Arc<Self> {
        let dice = Dice::new(seed);
        let mut faults = Faults::draw(&dice);
        let shop = Shop::draw(seed, &faults);
        if shop.hides_payments() {
            // Only payments whose response was lost stay hidden.
            faults.lost_answers = faults.lost_answers.max(300);
        }
        let world = Arc::new(Self {
            faults,
            shop,
            sales: Mutex::default(),
            database,
            replicas: Replicas::default(),
            promises: Mutex::default(),
            provider: Mutex::default(),
            trace: Trace::new(is_traced),
            clock: Clock::of_runtime(BEGINNING),
            is_calm: AtomicBool::new(false),
            busy: AtomicUsize::new(0),
            calls: AtomicUsize::new(0),
            has_ended: Notify::new(),
            violations: Mutex::default(),
            dice,
            follow,
        });
        world.note(|| format!("seed {seed}: {:?}, {:?}", world.faults, world.shop));
        world
    }

    /// The true time. Each replica's clock is ahead of it by its skew.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The faults. `None` in the calm phase.
    pub(crate) fn faults(&self) -> Option<&Faults> {
        (!self.is_calm()).then_some(&self.faults)
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.is_calm.load(Ordering::Relaxed)
    }

    /// Ends the time with faults.
    pub(crate) fn calm_down(&self) {
        self.is_calm.store(true, Ordering::Relaxed);
        self.note(|| "--- from here on nothing goes wrong any more");
    }

    /// Whether a fault with this rate happens.
    pub(crate) fn happens(&self, rate: impl FnOnce(&Faults) -> u64) -> bool {
        self.faults()
            .is_some_and(|faults| self.dice.happens(rate(faults)))
    }

    /// Adds a line to the trace.
    pub(crate) fn note<T: std::fmt::Display>(&self, line: impl FnOnce() -> T) {
        self.trace.add(self.now().since(BEGINNING), line);
    }

    pub(crate) fn trace(&self) -> Vec<String> {
        self.trace.take()
    }

    /// Records a violated invariant.
    pub(crate) fn violated(&self, what: String) {
        self.note(|| format!("!!! {what}"));
        lock_mutex(&self.violations).push(what);
    }

    pub(crate) fn violations(&self) -> Vec<String> {
        std::mem::take(&mut lock_mutex(&self.violations))
    }

    /// Accesses the provider, and starts the consequences of its changes.
    pub(crate) fn at_provider<T>(
        self: &Arc<Self>,
        act: impl FnOnce(&mut Provider, Moment<'_>) -> T,
    ) -> T {
        let mut provider = lock_mutex(&self.provider);
        let moment = Moment {
            now: self.now(),
            dice: &self.dice,
            faults: self.faults(),
            search_lag: self.faults.search_lag,
            misses_changes: self.faults.misses_changes,
            list_lag: self.faults.list_lag,
            hidden: self.shop.hides_payments_for,
        };
        let result = act(&mut provider, moment);
        let changes = provider.take_changes();
        drop(provider);
        for change in changes {
            (self.follow)(self, change);
        }
        result
    }

    /// Counts a call to the provider. Beyond the limit it ends the run and never returns.
    pub(crate) async fn count_call(&self) {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if calls == CALLS_MAX {
            self.violated(format!(
                "{calls} calls to the provider: it is asked without end"
            ));
            self.has_ended.notify_one();
        }
        if calls >= CALLS_MAX {
            std::future::pending::<()>().await;
        }
    }

    /// Waits for the forced end of a run.
    pub(crate) async fn ended(&self) {
        self.has_ended.notified().await;
    }

    /// Records that a response of the provider has reached the service.
    pub(crate) fn note_reported(&self, answer: &[u8]) {
        lock_mutex(&self.provider).note_reported(answer);
    }

    /// Reads the provider's data.
    pub(crate) fn look<T>(&self, see: impl FnOnce(&Provider) -> T) -> T {
        see(&lock_mutex(&self.provider))
    }

    pub(crate) fn busy(self: &Arc<Self>) -> BusyGuard {
        self.busy.fetch_add(1, Ordering::Relaxed);
        BusyGuard(Arc::clone(self))
    }

    /// Lets time pass until nothing is in progress.
    pub(crate) async fn settle(&self) {
        while self.busy.load(Ordering::Relaxed) > 0 {
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// Advances the time at once, as when a machine sleeps. All timers that are due meanwhile fire
    /// at the end.
    pub(crate) async fn leap(&self, by: Duration) {
        self.settle().await;
        self.note(|| format!("--- {} s pass", by.as_secs()));
        tokio::time::advance(by).await;
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}
