//! Exact totals that lists and the dashboard need and that no query could count in time: how many
//! movements on which days, what was sold each UTC day and at which value, the stock of each
//! category and brand.
//!
//! Every change writes one delta in its own transaction (`aggregate_deltas`), and a worker compacts
//! the deltas into the aggregates. A counter that every sale updates would be a row that every sale
//! waits for. Readers add up aggregates and deltas in one statement, and are exact at any moment. A
//! change of a price records the product's sales again, day by day. Carries no rule of the
//! specification; `balcao inventory verify` counts everything again and compares.

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

/// A movement, as the aggregates of its day count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MovementDelta {
    pub(crate) movement: Movement,
    /// Its id, when it is booked.
    pub(crate) id: Option<i64>,
    /// Of inflows.
    pub(crate) supplier: Option<i64>,
    /// When it was booked: its own time, also when it is deleted later.
    pub(crate) at: Timestamp,
    /// 1 or more.
    pub(crate) units: i64,
}

impl MovementDelta {
    /// Units whose value follows the product's present prices: those of sales.
    const fn present(&self) -> i64 {
        match self.movement {
            Movement::Inflow => 0,
            Movement::Outflow => self.units,
        }
    }
}

/// What a change did on a product's shelf.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StockDelta {
    /// Units that came, or (negative) left.
    pub(crate) units: i64,
    /// 1: the product is low now; -1: it no longer is; 0: it is what it was.
    pub(crate) low: i64,
}

/// Records what happened on the shelf of a product that stands so, and the movement that was booked
/// with it. To be called in the transaction of the change.
pub(crate) async fn record(
    tx: &mut Tx,
    product: &ProductSnapshot,
    shelf: StockDelta,
    booking: Option<&MovementDelta>,
) -> Result<(), Error> {
    store::record_entry(tx, product, shelf, booking).await
}

/// Records that a movement was deleted, and what that did on the shelf. As [`record`], after the
/// product's quantity was changed, which locks it.
pub(crate) async fn record_deletion(
    tx: &mut Tx,
    product: i64,
    shelf: StockDelta,
    booking: &MovementDelta,
    id: i64,
) -> Result<(), Error> {
    store::record_reversal(tx, product, shelf, booking, id).await
}

/// Records that a product was made; what it opens with is recorded by the ledger.
pub(crate) async fn record_new_product(tx: &mut Tx, product: i64) -> Result<(), Error> {
    store::record_product(tx, product, 1).await
}

/// Records that a product goes. To be called before it does, with its stock row locked.
pub(crate) async fn record_deleted_product(tx: &mut Tx, product: i64) -> Result<(), Error> {
    store::record_product(tx, product, -1).await
}

/// What the aggregates count a product by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProductSnapshot {
    category: i64,
    brand: i64,
    cost_price: Money,
    selling_price: Money,
}

/// How a product stands. To be called with its stock row locked, so that nobody sells it and nobody
/// changes its prices in between.
pub(crate) async fn product_snapshot(
    tx: &mut Tx,
    product: i64,
) -> Result<Option<ProductSnapshot>, Error> {
    store::product_snapshot(tx, product).await
}

impl ProductSnapshot {
    /// What a unit cost, and what it sells for.
    pub(crate) const fn prices(&self) -> (Money, Money) {
        (self.cost_price, self.selling_price)
    }

    /// Whether these differ from what stands; `None` stays as it is.
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

/// Records that a product changes its category, its brand or its prices, around `change`, which
/// writes it: its stock moves with it, and its sales of all days are worth the new prices wherever
/// they are shown at present prices.
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
    let taken_back = sales.iter().map(|(day, units)| (*day, -units));
    store::record_revaluation(tx, taken_back, before.prices()).await?;
    store::record_revaluation(tx, sales.iter().copied(), after.prices()).await
}

/// A day's units in pieces that a row holds.
fn in_pieces((day, units): (Timestamp, i128)) -> impl Iterator<Item = (Timestamp, i64)> {
    let mut left = units;
    std::iter::from_fn(move || {
        let piece = i64::try_from(left).unwrap_or(i64::MAX);
        left -= i128::from(piece);
        (piece != 0).then_some((day, piece))
    })
}

/// How many products there are: all, or those of a category or a brand.
pub(crate) async fn count_products(
    conn: &mut Conn,
    of: Option<(Dimension, i64)>,
) -> Result<u64, Error> {
    let key = of.map(|(dimension, record)| StockKey { dimension, record });
    let count = store::count_products(conn, key).await?;
    Ok(count.unsigned_abs())
}

/// How many movements there are from the first moment of one day until that of another, of a
/// supplier or of all.
pub(crate) async fn count_movements(
    conn: &mut Conn,
    movement: Movement,
    supplier: Option<i64>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<u64, Error> {
    // Ids begin at 1.
    if supplier.is_some_and(|supplier| supplier < 1) {
        return Ok(0);
    }
    let count = store::count_movements(conn, movement, supplier, from, until).await?;
    Ok(count.unsigned_abs())
}

/// The movements of a stretch of whole days: how many there are, and between which ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MovementRange {
    pub(crate) count: u64,
    /// The first and the last that any of them may have.
    pub(crate) ids: (i64, i64),
}

/// As [`count_movements`], of a stretch of days, and where it lies among the ids.
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

/// The movements of each UTC day that has any, from the first moment of one day until that of
/// another.
pub async fn days(
    conn: &mut Conn,
    movement: Movement,
    from: Timestamp,
    until: Timestamp,
) -> Result<BTreeMap<Timestamp, DayAggregate>, Error> {
    store::days(conn, movement, from, until).await
}

/// What is on the shelves, by the id of each category and of each brand.
pub async fn stock(conn: &mut Conn) -> Result<BTreeMap<(Dimension, i64), StockAggregate>, Error> {
    let stock = store::stock(conn).await?;
    Ok(stock
        .into_iter()
        .map(|(key, aggregate)| ((key.dimension, key.record), aggregate))
        .collect())
}

/// A number that grows whenever stock moves, whichever process moves it.
pub(crate) async fn ledger_end(conn: &mut Conn) -> Result<i64, Error> {
    store::ledger_end(conn).await
}

/// Counts everything again, and puts the result in the place of whatever is there.
pub(crate) async fn rebuild(tx: &mut Tx) -> Result<(), Error> {
    let aggregates = recount::recount(tx).await?;
    store::replace(tx, &aggregates).await?;
    low::recount(tx).await
}
