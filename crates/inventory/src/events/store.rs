//! Statements about the outbox.

use db::{Error, Timestamp, Tx};

/// Writes one row of the outbox.
pub(super) async fn insert_event(
    tx: &mut Tx,
    kind: &'static str,
    product: i64,
    payload: &str,
    now: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO events (type, product_id, payload, created_at) VALUES ($1, $2, $3, $4)",
        &[&kind, &product, &payload, &now],
    )
    .await?;
    Ok(())
}
