//! Statements about the checks of attempts: which are due, their claims, and their results.

use db::{Conn, Error, Timestamp, Tx};

use super::find::{attempt, attempt_columns};
use crate::attempts::model::Attempt;
use crate::payments::DueQuery;

/// Attempts that no run has leased and whose check is due by `until`, the longest overdue first.
/// The page begins after a given position in that order.
pub(crate) async fn due_attempts(
    conn: &mut Conn,
    now: Timestamp,
    due: &DueQuery,
) -> Result<Vec<Attempt>, Error> {
    conn.all(
        attempt_columns!(
            "WHERE a.check_at <= $1 AND (a.check_at > $2 OR (a.check_at = $2 AND a.id > $3))
               AND (a.leased_until IS NULL OR a.leased_until <= $4)
             ORDER BY a.check_at, a.id LIMIT $5"
        ),
        &[&due.until, &due.after.0, &due.after.1, &now, &due.limit],
        attempt,
    )
    .await
}

/// When the next check of an attempt is due.
pub(crate) async fn next_attempt_due(conn: &mut Conn) -> Result<Option<Timestamp>, Error> {
    let sql =
        "SELECT check_at FROM attempts WHERE check_at IS NOT NULL ORDER BY check_at, id LIMIT 1";
    conn.optional(sql, &[], |row| row.get(0)).await
}

/// The number of attempts of unknown outcome that no run has leased.
pub(crate) async fn unknown_attempts(conn: &mut Conn, now: Timestamp) -> Result<i64, Error> {
    conn.one(
        "SELECT count(*) FROM attempts
         WHERE check_at IS NOT NULL AND step = 'sending' AND (leased_until IS NULL OR leased_until <= $1)",
        &[&now],
        |row| row.get(0),
    )
    .await
}

/// Attempts of unknown outcome, leased ones included, the oldest first.
pub(crate) async fn open_attempts(conn: &mut Conn) -> Result<Vec<Attempt>, Error> {
    let sql = attempt_columns!(
        "WHERE a.check_at IS NOT NULL AND a.step = 'sending' ORDER BY a.created_at, a.id"
    );
    conn.all(sql, &[], attempt).await
}

/// Claims the check of an attempt by moving its due time from `seen` to the next one. Returns false
/// if another process did. Without a next one the run's lease ends, too: the process that could not
/// release it may live on.
pub(crate) async fn postpone_attempt(
    tx: &mut Tx,
    id: i64,
    seen: Timestamp,
    check_at: Option<Timestamp>,
) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE attempts SET check_at = $3, checks = checks + 1,
             lease = CASE WHEN $3 IS NULL THEN NULL ELSE lease END,
             leased_until = CASE WHEN $3 IS NULL THEN NULL ELSE leased_until END
         WHERE id = $1 AND check_at = $2",
        &[&id, &seen, &check_at],
    )
    .await
}

/// Stores the provider's last answer about an attempt whose check was claimed with `check_at`.
pub(crate) async fn update_answer(
    tx: &mut Tx,
    id: i64,
    check_at: Timestamp,
    answer: &str,
) -> Result<u64, Error> {
    tx.execute(
        "UPDATE attempts SET last_answer = $3 WHERE id = $1 AND check_at = $2",
        &[&id, &check_at, &answer],
    )
    .await
}

/// Closes an attempt of unknown outcome whose check was claimed with `check_at`. Returns false if a
/// run has acquired it since.
pub(crate) async fn close_attempt(
    tx: &mut Tx,
    id: i64,
    check_at: Timestamp,
    now: Timestamp,
) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE attempts SET step = 'closed', lease = NULL, leased_until = NULL, check_at = NULL, finished_at = $3
         WHERE id = $1 AND check_at = $2 AND step = 'sending'",
        &[&id, &check_at, &now],
    )
    .await
}
