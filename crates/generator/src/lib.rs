//! Generates a realistic data set of any size from a seed, for benchmarks, trials and the demo:
//! Brazilian goods of which few sell often, weekdays and seasons, deliveries, prices with margins,
//! and a consistent ledger. Fills an empty catalogue in one transaction.
//!
//! `goods` has the products, `calendar` the times, `simulation` the movements, and `store` writes
//! them.

mod calendar;
mod chance;
mod goods;
mod simulation;
mod store;

use std::{sync::Arc, time::Duration};

use db::{Db, Timestamp, Tx};

use goods::{Goods, SUPPLIERS};
use simulation::Shop;
use store::Load;

/// What to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The number of products, 1 to 10 million.
    pub products: u64,
    /// The number of inflows and outflows together.
    pub movements: u64,
    /// The seed. The same seed and the same `until` give the same data.
    pub seed: u64,
    /// The days of history, at least 1.
    pub days: u32,
    /// The end of the history.
    pub until: Timestamp,
}

/// Called with the number of products and movements written since the last call.
pub type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// Why nothing was generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The database has records already. Generated ones could not be removed again.
    #[error("the catalogue is not empty: give it a database of its own")]
    NotEmpty,
    /// The numbers exceed the limits.
    #[error("1 to {MOST_PRODUCTS} products over at least one day can be made")]
    Plan,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// The largest number of products.
pub const MOST_PRODUCTS: u64 = 10_000_000;
/// Products are added during this time, before the first movement.
const STOCKING: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// From this number of rows on, indexes are built after the rows are inserted.
const MANY: u64 = 50_000;

/// Fills the catalogue of `db`. On failure nothing is changed.
pub async fn generate(db: &Db, plan: Plan, progress: Progress) -> Result<(), GenerateError> {
    if !(1..=MOST_PRODUCTS).contains(&plan.products) || plan.days == 0 {
        return Err(GenerateError::Plan);
    }
    db.load(async move |tx| fill(tx, plan, &progress).await)
        .await
}

async fn fill(tx: &mut Tx, plan: Plan, progress: &Progress) -> Result<(), GenerateError> {
    if !store::is_empty(tx).await? {
        return Err(GenerateError::NotEmpty);
    }
    let dropped = if plan.products + plan.movements >= MANY {
        Some(store::drop_indexes(tx).await?)
    } else {
        None
    };
    let history = Duration::from_secs(u64::from(plan.days) * 24 * 60 * 60);
    let begin = plan.until - history - STOCKING;
    let goods = Goods::read();
    store::insert_named(tx, "brands", goods.brands().iter().copied(), begin).await?;
    store::insert_named(tx, "categories", goods.categories(), begin).await?;
    store::insert_named(tx, "suppliers", SUPPLIERS, begin).await?;
    let mut load = Load::new();
    let mut shop = stock_up(tx, plan, &goods, begin, &mut load, progress).await?;
    trade(tx, plan, &goods, &mut shop, &mut load, progress).await?;
    for (id, shelf) in (1..).zip(&shop.shelves) {
        load.stock(id, shelf);
        load.send_when_many(tx).await?;
    }
    load.send(tx).await?;
    store::set_counters(tx).await?;
    inventory::derived::rebuild(tx).await?;
    if let Some(dropped) = dropped {
        tx.rebuild_indexes(dropped).await?;
    }
    Ok(())
}

/// Inserts every product with its opening quantity.
async fn stock_up(
    tx: &mut Tx,
    plan: Plan,
    goods: &Goods,
    begin: Timestamp,
    load: &mut Load,
    progress: &Progress,
) -> Result<Shop, db::Error> {
    let mut shop = Shop::new(plan.products, plan.seed);
    let stocking = u64::try_from(STOCKING.as_micros()).unwrap_or(0);
    for (number, rank) in (0..plan.products).zip(shop.ranks()) {
        let Some(product) = goods.product(number, shop.chance()) else {
            return Err(db::Error::other("the table of goods has a gap"));
        };
        let now = begin + Duration::from_micros(stocking / plan.products * number);
        let suppliers = SUPPLIERS.len() as u64;
        let shelf = shop.open(
            &product,
            rank,
            plan.movements,
            plan.days.into(),
            now,
            suppliers,
        );
        let id = i64::try_from(number + 1).unwrap_or(i64::MAX);
        load.product(id, product, &shelf, now);
        load.send_when_many(tx).await?;
        progress(1);
    }
    load.send(tx).await?;
    Ok(shop)
}

/// Inserts the movements from the first day of the history to the last.
async fn trade(
    tx: &mut Tx,
    plan: Plan,
    goods: &Goods,
    shop: &mut Shop,
    load: &mut Load,
    progress: &Progress,
) -> Result<(), db::Error> {
    for day in calendar::days(plan.until, plan.days, plan.movements) {
        for number in 0..day.movements {
            let Some(step) = shop.step(&day, number) else {
                return Err(db::Error::other("a product without a shelf"));
            };
            if let Some(shelf) = shop.shelves.get(step.product) {
                let id = i64::try_from(step.product + 1).unwrap_or(i64::MAX);
                let title = || goods.title(step.product as u64).unwrap_or_default();
                load.step(&step, id, shelf, title);
            }
            load.send_when_many(tx).await?;
            progress(1);
        }
    }
    load.send(tx).await
}
