//! SQL for the lock that writes about one product share.

use db::{Error, Tx};

/// Locks a product's stock row until the transaction ends. Every change of a product, and of what
/// belongs to it, starts with this lock or with a change of the row. So changes cannot deadlock, and
/// a product's events get their ids in the order of the commits.
pub(crate) async fn lock_product(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "UPDATE product_stock SET updated_at = updated_at WHERE product_id = $1";
    tx.execute(sql, &[&id]).await.map(drop)
}
