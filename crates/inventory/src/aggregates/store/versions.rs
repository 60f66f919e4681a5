//! The version of the products, by which it is known that what was counted of them still holds.

use db::{Conn, Error, Tx};

/// Over so many rows the version of the products is spread.
const VERSION_SHARDS: i64 = 64;

/// Says that products are no longer what they were, after many came at once.
pub(crate) async fn move_version(tx: &mut Tx) -> Result<(), Error> {
    note_change(tx, 0).await
}

/// Says that a product's own fields are no longer what they were. Called in the transaction of
/// every such change.
pub(crate) async fn note_change(tx: &mut Tx, product: i64) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO product_versions (shard, version) VALUES ($1, 1)
         ON CONFLICT (shard) DO UPDATE SET version = product_versions.version + 1",
        &[&product.rem_euclid(VERSION_SHARDS)],
    )
    .await
    .map(drop)
}

/// The version: it grows with every change.
pub(crate) async fn version(conn: &mut Conn) -> Result<i64, Error> {
    conn.one(
        "SELECT CAST(COALESCE(SUM(version), 0) AS BIGINT) FROM product_versions",
        &[],
        |row| row.get(0),
    )
    .await
}
