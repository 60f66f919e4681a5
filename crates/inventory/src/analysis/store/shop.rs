//! SQL that reads the whole shop in batches of products by id, and the runs of the weekly report.

use db::{Conn, Error, Money, Timestamp, Tx};

use super::history::{self, AnalysedProduct};
use crate::aggregates::{Sum, sum_of_units, summed_units};

/// What the report tells of a product besides its figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportFacts {
    pub(crate) cost: Money,
    pub(crate) first_entry: Option<Timestamp>,
    pub(crate) last_outflow: Option<Timestamp>,
    /// Units in stock one year ago.
    pub(crate) opening: Option<i64>,
}

/// The usage of a batch of products since `from`, by id: units, and their value at today's cost.
pub(crate) async fn usage(
    conn: &mut Conn,
    after: i64,
    from: Timestamp,
    limit: i64,
) -> Result<Vec<(i64, (i128, Sum))>, Error> {
    conn.all(
        concat!(
            "SELECT p.id, p.cost_price, ",
            sum_of_units!("o.quantity"),
            " FROM (SELECT p.id, p.cost_price FROM products AS p JOIN product_stock AS s ON s.product_id = p.id
                    WHERE p.id > $1 AND s.archived_at IS NULL ORDER BY p.id LIMIT $3) AS p
              LEFT JOIN outflows AS o ON o.product_id = p.id AND o.created_at >= $2
              GROUP BY p.id, p.cost_price ORDER BY p.id"
        ),
        &[&after, &from, &limit],
        |row| {
            let (cost, units): (Money, _) = (row.get(1)?, summed_units(row, 2)?);
            Ok((row.get(0)?, (units, Sum::worth(cost, units))))
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
) -> Result<Vec<(AnalysedProduct, ReportFacts)>, Error> {
    conn.all(
        concat!(
            "SELECT ",
            history::analysed!(),
            ", p.cost_price,
                (SELECT min(l.created_at) FROM ledger_entries AS l WHERE l.product_id = p.id),
                (SELECT max(o.created_at) FROM outflows AS o WHERE o.product_id = p.id),
                (SELECT l.balance_after FROM ledger_entries AS l WHERE l.product_id = p.id AND l.created_at < $2
                 ORDER BY l.created_at DESC, l.id DESC LIMIT 1)
         FROM products AS p JOIN product_stock AS s ON s.product_id = p.id
         LEFT JOIN restock_terms AS t ON t.product_id = p.id
         WHERE p.id > $1 AND s.archived_at IS NULL ORDER BY p.id LIMIT $3"
        ),
        &[&after, &year_ago, &limit],
        |row| {
            let facts = ReportFacts {
                cost: row.get(9)?,
                first_entry: row.get(10)?,
                last_outflow: row.get(11)?,
                opening: row.get(12)?,
            };
            Ok((AnalysedProduct::from_row(row)?, facts))
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
    tx.execute_one(sql, &[&period, &lease, &true, &false]).await
}
