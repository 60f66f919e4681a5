//! A deterministic simulation of payments: the checkout service's own code under a simulated clock,
//! network, provider, database connection and process, driven by a seed. A run is a shop with
//! faults, then a fortnight without, then checks of everything that the service has promised.
//! `README.md` lists the faults and the invariants. The service is called over HTTP, and its
//! workers run as they are.

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

/// Runs seeds, one after the other, over one database in memory.
pub struct Simulator {
    database: Arc<MemoryDatabase>,
}

/// What came of a seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What must never be, and was.
    pub violations: Vec<String>,
    /// What happened, line by line; empty unless it was asked for.
    pub trace: Vec<String>,
}

/// Why a seed could not be run at all.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The database in memory.
    #[error("the database in memory fails")]
    Database(#[from] db::Error),
    /// The runtime.
    #[error("no runtime can be made")]
    Runtime(#[from] std::io::Error),
}

impl Simulator {
    /// A simulator for one thread.
    ///
    /// # Errors
    /// When the tables cannot be made.
    pub fn new() -> Result<Self, SetupError> {
        keep_freed_memory();
        let database = MemoryDatabase::new(&checkout::MIGRATIONS)?;
        Ok(Self {
            database: Arc::new(database),
        })
    }

    /// Runs a seed: the same one the same way each time.
    ///
    /// # Errors
    /// When it could not be run.
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
                live(&world).await;
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
            // Replicas and world know each other.
            replica::end_all(&world);
            outcome
        });
        Ok(outcome)
    }
}

/// SQLite makes a temporary table for every `RETURNING`, and glibc gives its memory back to the
/// system at the end, which takes an eighth of a run. Once a block of this size was freed, glibc
/// keeps what is freed up to twice as much.
fn keep_freed_memory() {
    const BLOCK: usize = 16 * 1024 * 1024;
    drop(std::hint::black_box(Vec::<u8>::with_capacity(BLOCK)));
}

/// Runs seeds on all cores and gives those that failed with what they violated, the smallest seed
/// first. `progress` hears how many are done.
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

/// Bad days, and the calm after them.
async fn live(world: &Arc<World>) {
    replica::start_all(world).await;
    for number in 1..=2 + usize::from(world.dice.happens(500)) {
        buy(world, number, 20);
    }
    sleep(world.dice.seconds(60, 120)).await;
    for _ in 0..=world.dice.below(2) {
        match world.dice.below(4) {
            0 => world.leap(world.dice.seconds(60, 7200)).await,
            1 => ask_all(world),
            _ => {}
        }
        sleep(world.dice.seconds(10, 40)).await;
    }
    if world.shop.hides_payments() || (world.shop.has_orders && world.dice.happens(500)) {
        orders::come_late(world).await;
    }
    if world.faults.absence_hours > 0 {
        leave(world).await;
    }
    if world.faults.has_outage {
        outage(world).await;
    } else if world.faults.quota == faults::DAILY_QUOTA {
        hours(world).await;
    }
    world.calm_down();
    replica::end_all(world);
    replica::start_all(world).await;
    sleep(Duration::from_secs(60)).await;
    if world.shop.has_orders {
        // The shortest orders end now, while their codes could still be paid.
        world.leap(Duration::from_secs(14 * 60)).await;
        sleep(checks::orders::SOON).await;
        checks::orders::have_ended(world).await;
    }
    // Hours until all is asked, told and expired: the first are those of the reconciler, the last
    // those of the provider's repetitions.
    for hours in [1, 1, 2, 6, 24] {
        pass(world, hours).await;
    }
    merchant::ask_again(world).await;
    for hours in [48, 96, 96] {
        pass(world, hours).await;
    }
    world.settle().await;
}

/// Somebody buys something, after up to so many seconds.
fn buy(world: &Arc<World>, number: usize, within: u64) {
    let world = Arc::clone(world);
    let has_order = world.shop.has_orders && world.dice.happens(750);
    if has_order || world.shop.hides_payments() {
        tokio::spawn(orders::sell(world, number, within));
    } else {
        tokio::spawn(buyer::pay(world, number, within));
    }
}

async fn pass(world: &Arc<World>, hours: u64) {
    world.leap(Duration::from_secs(hours * 3600)).await;
    sleep(Duration::from_secs(5)).await;
}

/// An operator asks the provider about everything that is open.
fn ask_all(world: &Arc<World>) {
    if let Some(replica) = world.replicas.running().first() {
        let state = replica.state.clone();
        world.note(|| format!("an operator reconciles on replica {}", replica.life.number));
        tokio::spawn(async move { reconcile::run_once(&state, Scope::All).await.map(drop) });
    }
}

/// The number of the purchase that is paid for when the service goes off.
const LAST_PURCHASE: usize = 9;

/// Nobody runs the service for hours or days; the provider and the buyers go on.
async fn leave(world: &Arc<World>) {
    let hours = world.faults.absence_hours;
    // Somebody is always at it when the lights go out.
    buy(world, LAST_PURCHASE, 5);
    sleep(world.dice.seconds(3, 20)).await;
    world.note(|| format!("--- the service is off for {hours} hours"));
    replica::end_all(world);
    sleep(Duration::from_secs(hours * 3600) + world.dice.seconds(0, 600)).await;
    replica::start_all(world).await;
    sleep(world.dice.seconds(10, 60)).await;
}

/// The provider answers nobody for hours.
async fn outage(world: &Arc<World>) {
    world.note(|| "--- the provider is down");
    world.at_provider(|provider, _| provider.is_down = true);
    hours(world).await;
    world.at_provider(|provider, _| provider.is_down = false);
    world.note(|| "--- the provider is back");
}

/// Hours on which the provider cannot be asked, or not often, while banks go on. Time leaps ever
/// further, as retries do.
async fn hours(world: &Arc<World>) {
    sleep(world.dice.seconds(0, 20)).await;
    bank::charge_back_some(world);
    for exponent in 2..=12 + world.dice.below(2) {
        sleep(Duration::from_secs(20)).await;
        world.leap(Duration::from_secs(1 << exponent)).await;
    }
}
