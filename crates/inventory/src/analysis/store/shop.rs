//! SQL that reads the whole shop in batches (products by id, outflows by product and time), and the
//! runs of the weekly report.

use db::{Conn, Error, Money, Timestamp, Tx};

use super::{super::restock_terms::RestockTerms, terms};

/// A product with the fields that the report needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportProduct {
    pub(crate) id: i64,
    pub(crate) title: String,
    pub(crate) cost: Money,
    pub(crate) quantity: i64,
    pub(crate) threshold: Option<i64>,
    pub(crate) terms: RestockTerms,
    pub(crate) first_entry: Option<Timestamp>,
    pub(crate) last_outflow: Option<Timestamp>,
    /// Units in stock one year ago.
    pub(crate) opening: Option<i64>,
}

/// An outflow with the fields that the report needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReportSale {
    pub(crate) product: i64,
    pub(crate) at: Timestamp,
    pub(crate) id: i64,
    pub(crate) units: i64,
}

/// The usage of a batch of products since `from`, by id: units, and their value at today's cost.
pub(crate) async fn usage(
    conn: &mut Conn,
    after: i64,
    from: Timestamp,
    limit: i64,
) -> Result<Vec<(i64, (i64, Money))>, Error> {
    conn.all(
        "SELECT p.id, CAST(COALESCE((SELECT sum(o.quantity) FROM outflows AS o
                                     WHERE o.product_id = p.id AND o.created_at >= $2), 0) AS BIGINT), p.cost_price
         FROM products AS p JOIN product_stock AS s ON s.product_id = p.id
         WHERE p.id > $1 AND s.archived_at IS NULL ORDER BY p.id LIMIT $3",
        &[&after, &from, &limit],
        |row| {
            let (units, cost): (i64, Money) = (row.get(1)?, row.get(2)?);
            Ok((row.get(0)?, (units, cost.checked_mul(units).unwrap_or(Money::ZERO))))
        },
    )
    .await
}

/// A batch of products with ids above `after`.
pub(crate) async fn products(
    conn: &mut Conn,
    after: i64,
    year_ago: Timestamp,
    limit: i64,
) -> Result<Vec<ReportProduct>, Error> {
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
            Ok(ReportProduct {
                id: row.get(0)?,
                title: row.get(1)?,
                cost: row.get(2)?,
                quantity: row.get(3)?,
                threshold: row.get(4)?,
                terms: terms::of_row(row, 5)?,
                first_entry: row.get(10)?,
                last_outflow: row.get(11)?,
                opening: row.get(12)?,
            })
        },
    )
    .await
}

/// A batch of the outflows since `from` of the products in a range of ids. Starts after `after`,
/// the last outflow of the previous batch.
pub(crate) async fn sales(
    conn: &mut Conn,
    (first, last): (i64, i64),
    from: Timestamp,
    after: ReportSale,
    limit: i64,
) -> Result<Vec<ReportSale>, Error> {
    conn.all(
        "SELECT product_id, created_at, id, quantity FROM outflows
         WHERE product_id >= $1 AND product_id <= $2 AND created_at >= $3
           AND (product_id > $4 OR (product_id = $4 AND (created_at > $5 OR (created_at = $5 AND id > $6))))
         ORDER BY product_id, created_at, id LIMIT $7",
        &[&first, &last, &from, &after.product, &after.at, &after.id, &limit],
        |row| {
            Ok(ReportSale {
                product: row.get(0)?,
                at: row.get(1)?,
                id: row.get(2)?,
                units: row.get(3)?,
            })
        },
    )
    .await
}

/// Creates the row of a period if there is none, then claims it. Returns false if it is done or
/// another replica holds the lease.
pub(crate) async fn claim_run(
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
    let claimed = tx
        .execute(sql, &[&period, &lease, &until, &false, &now])
        .await?;
    Ok(claimed > 0)
}

/// Makes the runs due that dead replicas had claimed. Returns how many.
pub(crate) async fn release_dead(tx: &mut Tx, now: Timestamp) -> Result<u64, Error> {
    let sql = "UPDATE report_runs SET lease = NULL, due_at = $1
         WHERE done = $2 AND lease IS NOT NULL AND substr(lease, 1, 36) NOT IN (SELECT id FROM replicas)";
    tx.execute(sql, &[&now, &false]).await
}

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

/// Ends a period's run. Returns false if the lease was lost.
pub(crate) async fn end_run(tx: &mut Tx, period: &str, lease: &str) -> Result<bool, Error> {
    let sql = "UPDATE report_runs SET done = $3, lease = NULL WHERE period = $1 AND lease = $2 AND done = $4";
    Ok(tx.execute(sql, &[&period, &lease, &true, &false]).await? > 0)
}
