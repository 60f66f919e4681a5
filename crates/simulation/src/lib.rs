//! A deterministic simulation of payments. The checkout service's own code runs with a simulated
//! clock, network, provider, database connection and process, driven by a seed. A run is a shop
//! with faults, then a fortnight without faults, then a check of everything that the service has
//! promised. `README.md` lists the faults and the invariants. The service is called over HTTP, and
//! its real workers run.

mod bank;
mod buyer;
mod checks;
mod client;
mod dice;
mod faults;
mod merchant;
mod network;
mod orders;
mod promises;
mod provider;
mod replica;
mod settings;
mod shop;
mod trace;
mod world;

use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use checkout::reconcile::{self, Scope};
use db::MemoryDatabase;
use tokio::time::sleep;

use world::World;

/// Runs seeds one after the other on one in-memory database.
pub struct Simulator {
    database: Arc<MemoryDatabase>,
}

/// The result of a seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The violated invariants.
    pub violations: Vec<String>,
    /// The events of the run, one per line. Empty unless requested.
    pub trace: Vec<String>,
}

/// Why a seed could not be run.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The in-memory database failed.
    #[error("the database in memory fails")]
    Database(#[from] db::Error),
    /// The async runtime could not be created.
    #[error("no runtime can be made")]
    Runtime(#[from] std::io::Error),
}

impl Simulator {
    /// A simulator for one thread.
    ///
    /// # Errors
    /// When the tables cannot be created.
    pub fn new() -> Result<Self, SetupError> {
        keep_freed_memory();
        let database = MemoryDatabase::new(&checkout::MIGRATIONS)?;
        Ok(Self {
            database: Arc::new(database),
        })
    }

    /// Runs a seed. The same seed always gives the same run.
    ///
    /// # Errors
    /// When the run could not be started.
    pub fn run(&self, seed: u64, is_traced: bool) -> Result<Outcome, SetupError> {
        self.database.rewind()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()?;
        let database = Arc::clone(&self.database);
        let outcome = runtime.block_on(async move {
            let world = World::new(seed, database, is_traced, bank::follow);
            let run = async {
                run_phases(&world).await;
                checks::all(&world).await;
            };
            tokio::select! {
                biased;
                () = world.ended() => {}
                () = run => {}
            }
            let outcome = Outcome {
                violations: world.violations(),
                trace: world.trace(),
            };
            // Breaks the reference cycle between replicas and world.
            replica::end_all(&world);
            outcome
        });
        Ok(outcome)
    }
}

/// SQLite creates a temporary table for every `RETURNING`, and glibc returns its memory to the
/// system each time, which takes an eighth of a run. After a block of this size was freed once,
/// glibc keeps up to twice as much free memory.
fn keep_freed_memory() {
    const BLOCK: usize = 16 * 1024 * 1024;
    drop(std::hint::black_box(Vec::<u8>::with_capacity(BLOCK)));
}

/// Runs seeds on all cores. Returns those that failed with their violations, the smallest seed
/// first. `progress` is called with the number of completed seeds.
///
/// # Errors
/// When a seed could not be run.
pub fn search(
    seeds: Range<u64>,
    progress: impl Fn(u64) + Sync,
) -> Result<Vec<(u64, Vec<String>)>, SetupError> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let (next, done) = (AtomicU64::new(seeds.start), AtomicU64::new(0));
    let work = || -> Result<_, SetupError> {
        let simulator = Simulator::new()?;
        let mut failed = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if !seeds.contains(&seed) {
                return Ok(failed);
            }
            let violations = simulator.run(seed, false)?.violations;
            if !violations.is_empty() {
                failed.push((seed, violations));
            }
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    let mut failed = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut failed = Vec::new();
        for worker in workers {
            match worker.join() {
                Ok(found) => failed.extend(found?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok::<_, SetupError>(failed)
    })?;
    failed.sort();
    Ok(failed)
}

/// The time with faults, and the time without faults after it.
async fn run_phases(world: &Arc<World>) {
    replica::start_all(world).await;
    for number in 1..=2 + usize::from(world.dice.happens(500)) {
        buy(world, number, 20);
    }
    sleep(world.dice.seconds(60, 120)).await;
    for _ in 0..=world.dice.below(2) {
        match world.dice.below(4) {
            0 => world.leap(world.dice.seconds(60, 7200)).await,
            1 => reconcile_all(world),
            _ => {}
        }
        sleep(world.dice.seconds(10, 40)).await;
    }
    if world.shop.hides_payments() || (world.shop.has_orders && world.dice.happens(500)) {
        orders::come_late(world).await;
    }
    if world.faults.absence_hours > 0 {
        take_service_down(world).await;
    }
    if world.faults.has_outage {
        outage(world).await;
    } else if world.faults.quota == faults::DAILY_QUOTA {
        pass_outage_hours(world).await;
    }
    world.calm_down();
    replica::end_all(world);
    replica::start_all(world).await;
    sleep(Duration::from_secs(60)).await;
    if world.shop.has_orders {
        // The shortest orders expire now, while their codes could still be paid.
        world.leap(Duration::from_secs(14 * 60)).await;
        sleep(checks::orders::SOON).await;
        checks::orders::have_ended(world).await;
    }
    // Enough hours for all checks, events and expiries: the first steps are for the reconciler, the
    // last for the provider's retries.
    for hours in [1, 1, 2, 6, 24] {
        pass_hours(world, hours).await;
    }
    merchant::retry_unknown_refunds(world).await;
    for hours in [48, 96, 96] {
        pass_hours(world, hours).await;
    }
    world.settle().await;
}

/// Starts a purchase, after up to `within` seconds.
fn buy(world: &Arc<World>, number: usize, within: u64) {
    let world = Arc::clone(world);
    let has_order = world.shop.has_orders && world.dice.happens(750);
    if has_order || world.shop.hides_payments() {
        tokio::spawn(orders::sell(world, number, within));
    } else {
        tokio::spawn(buyer::pay(world, number, within));
    }
}

async fn pass_hours(world: &Arc<World>, hours: u64) {
    world.leap(Duration::from_secs(hours * 3600)).await;
    sleep(Duration::from_secs(5)).await;
}

/// Runs the reconciler like an operator's command, for everything that is open.
fn reconcile_all(world: &Arc<World>) {
    if let Some(replica) = world.replicas.running().first() {
        let state = replica.state.clone();
        world.note(|| format!("an operator reconciles on replica {}", replica.life.number));
        tokio::spawn(async move { reconcile::run_once(&state, Scope::All).await.map(drop) });
    }
}

/// The number of the purchase that is being paid when the service goes down.
const LAST_PURCHASE: usize = 9;

/// The service is down for hours or days; the provider and the buyers go on.
async fn take_service_down(world: &Arc<World>) {
    let hours = world.faults.absence_hours;
    // A buyer is always paying when the service goes down.
    buy(world, LAST_PURCHASE, 5);
    sleep(world.dice.seconds(3, 20)).await;
    world.note(|| format!("--- the service is off for {hours} hours"));
    replica::end_all(world);
    sleep(Duration::from_secs(hours * 3600) + world.dice.seconds(0, 600)).await;
    replica::start_all(world).await;
    sleep(world.dice.seconds(10, 60)).await;
}

/// The provider is down for hours.
async fn outage(world: &Arc<World>) {
    world.note(|| "--- the provider is down");
    world.at_provider(|provider, _| provider.is_down = true);
    pass_outage_hours(world).await;
    world.at_provider(|provider, _| provider.is_down = false);
    world.note(|| "--- the provider is back");
}

/// Hours in which the provider cannot be called, or not often, while banks go on. Time advances in
/// growing steps, like the waits of retries.
async fn pass_outage_hours(world: &Arc<World>) {
    sleep(world.dice.seconds(0, 20)).await;
    bank::charge_back_some(world);
    for exponent in 2..=12 + world.dice.below(2) {
        sleep(Duration::from_secs(20)).await;
        world.leap(Duration::from_secs(1 << exponent)).await;
    }
}
