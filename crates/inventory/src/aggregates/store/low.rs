//! SQL for the number of low products.

use db::{Conn, Engine, Error, Tx};

/// The stored number of low products, including deltas that are not compacted, with the threshold
/// of the shop that it was counted under.
pub(in crate::aggregates) async fn stored(conn: &mut Conn) -> Result<Option<(i64, i64)>, Error> {
    conn.optional(
        "SELECT t.threshold, t.products + COALESCE((SELECT CAST(sum(c.low) AS BIGINT) FROM aggregate_deltas AS c WHERE c.low <> 0), 0)
         FROM low_stock_aggregate AS t",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}

/// Counts the low products. Products without their own threshold are counted in the index of
/// quantities alone. The few with their own threshold and the archived ones have indexes of their
/// own. Archived products are not low.
pub(in crate::aggregates) async fn count(conn: &mut Conn, shop: i64) -> Result<i64, Error> {
    conn.one(
        "SELECT (SELECT count(*) FROM product_stock WHERE quantity < $1)
              - (SELECT count(*) FROM product_stock WHERE threshold IS NOT NULL AND quantity < $1)
              - (SELECT count(*) FROM product_stock WHERE archived_at IS NOT NULL AND threshold IS NULL AND quantity < $1)
              + (SELECT count(*) FROM product_stock WHERE threshold IS NOT NULL AND quantity < threshold AND archived_at IS NULL)",
        &[&shop],
        |row| row.get(0),
    )
    .await
}

/// Adds compacted deltas to the number. Does nothing before the first count.
pub(in crate::aggregates) async fn add(tx: &mut Tx, change: i64) -> Result<(), Error> {
    let sql = "UPDATE low_stock_aggregate SET products = products + $1";
    tx.execute(sql, &[&change]).await.map(drop)
}

/// Waits for running changes of quantities, thresholds and deltas, and blocks further ones until
/// the transaction ends. SQLite has one writer, so no lock is needed.
pub(in crate::aggregates) async fn lock(tx: &mut Tx) -> Result<(), Error> {
    if tx.engine() == Engine::Postgres {
        tx.execute("LOCK TABLE product_stock IN SHARE MODE", &[])
            .await?;
        super::lock(tx).await?;
    }
    Ok(())
}

/// Stores a count and clears the deltas that it contains.
pub(in crate::aggregates) async fn replace(
    tx: &mut Tx,
    threshold: i64,
    count: i64,
) -> Result<(), Error> {
    tx.execute("UPDATE aggregate_deltas SET low = 0 WHERE low <> 0", &[])
        .await?;
    tx.execute(
        "INSERT INTO low_stock_aggregate (id, threshold, products) VALUES (1, $1, $2)
         ON CONFLICT (id) DO UPDATE SET threshold = excluded.threshold, products = excluded.products",
        &[&threshold, &count],
    )
    .await
    .map(drop)
}
