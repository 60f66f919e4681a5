//! `balcao generate`: fills inventory's database with realistic data, for benchmarks and trials.

use std::sync::Arc;

use clap::Args;
use db::{Db, Options};
use generator::{Plan, generate};
use web::Clock;

use super::common::Common;
use crate::console;
use crate::failure::{Context, Failure};
use crate::progress::Progress;
use crate::run::inventory::with_database_options;
use crate::settings::Purpose;

/// Fill an empty inventory with synthetic products and a year of movements
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao --data-dir /tmp/trial generate --products 10000 --movements 100000\n  balcao --data-dir /tmp/large generate --products 1000000 --movements 10000000 --seed 7\n\nThe same seed gives the same goods and movements, up to the time at which the history ends: now.\nA million products and ten million movements take some 8 GB, and as much again while they are written."
)]
pub(super) struct GenerateArguments {
    /// How many products
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=generator::MOST_PRODUCTS))]
    products: u64,
    /// How many inflows and outflows together
    #[arg(long)]
    movements: u64,
    /// Seed: the same number makes the same data
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Days of history: a whole year, so that every season occurs.
const DAYS: u32 = 365;
/// Building indexes is faster with a large page cache.
const CACHE_MIB: u32 = 192;

pub(super) fn run(arguments: &GenerateArguments, common: &Common) -> Result<(), Failure> {
    let plan = Plan {
        products: arguments.products,
        movements: arguments.movements,
        seed: arguments.seed,
        days: DAYS,
        until: Clock::system().now(),
    };
    let options = Options {
        cache_mib: CACHE_MIB,
        readers: 1,
        ..Options::default()
    };
    common.run(Purpose::Any, async |settings| {
        with_database_options(&settings, options, async |db| fill(db, plan).await).await?;
        console::print(&format!(
            "{} products and {} movements",
            plan.products, plan.movements
        ))
    })
}

async fn fill(db: &Db, plan: Plan) -> Result<(), Failure> {
    let progress = Progress::steps("generate", plan.products + plan.movements);
    let steps = Arc::new(move |count| progress.add(count));
    generate(db, plan, steps).await.context("nothing was made")
}
