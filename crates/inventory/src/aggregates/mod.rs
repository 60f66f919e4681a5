//! Exact totals for lists and the dashboard that are too slow to count by query: movements per day,
//! units and value sold per UTC day, the stock of each category and brand.
//!
//! Every change inserts one delta into `aggregate_deltas` in its own transaction, and a worker
//! compacts the deltas into the aggregates. With a shared counter instead, every sale would wait
//! for the lock of one row. Readers add up aggregates and deltas in one statement, so totals are
//! always exact. A change of a price records a revaluation of the product's sales, one delta per
//! day. Carries no rule of the specification. `balcao inventory verify` recounts everything and
//! compares.

mod low;
mod model;
mod notifier;
mod recount;
mod store;
mod sum;
mod worker;

pub(crate) use low::count_low;
pub use low::refresh_low_count;
pub use model::{AggregateDifference, DAY, DayAggregate, Dimension, StockAggregate, day_of};
pub use notifier::ChangeNotifier;
pub use recount::verify;
pub(crate) use store::{
    DeltaRow, count_products, ledger_end, movement_range, product_snapshot, record,
    record_deletion,
    versions::{note_change, version},
};
pub use store::{days, stock};
pub use sum::Sum;
pub(crate) use sum::{sum_of_units, summed_units};
pub(crate) use worker::work;
pub use worker::{compact, compact_all, compact_batch};

use std::collections::BTreeMap;

use db::{Error, Money, Timestamp, Tx};

use crate::movement::Movement;

/// A movement, as it counts in the aggregates of its day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MovementDelta {
    pub(crate) movement: Movement,
    /// The movement's id, if it is created now. `None` for a deletion.
    pub(crate) id: Option<i64>,
    /// The supplier of an inflow.
    pub(crate) supplier: Option<i64>,
    /// The time of the movement, also of a deleted one.
    pub(crate) at: Timestamp,
    /// At least 1.
    pub(crate) units: i64,
}

impl MovementDelta {
    /// Units whose value follows the product's current prices: those of sales.
    const fn present(&self) -> i64 {
        match self.movement {
            Movement::Inflow => 0,
            Movement::Outflow => self.units,
        }
    }
}

/// The effect of a change on a product's stock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StockDelta {
    /// Units added, or removed if negative.
    pub(crate) units: i64,
    /// 1 if the product became low, -1 if it is no longer low, 0 otherwise.
    pub(crate) low: i64,
}

/// Records a new product. The ledger records its opening quantity.
pub(crate) async fn record_new_product(tx: &mut Tx, product: i64) -> Result<(), Error> {
    store::record_product(tx, product, 1, 0).await
}

/// Records that a product will be deleted. To be called before, with the stock row locked.
pub(crate) async fn record_deleted_product(tx: &mut Tx, product: i64) -> Result<(), Error> {
    store::record_product(tx, product, -1, 0).await
}

/// Records that a product became low (1) or is no longer low (-1) without a change of its quantity.
/// The caller has locked the stock row.
pub(crate) async fn record_level(tx: &mut Tx, product: i64, low: i64) -> Result<(), Error> {
    store::record_product(tx, product, 0, low).await
}

/// The fields of a product that aggregates depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProductSnapshot {
    category: i64,
    brand: i64,
    cost_price: Money,
    selling_price: Money,
}

impl ProductSnapshot {
    /// Cost price and selling price of a unit.
    pub(crate) const fn prices(&self) -> (Money, Money) {
        (self.cost_price, self.selling_price)
    }

    /// Whether any of the values differs from the snapshot. `None` means unchanged.
    pub(crate) fn is_changed_by(
        &self,
        category: Option<i64>,
        brand: Option<i64>,
        cost_price: Option<Money>,
        selling_price: Option<Money>,
    ) -> bool {
        category.is_some_and(|category| category != self.category)
            || brand.is_some_and(|brand| brand != self.brand)
            || cost_price.is_some_and(|price| price != self.cost_price)
            || selling_price.is_some_and(|price| price != self.selling_price)
    }
}

/// Records that a product's category, brand or prices have changed: adds its stock under the new
/// values, and revalues its past sales at the new prices. The caller has recorded the removal under
/// the old values with [`record_deleted_product`] before the change.
pub(crate) async fn record_changed_product(
    tx: &mut Tx,
    product: i64,
    before: &ProductSnapshot,
) -> Result<(), Error> {
    let Some(after) = product_snapshot(tx, product).await? else {
        return Ok(());
    };
    store::record_product(tx, product, 1, 0).await?;
    if before.prices() == after.prices() {
        return Ok(());
    }
    let mut days: BTreeMap<Timestamp, i128> = BTreeMap::new();
    for (at, units) in store::sales(tx, product).await? {
        *days.entry(day_of(at)).or_default() += i128::from(units);
    }
    let sales: Vec<(Timestamp, i64)> = days.into_iter().flat_map(in_pieces).collect();
    let reversals = sales.iter().map(|(day, units)| (*day, -units));
    store::record_revaluation(tx, reversals, before.prices()).await?;
    store::record_revaluation(tx, sales.iter().copied(), after.prices()).await
}

/// Splits the units of a day into numbers that fit into a column.
fn in_pieces((day, units): (Timestamp, i128)) -> impl Iterator<Item = (Timestamp, i64)> {
    let mut left = units;
    std::iter::from_fn(move || {
        let part = i64::try_from(left).unwrap_or(i64::MAX);
        left -= i128::from(part);
        (part != 0).then_some((day, part))
    })
}

/// Recounts everything and replaces the stored aggregates and deltas.
pub(crate) async fn rebuild(tx: &mut Tx) -> Result<(), Error> {
    let aggregates = recount::recount(tx).await?;
    store::replace(tx, &aggregates).await?;
    low::recount(tx).await
}
