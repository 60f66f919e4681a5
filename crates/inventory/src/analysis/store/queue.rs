//! The queue: one row a product while its analysis waits or runs. A row that is taken is due again when its lease ends.

use db::{Error, Timestamp, Tx};

/// Queues a product, unless it is queued.
pub(crate) async fn insert(tx: &mut Tx, product: i64, now: Timestamp) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO analysis_requests (product_id, requested_at, due_at) VALUES ($1, $2, $2) ON CONFLICT (product_id) DO NOTHING",
        &[&product, &now],
    )
    .await?;
    Ok(())
}
