//! SQL for quantities and the ledger.

use std::{collections::BTreeMap, fmt::Display};

use db::{Conn, Engine, Error, Money, Param, Query, Row, Timestamp, Tx};
use resource::{FieldType as _, row};

use super::{
    LockedStock, LowStock, MOST_DIFFERENCES, Reason, StockState,
    model::{EntryKind, LedgerRow, NewEntry, OwnThreshold, Reference},
};
use crate::{
    aggregates::{Difference, ProductSnapshot, sum_of_units, summed_units},
    listing::{List, Table},
    movement::{Movement, entry_of_movement},
    rest::json::Titled,
    work::Work,
};

/// The columns of a [`LockedStock`] in `product_stock`.
macro_rules! locked_columns {
    () => {
        "quantity, threshold, archived_at, alerted, (SELECT threshold FROM low_stock_aggregate), updated_at, booked_at"
    };
}

fn locked_of(row: &Row<'_>) -> Result<LockedStock, Error> {
    Ok(LockedStock {
        quantity: row.get(0)?,
        state: state_of(row, 1)?,
        counted: row.get(4)?,
        updated_at: row.get(5)?,
        booked_at: row.get(6)?,
    })
}

/// The state in the columns `threshold, archived_at, alerted`, which begin at `first`.
fn state_of(row: &Row<'_>, first: usize) -> Result<StockState, Error> {
    Ok(StockState {
        threshold: row.get(first)?,
        archived_at: row.get(first + 1)?,
        is_alerted: row.get(first + 2)?,
    })
}

/// Raises the time of a write to that of the stock row's last change or booking. A write takes its
/// time before it waits for the row, and another may commit a later one meanwhile, or have a clock
/// that is ahead. The times of a product's ledger must follow its order.
fn raise_time(work: &mut Work<'_>, stock: Option<LockedStock>) -> Option<LockedStock> {
    if let Some(stock) = stock {
        let booked_at = stock.booked_at.unwrap_or(stock.updated_at);
        work.now = work.now.max(stock.updated_at).max(booked_at);
    }
    stock
}

/// Records the time of an entry that left the time of the stock row's last change as it was.
pub(super) async fn set_booked_at(tx: &mut Tx, product: i64, at: Timestamp) -> Result<(), Error> {
    let sql = "UPDATE product_stock SET booked_at = $2 WHERE product_id = $1";
    tx.execute(sql, &[&product, &at]).await.map(drop)
}

/// Inserts the stock row of a new product, whose opening is booked now.
pub(super) async fn insert(
    work: &mut Work<'_>,
    product: i64,
    snapshot: &ProductSnapshot,
    quantity: i64,
    updated_at: Timestamp,
) -> Result<(), Error> {
    let sql = "INSERT INTO product_stock (product_id, category_id, brand_id, quantity, updated_at, booked_at)
         VALUES ($1, $2, $3, $4, $5, $6)";
    let (category, brand) = (snapshot.category, snapshot.brand);
    let values: [&dyn Param; 6] = [
        &product,
        &category,
        &brand,
        &quantity,
        &updated_at,
        &work.now,
    ];
    work.tx.execute(sql, &values).await.map(drop)
}

/// Reads a stock row on SQLite. The transaction is the only writer, so the row needs no lock.
/// `RETURNING` would create a temporary table.
const LOCKED_ON_SQLITE: &str = concat!(
    "SELECT ",
    locked_columns!(),
    " FROM product_stock WHERE product_id = $1"
);

/// Adds to a quantity and returns the stock row, whose time may raise the time of the write. `None`
/// if a balance would not be within 0 and 2⁶³-1, if there is no such product, or if it is archived
/// and the entry refuses that.
pub(super) async fn change_quantity(
    work: &mut Work<'_>,
    entry: &NewEntry<'_>,
) -> Result<Option<LockedStock>, Error> {
    macro_rules! update {
        () => {
            "UPDATE product_stock SET quantity = quantity + $2,
                 updated_at = CASE WHEN updated_at > $3 THEN updated_at ELSE $3 END
             WHERE product_id = $1 AND quantity >= $4 AND quantity <= $5 AND ($6 OR archived_at IS NULL)"
        };
    }
    let (product, change, now) = (entry.product, entry.change, work.now);
    let may_be_archived = entry.may_be_archived();
    // Compares with computed bounds instead of adding: the engines treat overflows differently.
    let least = change.min(0).checked_neg().unwrap_or(i64::MAX);
    let most = i64::MAX - change.max(0);
    let values: [&dyn Param; 6] = [&product, &change, &now, &least, &most, &may_be_archived];
    let tx = &mut *work.tx;
    let stock = match tx.engine() {
        Engine::Postgres => {
            let sql = concat!(update!(), " RETURNING ", locked_columns!());
            tx.optional(sql, &values, locked_of).await?
        }
        Engine::Sqlite if tx.execute(update!(), &values).await? == 0 => None,
        Engine::Sqlite => {
            let sql = LOCKED_ON_SQLITE;
            tx.optional(sql, &[&product], locked_of).await?
        }
    };
    Ok(raise_time(work, stock))
}

