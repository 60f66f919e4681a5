//! Statements about the single row with the position of the search for changed payments.

use db::{Conn, Error, Timestamp, Tx};

/// The position of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sweep {
    /// Every payment that changed before this time has been read.
    pub(super) until: Timestamp,
    /// How many of the payments that changed at that time or later have been read as well.
    pub(super) offset: i64,
    /// When the next turn is due.
    pub(super) due: Timestamp,
}

/// The position of the search. `None` before the first turn.
pub(super) async fn find_sweep(conn: &mut Conn) -> Result<Option<Sweep>, Error> {
    let sql = "SELECT swept_until, page_offset, sweep_at FROM sweeps WHERE id = 1";
    conn.optional(sql, &[], |row| {
        Ok(Sweep {
            until: row.get(0)?,
            offset: row.get(1)?,
            due: row.get(2)?,
        })
    })
    .await
}

/// When the oldest payment was stored.
pub(super) async fn oldest_payment(conn: &mut Conn) -> Result<Option<Timestamp>, Error> {
    let sql = "SELECT created_at FROM payments ORDER BY created_at, id LIMIT 1";
    conn.optional(sql, &[], |row| row.get(0)).await
}

/// Begins the search with changes from `from` on. Does nothing if another process has begun it.
pub(super) async fn begin(tx: &mut Tx, from: Timestamp, due: Timestamp) -> Result<u64, Error> {
    tx.execute(
        "INSERT INTO sweeps (id, swept_until, page_offset, sweep_at) VALUES (1, $1, 0, $2) ON CONFLICT (id) DO NOTHING",
        &[&from, &due],
    )
    .await
}

/// Claims the turn that was seen due at `seen` by setting the next due time, and stores where the
/// turn begins. Returns false if another process claimed it.
pub(super) async fn claim(tx: &mut Tx, seen: Timestamp, next: Sweep) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE sweeps SET sweep_at = $2, swept_until = $3, page_offset = $4
         WHERE id = 1 AND sweep_at = $1",
        &[&seen, &next.due, &next.until, &next.offset],
    )
    .await
}

/// Stores the position after a turn, unless another turn has stored a later one.
pub(super) async fn save(tx: &mut Tx, until: Timestamp, offset: i64) -> Result<u64, Error> {
    tx.execute(
        "UPDATE sweeps SET swept_until = $1, page_offset = $2
         WHERE id = 1 AND (swept_until < $1 OR (swept_until = $1 AND page_offset < $2))",
        &[&until, &offset],
    )
    .await
}
