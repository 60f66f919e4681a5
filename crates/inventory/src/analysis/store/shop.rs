//! Statements that read the whole shop in bounded pieces: products by id, and their outflows by product and time.

use db::{Conn, Error, Money, Timestamp, Tx};

use super::history::OwnTerms;

/// A product as the report looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Product {
    pub(crate) id: i64,
    pub(crate) title: String,
    pub(crate) cost: Money,
    pub(crate) quantity: i64,
    pub(crate) threshold: Option<i64>,
    pub(crate) terms: OwnTerms,
    pub(crate) first_entry: Option<Timestamp>,
    pub(crate) last_outflow: Option<Timestamp>,
    /// Units that were there a year ago.
    pub(crate) opening: Option<i64>,
}

/// An outflow of one of several products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sold {
    pub(crate) product: i64,
    pub(crate) at: Timestamp,
    pub(crate) id: i64,
    pub(crate) units: i64,
}

/// What went out of each product since a moment: its id, its units, and their value at today's cost.
pub(crate) async fn usage(
    conn: &mut Conn,
    after: i64,
    from: Timestamp,
    limit: i64,
) -> Result<Vec<(i64, i64, Money)>, Error> {
    conn.all(
        "SELECT p.id, CAST(COALESCE((SELECT sum(o.quantity) FROM outflows AS o
                                     WHERE o.product_id = p.id AND o.created_at >= $2), 0) AS BIGINT), p.cost_price
         FROM products AS p JOIN product_stock AS s ON s.product_id = p.id
         WHERE p.id > $1 AND s.archived_at IS NULL ORDER BY p.id LIMIT $3",
        &[&after, &from, &limit],
        |row| {
            let (units, cost): (i64, Money) = (row.get(1)?, row.get(2)?);
            Ok((row.get(0)?, units, cost.checked_mul(units).unwrap_or(Money::ZERO)))
        },
    )
    .await
}

/// A piece of the products.
pub(crate) async fn products(
    conn: &mut Conn,
    after: i64,
    year_ago: Timestamp,
    limit: i64,
) -> Result<Vec<Product>, Error> {
    conn.all(
        "SELECT p.id, p.title, p.cost_price, s.quantity, s.threshold,
                t.lead_time, t.lead_time_deviation, t.service_level, t.review_interval, t.pack_multiple,
                (SELECT min(l.created_at) FROM ledger_entries AS l WHERE l.product_id = p.id),
                (SELECT max(o.created_at) FROM outflows AS o WHERE o.product_id = p.id),
                (SELECT l.balance_after FROM ledger_entries AS l WHERE l.product_id = p.id AND l.created_at < $2
                 ORDER BY l.created_at DESC, l.id DESC LIMIT 1)
         FROM products AS p JOIN product_stock AS s ON s.product_id = p.id
         LEFT JOIN restock_terms AS t ON t.product_id = p.id
         WHERE p.id > $1 AND s.archived_at IS NULL ORDER BY p.id LIMIT $3",
        &[&after, &year_ago, &limit],
        |row| {
            Ok(Product {
                id: row.get(0)?,
                title: row.get(1)?,
                cost: row.get(2)?,
                quantity: row.get(3)?,
                threshold: row.get(4)?,
                terms: OwnTerms::of(row, 5)?,
                first_entry: row.get(10)?,
                last_outflow: row.get(11)?,
                opening: row.get(12)?,
            })
        },
    )
    .await
}

/// A page of the outflows of products with ids between two, from a moment on, behind the last one of the page before.
pub(crate) async fn sold(
    conn: &mut Conn,
    (first, last): (i64, i64),
    from: Timestamp,
    after: Sold,
    limit: i64,
) -> Result<Vec<Sold>, Error> {
    conn.all(
        "SELECT product_id, created_at, id, quantity FROM outflows
         WHERE product_id >= $1 AND product_id <= $2 AND created_at >= $3
           AND (product_id > $4 OR (product_id = $4 AND (created_at > $5 OR (created_at = $5 AND id > $6))))
         ORDER BY product_id, created_at, id LIMIT $7",
        &[&first, &last, &from, &after.product, &after.at, &after.id, &limit],
        |row| {
            Ok(Sold {
                product: row.get(0)?,
                at: row.get(1)?,
                id: row.get(2)?,
                units: row.get(3)?,
            })
        },
    )
    .await
}

/// Makes sure that a period has a row, and takes it when it is due and no other replica is at it; whether it was taken.
pub(crate) async fn take_run(
    tx: &mut Tx,
    period: &str,
    lease: &str,
    until: Timestamp,
    now: Timestamp,
) -> Result<bool, Error> {
    tx.execute(
        "INSERT INTO report_runs (period, due_at, done) VALUES ($1, $2, $3) ON CONFLICT (period) DO NOTHING",
        &[&period, &now, &false],
    )
    .await?;
    let sql = "UPDATE report_runs SET lease = $2, due_at = $3 WHERE period = $1 AND done = $4 AND due_at <= $5
           AND (lease IS NULL OR substr(lease, 1, 36) NOT IN (SELECT id FROM replicas WHERE id <> substr($2, 1, 36)))";
    let taken = tx
        .execute(sql, &[&period, &lease, &until, &false, &now])
        .await?;
    Ok(taken > 0)
}

/// Makes the runs due that no registered replica is at.
pub(crate) async fn release_dead(tx: &mut Tx, now: Timestamp) -> Result<u64, Error> {
    let sql = "UPDATE report_runs SET lease = NULL, due_at = $1
         WHERE done = $2 AND lease IS NOT NULL AND substr(lease, 1, 36) NOT IN (SELECT id FROM replicas)";
    tx.execute(sql, &[&now, &false]).await
}

/// Whether a period's report is made.
pub(crate) async fn is_run_done(conn: &mut Conn, period: &str) -> Result<bool, Error> {
    let done: Option<bool> = conn
        .optional(
            "SELECT done FROM report_runs WHERE period = $1",
            &[&period],
            |row| row.get(0),
        )
        .await?;
    Ok(done.unwrap_or(false))
}

/// Ends a period's run; whether it was still ours.
pub(crate) async fn end_run(tx: &mut Tx, period: &str, lease: &str) -> Result<bool, Error> {
    let sql = "UPDATE report_runs SET done = $3, lease = NULL WHERE period = $1 AND lease = $2 AND done = $4";
    Ok(tx.execute(sql, &[&period, &lease, &true, &false]).await? > 0)
}
