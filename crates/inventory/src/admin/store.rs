//! Statements of the administration alone: lists over all products that no other page has.

use db::{Conn, Error, Query, Row, Timestamp};

/// A row of the ledger with its product.
#[derive(Debug, Clone)]
pub(super) struct LedgerEntry {
    pub(super) id: i64,
    pub(super) product: i64,
    /// None when the product is gone.
    pub(super) title: Option<String>,
    pub(super) kind: String,
    pub(super) change: i64,
    pub(super) balance_after: i64,
    pub(super) reference: Option<i64>,
    pub(super) user: Option<String>,
    pub(super) created_at: Timestamp,
}

/// The columns of a [`LedgerEntry`].
macro_rules! ledger {
    ($from:literal) => {
        concat!(
            "SELECT l.id, l.product_id, p.title, l.kind, l.change, l.balance_after, l.reference_id, l.user_name, l.created_at FROM ",
            $from
        )
    };
}

/// How many rows the ledger has, of all products or of one; counting stops at `most`.
pub(super) async fn count_ledger(
    conn: &mut Conn,
    product: Option<i64>,
    most: i64,
) -> Result<u64, Error> {
    let mut query = Query::new("SELECT count(*) FROM (SELECT id FROM ledger_entries WHERE TRUE");
    push_product(&mut query, product);
    query.push(" LIMIT ").bind(most).push(") AS counted");
    conn.one_of(&query, |row| row.get::<i64>(0))
        .await
        .map(i64::unsigned_abs)
}

/// Rows of the ledger in the order of their ids, which is that of time.
pub(super) async fn ledger(
    conn: &mut Conn,
    product: Option<i64>,
    descends: bool,
    limit: i64,
    offset: i64,
) -> Result<Vec<LedgerEntry>, Error> {
    let mut query = Query::new(ledger!("(SELECT * FROM ledger_entries WHERE TRUE"));
    push_product(&mut query, product);
    query
        .push(if descends {
            " ORDER BY id DESC LIMIT "
        } else {
            " ORDER BY id LIMIT "
        })
        .bind(limit)
        .push(" OFFSET ")
        .bind(offset)
        .push(") AS l LEFT JOIN products AS p ON p.id = l.product_id")
        .push(if descends {
            " ORDER BY l.id DESC"
        } else {
            " ORDER BY l.id"
        });
    conn.all_of(&query, entry_of).await
}

fn push_product(query: &mut Query, product: Option<i64>) {
    if let Some(product) = product {
        query.push(" AND product_id = ").bind(product);
    }
}

/// One row of the ledger.
pub(super) async fn ledger_entry(conn: &mut Conn, id: i64) -> Result<Option<LedgerEntry>, Error> {
    let sql = ledger!(
        "ledger_entries AS l LEFT JOIN products AS p ON p.id = l.product_id WHERE l.id = $1"
    );
    conn.optional(sql, &[&id], entry_of).await
}

fn entry_of(row: &Row<'_>) -> Result<LedgerEntry, Error> {
    Ok(LedgerEntry {
        id: row.get(0)?,
        product: row.get(1)?,
        title: row.get(2)?,
        kind: row.get(3)?,
        change: row.get(4)?,
        balance_after: row.get(5)?,
        reference: row.get(6)?,
        user: row.get(7)?,
        created_at: row.get(8)?,
    })
}

/// Who made a movement, when it was made: the row of the ledger that says so.
pub(super) async fn booked_by(
    conn: &mut Conn,
    product: i64,
    at: Timestamp,
    (kind, reference): (&str, i64),
) -> Result<Option<Option<String>>, Error> {
    conn.optional(
        "SELECT user_name FROM ledger_entries WHERE product_id = $1 AND created_at = $2 AND kind = $3 AND reference_id = $4
         ORDER BY id LIMIT 1",
        &[&product, &at, &kind, &reference],
        |row| row.get(0),
    )
    .await
}

/// A product with a threshold of its own.
#[derive(Debug, Clone)]
pub(super) struct OwnThreshold {
    pub(super) product: i64,
    pub(super) title: String,
    pub(super) quantity: i64,
    pub(super) threshold: i64,
}

/// The products with a threshold of their own, at most so many.
pub(super) async fn thresholds(conn: &mut Conn, limit: i64) -> Result<Vec<OwnThreshold>, Error> {
    conn.all(
        "SELECT p.id, p.title, s.quantity, s.threshold FROM product_stock AS s JOIN products AS p ON p.id = s.product_id
         WHERE s.threshold IS NOT NULL ORDER BY s.threshold, s.quantity, s.product_id LIMIT $1",
        &[&limit],
        threshold_of,
    )
    .await
}

/// One product's own threshold.
pub(super) async fn threshold(
    conn: &mut Conn,
    product: i64,
) -> Result<Option<OwnThreshold>, Error> {
    conn.optional(
        "SELECT p.id, p.title, s.quantity, s.threshold FROM product_stock AS s JOIN products AS p ON p.id = s.product_id
         WHERE s.product_id = $1 AND s.threshold IS NOT NULL",
        &[&product],
        threshold_of,
    )
    .await
}

fn threshold_of(row: &Row<'_>) -> Result<OwnThreshold, Error> {
    Ok(OwnThreshold {
        product: row.get(0)?,
        title: row.get(1)?,
        quantity: row.get(2)?,
        threshold: row.get(3)?,
    })
}

/// The moments of the first and the last inflow.
pub(super) async fn inflow_span(conn: &mut Conn) -> Result<Option<(Timestamp, Timestamp)>, Error> {
    conn.one(
        "SELECT min(created_at), max(created_at) FROM inflows",
        &[],
        span_of,
    )
    .await
}

/// The moments of the first and the last outflow.
pub(super) async fn outflow_span(conn: &mut Conn) -> Result<Option<(Timestamp, Timestamp)>, Error> {
    conn.one(
        "SELECT min(created_at), max(created_at) FROM outflows",
        &[],
        span_of,
    )
    .await
}

fn span_of(row: &Row<'_>) -> Result<Option<(Timestamp, Timestamp)>, Error> {
    let (first, last): (Option<Timestamp>, Option<Timestamp>) = (row.get(0)?, row.get(1)?);
    Ok(first.zip(last))
}
