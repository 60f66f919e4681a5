//! The version of the products, which validates cached counts of products.

use db::{Conn, Error, Tx};

/// The version is the sum of this many rows, so that concurrent changes do not wait for one row.
const VERSION_SHARDS: i64 = 64;

/// Increments the version after a change of a product's own fields, in the same transaction. A bulk
/// change has the product 0.
pub(crate) async fn note_change(tx: &mut Tx, product: i64) -> Result<(), Error> {
    let sql = "INSERT INTO product_versions (shard, version) VALUES ($1, 1)
         ON CONFLICT (shard) DO UPDATE SET version = product_versions.version + 1";
    tx.execute(sql, &[&product.rem_euclid(VERSION_SHARDS)])
        .await
        .map(drop)
}

/// The version. It grows with every change.
pub(crate) async fn version(conn: &mut Conn) -> Result<i64, Error> {
    conn.one(
        "SELECT CAST(COALESCE(SUM(version), 0) AS BIGINT) FROM product_versions",
        &[],
        |row| row.get(0),
    )
    .await
}
