//! SQL that records deltas and compacts them into the aggregates. Reads are in `read`, recounts in
//! `recount`, low products in `low`, the version of the products in `versions`.

pub(super) mod low;
mod read;
mod recount;
pub(super) mod versions;

use db::{Conn, Engine, Error, Kind, Money, Param, Row, Rows, Timestamp, Tx};
use resource::row;

pub(super) use read::stored;
pub(crate) use read::{count_products, ledger_end, movement_range};
pub use read::{days, stock};
pub(super) use recount::{inflows_after, outflows_before, products_after};

use super::{
    Delta, ProductSnapshot,
    model::{Aggregates, DayAggregate, DayKey, IdRange, IdRangeKey, StockAggregate, StockKey},
};
use crate::movement::Movement;

/// The columns of a delta, in the order of [`delta_of`].
macro_rules! delta_columns {
    () => {
        "movement, supplier_id, day, movements, moved, moved_cost_price, moved_selling_price, present, \
         category_id, brand_id, cost_price, selling_price, products, units, movement_id, low"
    };
}
use delta_columns;

row! {
    /// A delta that is not compacted yet.
    pub(crate) struct DeltaRow in "aggregate_deltas" {
        movement = "movement",
        supplier = "supplier_id",
        day = "day",
        movements = "movements",
        moved = "moved",
        moved_cost_price = "moved_cost_price",
        moved_selling_price = "moved_selling_price",
        present = "present",
        category = "category_id",
        brand = "brand_id",
        products = "products",
        units = "units",
        cost_price = "cost_price",
        selling_price = "selling_price",
        movement_id = "movement_id",
        low = "low",
    }
}

/// Records a change. To be called in its transaction, with the product's stock row locked.
///
/// Inserts values instead of selecting from the product's row: SQLite must be able to roll back an
/// `INSERT … SELECT` of several rows, and journals every page that it changes for that.
pub(crate) async fn record(tx: &mut Tx, delta: &Delta) -> Result<(), Error> {
    let (product, booked) = (&delta.product, delta.booked_prices);
    let row = DeltaRow::<&dyn Param> {
        movement: &delta.moved.map(|(movement, _)| movement),
        supplier: &delta.supplier,
        day: &delta.moved.map(|(_, day)| day),
        movements: &delta.movements,
        moved: &delta.moved_units,
        moved_cost_price: &booked.0,
        moved_selling_price: &booked.1,
        present: &delta.present,
        category: &product.category,
        brand: &product.brand,
        products: &delta.products,
        units: &delta.units,
        cost_price: &product.cost_price,
        selling_price: &product.selling_price,
        movement_id: &delta.movement_id,
        low: &delta.low,
    };
    let (sql, values) = row.insert();
    tx.execute(sql, &values).await.map(drop)
}

const DELTAS: &[(&str, Kind)] = &[
    ("movement", Kind::Text),
    ("day", Kind::Timestamp),
    ("movements", Kind::Integer),
    ("moved", Kind::Integer),
    ("moved_cost_price", Kind::Money),
    ("moved_selling_price", Kind::Money),
    ("present", Kind::Integer),
    ("category_id", Kind::Integer),
    ("brand_id", Kind::Integer),
    ("products", Kind::Integer),
    ("units", Kind::Integer),
    ("cost_price", Kind::Money),
    ("selling_price", Kind::Money),
];

/// Records that sales of a product (day, units) are valued at the prices `after` instead of
/// `before`.
pub(super) async fn record_revaluation(
    tx: &mut Tx,
    sales: &[(Timestamp, i64)],
    before: (Money, Money),
    after: (Money, Money),
) -> Result<(), Error> {
    let mut rows = Rows::new("aggregate_deltas", DELTAS);
    for ((cost_price, selling_price), times) in [(before, -1), (after, 1)] {
        for (day, units) in sales {
            rows.push([
                Movement::Outflow.name().into(),
                (*day).into(),
                0_i64.into(),
                0_i64.into(),
                cost_price.into(),
                selling_price.into(),
                (times * units).into(),
                0_i64.into(),
                0_i64.into(),
                0_i64.into(),
                0_i64.into(),
                cost_price.into(),
                selling_price.into(),
            ]);
        }
    }
    tx.insert_rows(&mut rows).await
}

