//! Statements about overpayments: payments that were approved for orders that needed none.

use db::{Conn, Error, Timestamp, Tx};

/// An overpayment to be refunded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Overpayment {
    /// The payment's row.
    pub(crate) row: i64,
    pub(crate) payment: String,
    /// When the refund is due. The process that moves this time makes the refund.
    pub(crate) refund_at: Timestamp,
}

/// Inserts an overpayment. Returns false if it is stored already.
pub(crate) async fn insert_overpayment(
    tx: &mut Tx,
    payment: i64,
    order: i64,
    refund_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<bool, Error> {
    tx.execute_one(
        "INSERT INTO overpayments (payment_id, order_id, created_at, refund_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (payment_id) DO NOTHING",
        &[&payment, &order, &now, &refund_at],
    )
    .await
}

/// Overpayments whose refund is due, the longest overdue first.
pub(crate) async fn due_overpayments(
    conn: &mut Conn,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Overpayment>, Error> {
    conn.all(
        "SELECT o.payment_id, p.provider_id, o.refund_at
         FROM overpayments o JOIN payments p ON p.id = o.payment_id
         WHERE o.refund_at <= $1 ORDER BY o.refund_at, o.payment_id LIMIT $2",
        &[&now, &limit],
        |row| {
            Ok(Overpayment {
                row: row.get(0)?,
                payment: row.get(1)?,
                refund_at: row.get(2)?,
            })
        },
    )
    .await
}

/// When the next refund of an overpayment is due.
pub(crate) async fn next_overpayment_due(conn: &mut Conn) -> Result<Option<Timestamp>, Error> {
    let sql = "SELECT refund_at FROM overpayments WHERE refund_at IS NOT NULL ORDER BY refund_at, payment_id LIMIT 1";
    conn.optional(sql, &[], |row| row.get(0)).await
}

/// Moves the due time of a refund from `seen`. Returns false if another process did.
pub(crate) async fn write_refund_at(
    tx: &mut Tx,
    payment: i64,
    seen: Timestamp,
    next: Option<Timestamp>,
) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE overpayments SET refund_at = $3 WHERE payment_id = $1 AND refund_at = $2",
        &[&payment, &seen, &next],
    )
    .await
}
