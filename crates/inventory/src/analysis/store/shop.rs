//! SQL that reads the whole shop in batches of products by id, and the runs of the weekly report.

use db::{Conn, Error, Money, Timestamp, Tx};

use super::history::{self, AnalysedProduct};
use crate::aggregates::{Sum, sum_of_units, summed_units};

/// What the report tells of a product besides its figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportFacts {
    pub(crate) cost: Money,
    /// The time of the first entry in the ledger, or of an earlier inflow that was imported later.
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
                (SELECT min(i.created_at) FROM inflows AS i WHERE i.product_id = p.id),
                (SELECT max(o.created_at) FROM outflows AS o WHERE o.product_id = p.id),
                (SELECT l.balance_after FROM ledger_entries AS l WHERE l.product_id = p.id AND l.created_at < $2
                 ORDER BY l.created_at DESC, l.id DESC LIMIT 1)
         FROM products AS p JOIN product_stock AS s ON s.product_id = p.id
         LEFT JOIN restock_terms AS t ON t.product_id = p.id
         WHERE p.id > $1 AND s.archived_at IS NULL ORDER BY p.id LIMIT $3"
        ),
        &[&after, &year_ago, &limit],
        |row| {
            let firsts: [Option<Timestamp>; 2] = [row.get(11)?, row.get(12)?];
            let facts = ReportFacts {
                cost: row.get(10)?,
                first_entry: firsts.into_iter().flatten().min(),
                last_outflow: row.get(13)?,
                opening: row.get(14)?,
            };
            Ok((AnalysedProduct::from_row(row)?, facts))
        },
    )
    .await
}

/// Claims the run of a period. Returns false if it is done or a live replica holds the lease.
pub(crate) async fn claim_run(tx: &mut Tx, period: &str, lease: &str) -> Result<bool, Error> {
    let sql = "INSERT INTO report_runs (period, lease) VALUES ($1, $2) ON CONFLICT (period) DO UPDATE SET lease = excluded.lease
         WHERE report_runs.lease IS NOT NULL
           AND substr(report_runs.lease, 1, 36) NOT IN (SELECT id FROM replicas WHERE id <> substr(excluded.lease, 1, 36))";
    tx.execute_one(sql, &[&period, &lease]).await
}

/// Ends a period's run. Returns false if the lease was lost.
pub(crate) async fn end_run(tx: &mut Tx, period: &str, lease: &str) -> Result<bool, Error> {
    let sql = "UPDATE report_runs SET lease = NULL WHERE period = $1 AND lease = $2";
    tx.execute_one(sql, &[&period, &lease]).await
}