/// Reads the fields of a product that aggregates depend on. The caller has locked the stock row.
pub(crate) async fn product_snapshot(
    conn: &mut Conn,
    product: i64,
) -> Result<Option<ProductSnapshot>, Error> {
    conn.optional(
        "SELECT category_id, brand_id, cost_price, selling_price FROM products WHERE id = $1",
        &[&product],
        |row| snapshot_of(row, 0),
    )
    .await
}

/// Reads category, brand, cost price and selling price, starting at column `first`.
fn snapshot_of(row: &Row<'_>, first: usize) -> Result<ProductSnapshot, Error> {
    Ok(ProductSnapshot {
        category: row.get(first)?,
        brand: row.get(first + 1)?,
        cost_price: row.get(first + 2)?,
        selling_price: row.get(first + 3)?,
    })
}

/// The time and units of each sale of a product, by time.
pub(super) async fn sales(conn: &mut Conn, product: i64) -> Result<Vec<(Timestamp, i64)>, Error> {
    conn.all(
        "SELECT created_at, quantity FROM outflows WHERE product_id = $1 ORDER BY created_at",
        &[&product],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}

/// Deletes and returns the oldest deltas. Skips those that another worker has locked.
pub(super) async fn take_deltas(tx: &mut Tx, limit: i64) -> Result<Vec<Delta>, Error> {
    let sql = match tx.engine() {
        Engine::Sqlite => concat!(
            "DELETE FROM aggregate_deltas WHERE id IN (SELECT id FROM aggregate_deltas ORDER BY id LIMIT $1) RETURNING ",
            delta_columns!()
        ),
        Engine::Postgres => concat!(
            "DELETE FROM aggregate_deltas WHERE id IN (SELECT id FROM aggregate_deltas ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING ",
            delta_columns!()
        ),
    };
    tx.all(sql, &[&limit], |row| delta_of(row, 0)).await
}

/// Adds the sum of deltas to the stored aggregates. Rows are locked in the order of keys, so
/// workers do not deadlock.
pub(super) async fn add(tx: &mut Tx, aggregates: &Aggregates) -> Result<(), Error> {
    for (key, aggregate) in &aggregates.days {
        add_to_day(tx, key, aggregate).await?;
    }
    for (key, aggregate) in &aggregates.stock {
        add_to_stock(tx, key, aggregate).await?;
    }
    for (key, range) in &aggregates.id_ranges {
        widen_id_range(tx, key, *range).await?;
    }
    if aggregates.low != 0 {
        low::add(tx, aggregates.low).await?;
    }
    Ok(())
}

/// Adds to the aggregate of a day. The upsert locks the row before it is read, so concurrent
/// workers do not lose updates.
async fn add_to_day(tx: &mut Tx, key: &DayKey, add: &DayAggregate) -> Result<(), Error> {
    let mut aggregate = tx
        .one(
            "INSERT INTO daily_aggregates (movement, supplier_id, day, movements, units, cost, value, present_cost, present_value)
             VALUES ($1, $2, $3, 0, '0', '0', '0', '0', '0')
             ON CONFLICT (movement, supplier_id, day) DO UPDATE SET movements = daily_aggregates.movements
             RETURNING movements, units, cost, value, present_cost, present_value",
            &[&key.movement.name(), &key.supplier, &key.day],
            |row| day_aggregate_of(row, 0),
        )
        .await?;
    aggregate.add(add);
    let sql = "UPDATE daily_aggregates SET movements = $4, units = $5, cost = $6, value = $7, present_cost = $8, present_value = $9
         WHERE movement = $1 AND supplier_id = $2 AND day = $3";
    tx.execute(
        sql,
        &[
            &key.movement.name(),
            &key.supplier,
            &key.day,
            &aggregate.movements,
            &aggregate.units.to_string(),
            &aggregate.cost.to_string(),
            &aggregate.value.to_string(),
            &aggregate.present_cost.to_string(),
            &aggregate.present_value.to_string(),
        ],
    )
    .await
    .map(drop)
}

async fn add_to_stock(
    tx: &mut Tx,
    (dimension, record): &StockKey,
    add: &StockAggregate,
) -> Result<(), Error> {
    let mut aggregate = tx
        .one(
            "INSERT INTO stock_aggregates (dimension, record_id, products, units, cost, value) VALUES ($1, $2, 0, '0', '0', '0')
             ON CONFLICT (dimension, record_id) DO UPDATE SET products = stock_aggregates.products
             RETURNING products, units, cost, value",
            &[&dimension.name(), record],
            |row| stock_aggregate_of(row, 0),
        )
        .await?;
    aggregate.add(add);
    let sql = "UPDATE stock_aggregates SET products = $3, units = $4, cost = $5, value = $6 WHERE dimension = $1 AND record_id = $2";
    tx.execute(
        sql,
        &[
            &dimension.name(),
            record,
            &aggregate.products,
            &aggregate.units.to_string(),
            &aggregate.cost.to_string(),
            &aggregate.value.to_string(),
        ],
    )
    .await
    .map(drop)
}

async fn widen_id_range(
    tx: &mut Tx,
    (movement, day): &IdRangeKey,
    range: IdRange,
) -> Result<(), Error> {
    let sql = "INSERT INTO daily_id_ranges (movement, day, first_id, last_id) VALUES ($1, $2, $3, $4)
         ON CONFLICT (movement, day) DO UPDATE SET
             first_id = CASE WHEN excluded.first_id < daily_id_ranges.first_id THEN excluded.first_id ELSE daily_id_ranges.first_id END,
             last_id = CASE WHEN excluded.last_id > daily_id_ranges.last_id THEN excluded.last_id ELSE daily_id_ranges.last_id END";
    tx.execute(sql, &[&movement.name(), day, &range.first, &range.last])
        .await
        .map(drop)
}

/// Replaces all aggregates and deltas by a recount.
pub(super) async fn replace(tx: &mut Tx, aggregates: &Aggregates) -> Result<(), Error> {
    for sql in [
        "DELETE FROM aggregate_deltas",
        "DELETE FROM daily_aggregates",
        "DELETE FROM stock_aggregates",
        "DELETE FROM daily_id_ranges",
    ] {
        tx.execute(sql, &[]).await?;
    }
    add(tx, aggregates).await
}

/// Blocks recording and compaction until the transaction ends. SQLite has one writer, so no lock is
/// needed.
pub(super) async fn lock(tx: &mut Tx) -> Result<(), Error> {
    if tx.engine() == Engine::Postgres {
        tx.execute("LOCK TABLE aggregate_deltas IN EXCLUSIVE MODE", &[])
            .await?;
    }
    Ok(())
}

/// Reads a delta from the columns of `delta_columns!`, starting at column `first`.
fn delta_of(row: &Row<'_>, first: usize) -> Result<Delta, Error> {
    let movement: Option<Movement> = row.get(first)?;
    Ok(Delta {
        moved: movement.zip(row.get(first + 2)?),
        supplier: row.get(first + 1)?,
        movements: row.get(first + 3)?,
        moved_units: row.get(first + 4)?,
        booked_prices: (row.get(first + 5)?, row.get(first + 6)?),
        present: row.get(first + 7)?,
        product: snapshot_of(row, first + 8)?,
        products: row.get(first + 12)?,
        units: row.get(first + 13)?,
        movement_id: row.get(first + 14)?,
        low: row.get(first + 15)?,
    })
}

fn day_aggregate_of(row: &Row<'_>, first: usize) -> Result<DayAggregate, Error> {
    Ok(DayAggregate {
        movements: row.get(first)?,
        units: row.get(first + 1)?,
        cost: row.get(first + 2)?,
        value: row.get(first + 3)?,
        present_cost: row.get(first + 4)?,
        present_value: row.get(first + 5)?,
    })
}

fn stock_aggregate_of(row: &Row<'_>, first: usize) -> Result<StockAggregate, Error> {
    Ok(StockAggregate {
        products: row.get(first)?,
        units: row.get(first + 1)?,
        cost: row.get(first + 2)?,
        value: row.get(first + 3)?,
    })
}
