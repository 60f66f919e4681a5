//! Statements about quantities and the ledger.

use db::{Conn, Error, Timestamp, Tx};

use super::{Changed, ledger::Entry};

/// Adds to a quantity, unless it would leave the range of 0 to 64 bits or there is no such product.
pub(super) async fn change_quantity(
    tx: &mut Tx,
    product: i64,
    change: i64,
    now: Timestamp,
) -> Result<Option<Changed>, Error> {
    // No arithmetic in the condition, since engines differ in what an overflow is.
    let least = change.min(0).checked_neg().unwrap_or(i64::MAX);
    let most = i64::MAX - change.max(0);
    tx.optional(
        "UPDATE product_stock SET quantity = quantity + $2, updated_at = $3
         WHERE product_id = $1 AND quantity >= $4 AND quantity <= $5
         RETURNING quantity, threshold",
        &[&product, &change, &now, &least, &most],
        |row| {
            let after: i64 = row.get(0)?;
            Ok(Changed {
                before: after - change,
                after,
                threshold: row.get(1)?,
            })
        },
    )
    .await
}

pub(super) async fn quantity(conn: &mut Conn, product: i64) -> Result<Option<i64>, Error> {
    conn.optional(
        "SELECT quantity FROM product_stock WHERE product_id = $1",
        &[&product],
        |row| row.get(0),
    )
    .await
}

/// Writes one row of the ledger, with the product's prices at this moment.
pub(super) async fn insert_entry(
    tx: &mut Tx,
    entry: &Entry<'_>,
    balance_after: i64,
) -> Result<(), Error> {
    let user = entry.actor.0.as_ref();
    tx.execute(
        "INSERT INTO ledger_entries (product_id, kind, change, balance_after, cost_price, selling_price, user_id, user_name,
                                     reference_id, created_at)
         SELECT p.id, $2, $3, $4, p.cost_price, p.selling_price, $5, $6, $7, $8 FROM products AS p WHERE p.id = $1",
        &[
            &entry.product,
            &entry.kind.name(),
            &entry.change,
            &balance_after,
            &user.map(|(id, _)| *id),
            &user.map(|(_, name)| name.as_str()),
            &entry.reference,
            &entry.now,
        ],
    )
    .await?;
    Ok(())
}

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