pub(super) async fn quantity(conn: &mut Conn, product: i64) -> Result<Option<i64>, Error> {
    conn.optional(
        "SELECT quantity FROM product_stock WHERE product_id = $1",
        &[&product],
        |row| row.get(0),
    )
    .await
}

/// A product's stock row, locked until the transaction ends. Its time may raise the time of the
/// write.
pub(super) async fn lock_quantity(
    work: &mut Work<'_>,
    product: i64,
) -> Result<Option<LockedStock>, Error> {
    let stock = lock(work.tx, product).await?;
    Ok(raise_time(work, stock))
}

/// A product's stock row, locked for a write that does not change it.
pub(super) async fn lock(tx: &mut Tx, product: i64) -> Result<Option<LockedStock>, Error> {
    let sql = match tx.engine() {
        Engine::Postgres => concat!(
            "UPDATE product_stock SET quantity = quantity WHERE product_id = $1 RETURNING ",
            locked_columns!()
        ),
        Engine::Sqlite => LOCKED_ON_SQLITE,
    };
    tx.optional(sql, &[&product], locked_of).await
}

/// Locks the stock of these products, in the order of ids so that transactions do not deadlock.
pub(super) async fn lock_quantities(
    work: &mut Work<'_>,
    products: impl Iterator<Item = i64>,
) -> Result<(), Error> {
    let mut products: Vec<i64> = products.collect();
    products.sort_unstable();
    for product in products {
        lock_quantity(work, product).await?;
    }
    Ok(())
}

/// Whether a product's opening included a movement, because the movement is older. The last opening
/// counts, if the product was deleted and imported again.
pub(super) async fn is_included(
    conn: &mut Conn,
    product: i64,
    moved_at: Timestamp,
) -> Result<bool, Error> {
    let sql = "SELECT created_at > $2 FROM ledger_entries WHERE product_id = $1 AND kind = 'opening' ORDER BY id DESC LIMIT 1";
    let is_older = conn
        .optional(sql, &[&product, &moved_at], |row| row.get(0))
        .await?;
    Ok(is_older.unwrap_or(false))
}

row! {
    pub(super) struct LedgerEntryRow in "ledger_entries" {
        product = "product_id",
        kind = "kind",
        change = "change",
        balance_after = "balance_after",
        cost_price = "cost_price",
        selling_price = "selling_price",
        user = "user_id",
        user_name = "user_name",
        reference = "reference_id",
        reason = "reason",
        note = "note",
        created_at = "created_at",
    }
}

/// Inserts one row into the ledger, with the product's current prices. The stock row is locked.
pub(super) async fn insert_entry(
    work: &mut Work<'_>,
    entry: &NewEntry<'_>,
    balance_after: i64,
    (cost_price, selling_price): (Money, Money),
) -> Result<(), Error> {
    let (user, explanation) = (work.actor.0.as_ref(), entry.explanation);
    let row = LedgerEntryRow::<&dyn Param> {
        product: &entry.product,
        kind: &entry.kind.name(),
        change: &entry.change,
        balance_after: &balance_after,
        cost_price: &cost_price,
        selling_price: &selling_price,
        user: &user.map(|(id, _)| *id),
        user_name: &user.map(|(_, name)| name.as_str()),
        reference: &entry.reference,
        reason: &explanation.map(|explanation| explanation.reason.name()),
        note: &explanation.and_then(|explanation| explanation.note.as_deref()),
        created_at: &work.now,
    };
    let (sql, values) = row.insert();
    work.tx.execute(sql, &values).await.map(drop)
}

