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

pub use low::refresh_low_count;
pub(crate) use low::{count_low, record_level};
use model::StockKey;
pub use model::{AggregateDifference, DAY, DayAggregate, Dimension, StockAggregate, day_of};
pub use notifier::ChangeNotifier;
pub use recount::verify;
pub(crate) use store::{
    DeltaRow,
    versions::{move_version, note_change, version},
};
pub use sum::Sum;
pub(crate) use worker::work;
pub use worker::{compact, compact_all, compact_batch};

use std::collections::BTreeMap;

use db::{Conn, Error, Money, Timestamp, Tx};

use crate::movement::Movement;

/// A movement, as it counts in the aggregates of its day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MovementDelta {
    pub(crate) movement: Movement,
    /// The movement's id, if it is created now. `None` for a deletion.
    pub(crate) id: Option<i64>,
    /// The supplier of an inflow.
    pub(crate) supplier: Option<i64>,
    /// When the movement was booked. A deletion has the time of the booking, too.
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

/// Records a change of stock, and the movement that caused it, if any. `product` holds the current
/// category, brand and prices. To be called in the transaction of the change.
pub(crate) async fn record(
    tx: &mut Tx,
    product: &ProductSnapshot,
    shelf: StockDelta,
    booking: Option<&MovementDelta>,
) -> Result<(), Error> {
    store::record_entry(tx, product, shelf, booking).await
}

/// Records that a movement was deleted, and its effect on the stock. To be called in the same
/// transaction after the product's quantity was changed, which locks the stock row.
pub(crate) async fn record_deletion(
    tx: &mut Tx,
    product: i64,
    shelf: StockDelta,
    booking: &MovementDelta,
    id: i64,
) -> Result<(), Error> {
    store::record_reversal(tx, product, shelf, booking, id).await
}

/// Records a new product. The ledger records its opening quantity.
pub(crate) async fn record_new_product(tx: &mut Tx, product: i64) -> Result<(), Error> {
    store::record_product(tx, product, 1).await
}

/// Records that a product will be deleted. To be called before, with the stock row locked.
pub(crate) async fn record_deleted_product(tx: &mut Tx, product: i64) -> Result<(), Error> {
    store::record_product(tx, product, -1).await
}

/// The fields of a product that aggregates depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProductSnapshot {
    category: i64,
    brand: i64,
    cost_price: Money,
    selling_price: Money,
}

/// Reads these fields of a product. The caller has locked the stock row.
pub(crate) async fn product_snapshot(
    tx: &mut Tx,
    product: i64,
) -> Result<Option<ProductSnapshot>, Error> {
    store::product_snapshot(tx, product).await
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
    store::record_product(tx, product, 1).await?;
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

/// The number of products: all, or those of one category or brand.
pub(crate) async fn count_products(
    conn: &mut Conn,
    of: Option<(Dimension, i64)>,
) -> Result<u64, Error> {
    let key = of.map(|(dimension, record)| StockKey { dimension, record });
    let count = store::count_products(conn, key).await?;
    Ok(count.unsigned_abs())
}

/// The number of movements in a range of whole days, of one supplier or of all. `from` is the start
/// of the first day, `until` the start of the day after the last.
pub(crate) async fn count_movements(
    conn: &mut Conn,
    movement: Movement,
    supplier: Option<i64>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<u64, Error> {
    // Ids begin at 1; 0 stands for all suppliers in the table.
    if supplier.is_some_and(|supplier| supplier < 1) {
        return Ok(0);
    }
    let count = store::count_movements(conn, movement, supplier, from, until).await?;
    Ok(count.unsigned_abs())
}

/// The movements of a range of whole days: their number, and the range of their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MovementRange {
    pub(crate) count: u64,
    /// The smallest and largest id that any of them can have.
    pub(crate) ids: (i64, i64),
}

/// Same as [`count_movements`], with the range of ids.
pub(crate) async fn movement_range(
    conn: &mut Conn,
    movement: Movement,
    supplier: Option<i64>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<MovementRange, Error> {
    let (count, ids) = store::movement_range(conn, movement, supplier, from, until).await?;
    let count = if supplier.is_some_and(|supplier| supplier < 1) {
        0
    } else {
        count.unsigned_abs()
    };
    Ok(MovementRange { count, ids })
}

/// The aggregates of each UTC day that has movements, from the day `from` up to but excluding the
/// day `until`.
pub async fn days(
    conn: &mut Conn,
    movement: Movement,
    from: Timestamp,
    until: Timestamp,
) -> Result<BTreeMap<Timestamp, DayAggregate>, Error> {
    store::days(conn, movement, from, until).await
}

/// The stock by category and by brand, with the record's id.
pub async fn stock(conn: &mut Conn) -> Result<BTreeMap<(Dimension, i64), StockAggregate>, Error> {
    let stock = store::stock(conn).await?;
    Ok(stock
        .into_iter()
        .map(|(key, aggregate)| ((key.dimension, key.record), aggregate))
        .collect())
}

/// The version of the ledger: a number that grows with every change of stock, in any process.
pub(crate) async fn ledger_end(conn: &mut Conn) -> Result<i64, Error> {
    store::ledger_end(conn).await
}

/// Recounts everything and replaces the stored aggregates and deltas.
pub(crate) async fn rebuild(tx: &mut Tx) -> Result<(), Error> {
    let aggregates = recount::recount(tx).await?;
    store::replace(tx, &aggregates).await?;
    low::recount(tx).await
}