/// The cost price and the selling price at which a movement was booked.
pub(super) async fn booked_prices(
    conn: &mut Conn,
    movement: Movement,
    id: i64,
) -> Result<Option<(Money, Money)>, Error> {
    conn.optional(
        concat!(
            "SELECT cost_price, selling_price FROM ledger_entries WHERE id = ",
            entry_of_movement!("$1", "$2")
        ),
        &[&movement.name(), &id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}

/// The number of a product's entries up to a time.
pub(super) async fn count_entries(
    conn: &mut Conn,
    product: i64,
    until: Timestamp,
) -> Result<u64, Error> {
    let sql = "SELECT count(*) FROM ledger_entries WHERE product_id = $1 AND created_at <= $2";
    conn.one(sql, &[&product, &until], |row| row.get::<i64>(0))
        .await
        .map(i64::unsigned_abs)
}

/// A range of a product's entries up to a time, newest first.
pub(super) async fn entries(
    conn: &mut Conn,
    (product, until): (i64, Timestamp),
    limit: i64,
    offset: i64,
) -> Result<Vec<LedgerRow>, Error> {
    conn.all(
        "SELECT id, kind, change, balance_after, created_at, user_name, reference_id, reason, note FROM ledger_entries
         WHERE product_id = $1 AND created_at <= $2 ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4",
        &[&product, &until, &limit, &offset],
        ledger_row,
    )
    .await
}

fn ledger_row(row: &Row<'_>) -> Result<LedgerRow, Error> {
    let kind = EntryKind::from_row(row, &mut 1)?;
    let (reference, reason): (Option<i64>, Option<String>) = (row.get(6)?, row.get(7)?);
    Ok(LedgerRow {
        id: row.get(0)?,
        kind,
        change: row.get(2)?,
        balance_after: row.get(3)?,
        created_at: row.get(4)?,
        user: row.get(5)?,
        reference: kind.movement().zip(reference).map(|(movement, id)| {
            let kind = movement.name();
            Reference { kind, id }
        }),
        reason: reason.as_deref().and_then(Reason::of),
        note: row.get(8)?,
    })
}

/// The products with their own threshold, which are few.
static WITH_THRESHOLD: Table = Table {
    name: "(SELECT o.product_id, o.quantity, o.threshold, p.title_folded FROM product_stock AS o
            JOIN products AS p ON p.id = o.product_id WHERE o.threshold IS NOT NULL)",
    alias: "s",
    id: "product_id",
    indexes: &[],
    ..Table::OWN
};

pub(super) static OWN_THRESHOLDS: List<OwnThreshold> = List {
    order_columns: &[("product", "title_folded")],
    ..List::described(&WITH_THRESHOLD)
};

pub(super) async fn stock_states(
    conn: &mut Conn,
    products: &[i64],
) -> Result<BTreeMap<i64, StockState>, Error> {
    let mut query = Query::new(
        "SELECT product_id, threshold, archived_at, alerted FROM product_stock WHERE product_id",
    );
    query.any_of(products.iter().copied());
    let found = conn.all_of(&query, |row| Ok((row.get(0)?, state_of(row, 1)?)));
    Ok(found.await?.into_iter().collect())
}

/// Writes a product's stock row, which is locked, except for the quantity.
pub(super) async fn set_state(tx: &mut Tx, product: i64, stock: LockedStock) -> Result<(), Error> {
    let sql = "UPDATE product_stock SET threshold = $2, archived_at = $3, alerted = $4, updated_at = $5 WHERE product_id = $1";
    let (state, at) = (stock.state, stock.updated_at);
    let values: [&dyn Param; 5] = [
        &product,
        &state.threshold,
        &state.archived_at,
        &state.is_alerted,
        &at,
    ];
    tx.execute(sql, &values).await.map(drop)
}

/// A range of the products below their thresholds, lowest quantity first. Merged from two lists:
/// those below the shop's threshold and those below their own. The few products with their own
/// threshold have a separate index. `quantity + 0` prevents both engines from scanning all products
/// in the order of quantities to find them.
pub(crate) async fn low_stock(
    conn: &mut Conn,
    shop: i64,
    limit: i64,
    offset: i64,
) -> Result<Vec<LowStock>, Error> {
    let first = limit.saturating_add(offset);
    let mut query = Query::new("SELECT p.id, p.title, page.quantity, COALESCE(page.threshold, ");
    query.bind(shop).push(
        ") FROM (SELECT product_id, quantity, threshold
               FROM (SELECT product_id, quantity, threshold FROM product_stock WHERE quantity < ",
    );
    query.bind(shop).push(
        " AND threshold IS NULL AND archived_at IS NULL
                     ORDER BY quantity, product_id LIMIT ",
    );
    query.bind(first).push(
        ") AS others
               UNION ALL
               SELECT product_id, quantity, threshold
               FROM (SELECT product_id, quantity, threshold FROM product_stock WHERE threshold IS NOT NULL AND quantity < threshold AND archived_at IS NULL
                     ORDER BY quantity + 0, product_id LIMIT ",
    );
    query
        .bind(first)
        .push(") AS own ORDER BY quantity, product_id LIMIT ")
        .bind(limit)
        .push(" OFFSET ")
        .bind(offset)
        .push(") AS page")
        .push(conn.engine().join_in_order())
        .push("products AS p ON p.id = page.product_id ORDER BY page.quantity, p.id");
    conn.all_of(&query, |row| {
        Ok(LowStock {
            product: Titled::from_row(row, &mut 0)?,
            quantity: row.get(2)?,
            threshold: row.get(3)?,
        })
    })
    .await
}

pub(super) async fn verify_quantities(conn: &mut Conn) -> Result<Vec<Difference>, Error> {
    let query = Query::new(concat!(
        "SELECT s.product_id, s.billions, s.rest, COALESCE(l.billions, 0), COALESCE(l.rest, 0)
         FROM (SELECT product_id, quantity / 1000000000 AS billions, quantity % 1000000000 AS rest FROM product_stock) AS s
         LEFT JOIN (SELECT product_id, ",
        sum_of_units!("change"),
        " FROM ledger_entries GROUP BY product_id) AS l ON l.product_id = s.product_id WHERE "
    ));
    differing(conn, query, "quantity").await
}

/// Compares each balance with the one before it by time, since past balances are found by time.
pub(super) async fn verify_balances(conn: &mut Conn) -> Result<Vec<Difference>, Error> {
    conn.all(
        "SELECT product_id, balance_after, expected
         FROM (SELECT product_id, id, balance_after,
                      change + lag(balance_after, 1, CAST(0 AS BIGINT)) OVER (PARTITION BY product_id ORDER BY created_at, id) AS expected
               FROM ledger_entries) AS entry
         WHERE balance_after <> expected ORDER BY product_id, id LIMIT $1",
        &[&MOST_DIFFERENCES],
        |row| {
            let (stored, ledger): (i64, i64) = (row.get(1)?, row.get(2)?);
            Ok(difference(row.get(0)?, "balance after an entry", stored, ledger))
        },
    )
    .await
}

/// Compares the units of each product's inflows or outflows with the ledger.
pub(super) async fn verify_movements(
    conn: &mut Conn,
    movement: Movement,
) -> Result<Vec<Difference>, Error> {
    let (created, deleted) = movement.kinds();
    let (changed, subject) = match movement {
        Movement::Inflow => (sum_of_units!("change"), "units of its inflows"),
        Movement::Outflow => (sum_of_units!("-change"), "units of its outflows"),
    };
    let mut query = Query::new(
        "SELECT p.product_id, COALESCE(s.billions, 0), COALESCE(s.rest, 0), COALESCE(l.billions, 0), COALESCE(l.rest, 0)
         FROM product_stock AS p LEFT JOIN (SELECT product_id, ",
    );
    query.push(sum_of_units!("quantity"));
    query.push(" FROM ").push(movement.path());
    query.push(
        " GROUP BY product_id) AS s ON s.product_id = p.product_id
         LEFT JOIN (SELECT product_id, ",
    );
    query
        .push(changed)
        .push(" FROM ledger_entries WHERE kind IN (");
    query.bind(created.name()).push(", ").bind(deleted.name());
    query.push(") GROUP BY product_id) AS l ON l.product_id = p.product_id WHERE ");
    differing(conn, query, subject).await
}

/// Reads the products whose sums `s` (stored) and `l` (ledger) differ. Compares them in parts,
/// because their units may exceed 64 bits.
async fn differing(
    conn: &mut Conn,
    mut query: Query,
    subject: &'static str,
) -> Result<Vec<Difference>, Error> {
    query.push(
        "(COALESCE(s.rest, 0) - COALESCE(l.rest, 0)) % 1000000000 <> 0
         OR COALESCE(s.billions, 0) - COALESCE(l.billions, 0) + (COALESCE(s.rest, 0) - COALESCE(l.rest, 0)) / 1000000000 <> 0
         ORDER BY 1 LIMIT ",
    );
    query.bind(MOST_DIFFERENCES);
    conn.all_of(&query, |row| {
        let (stored, ledger) = (summed_units(row, 1)?, summed_units(row, 3)?);
        Ok(difference(row.get(0)?, subject, stored, ledger))
    })
    .await
}

/// A number of units that does not match the ledger.
fn difference(
    product: i64,
    subject: &str,
    stored: impl Display,
    ledger: impl Display,
) -> Difference {
    Difference(format!(
        "product {product}: {subject} is {stored}, the ledger says {ledger}"
    ))
}

/// Finds inflows whose copied title is not their product's, so lists by title order them wrongly.
pub(super) async fn verify_inflow_titles(conn: &mut Conn) -> Result<Vec<Difference>, Error> {
    conn.all(
        "SELECT m.product_id, count(*) FROM inflows AS m JOIN products AS p ON p.id = m.product_id
         WHERE m.title_folded <> p.title_folded GROUP BY m.product_id ORDER BY m.product_id LIMIT $1",
        &[&MOST_DIFFERENCES],
        |row| {
            let (product, inflows): (i64, i64) = (row.get(0)?, row.get(1)?);
            Ok(Difference(format!(
                "product {product}: inflows filed under another title than the product's: {inflows}"
            )))
        },
    )
    .await
}
