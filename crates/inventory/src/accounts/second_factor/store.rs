//! SQL statements about second factors and recovery codes.

use db::{Conn, Error, Timestamp, Tx};

use crate::accounts::store::exists;

/// A user's encrypted secret, and the time step of the last used code.
pub(super) async fn find(conn: &mut Conn, user: i64) -> Result<Option<(String, i64)>, Error> {
    conn.optional(
        "SELECT secret, last_step FROM second_factors WHERE user_id = $1",
        &[&user],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}

/// When a user turned the second factor on. `None` if it is off.
pub(in crate::accounts) async fn since(
    conn: &mut Conn,
    user: i64,
) -> Result<Option<Timestamp>, Error> {
    conn.optional(
        "SELECT created_at FROM second_factors WHERE user_id = $1",
        &[&user],
        |row| row.get(0),
    )
    .await
}

/// Inserts a second factor. Violates the primary key if the user has one.
pub(super) async fn insert(
    tx: &mut Tx,
    user: i64,
    sealed: &str,
    step: i64,
    now: Timestamp,
) -> Result<(), Error> {
    let sql = "INSERT INTO second_factors (user_id, secret, last_step, created_at) VALUES ($1, $2, $3, $4)";
    tx.execute(sql, &[&user, &sealed, &step, &now])
        .await
        .map(drop)
}

/// Marks the code of a time step as used. Returns false if a code of this or a later step was used
/// before.
pub(super) async fn use_step(tx: &mut Tx, user: i64, step: i64) -> Result<bool, Error> {
    let sql = "UPDATE second_factors SET last_step = $2 WHERE user_id = $1 AND last_step < $2";
    tx.execute_one(sql, &[&user, &step]).await
}

/// Deletes a user's second factor. Returns whether there was one.
pub(super) async fn delete(tx: &mut Tx, user: i64) -> Result<bool, Error> {
    let sql = "DELETE FROM second_factors WHERE user_id = $1";
    tx.execute_one(sql, &[&user]).await
}

pub(super) async fn insert_recovery_code(
    tx: &mut Tx,
    user: i64,
    code_hash: &str,
) -> Result<(), Error> {
    let sql = "INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)";
    tx.execute(sql, &[&user, &code_hash]).await.map(drop)
}

/// Whether a recovery code is unused.
pub(super) async fn has_recovery_code(
    conn: &mut Conn,
    user: i64,
    code_hash: &str,
) -> Result<bool, Error> {
    let sql = "SELECT user_id FROM recovery_codes WHERE user_id = $1 AND code_hash = $2";
    exists(conn, sql, &[&user, &code_hash]).await
}

/// Deletes a used recovery code. Returns whether it existed.
pub(super) async fn use_recovery_code(
    tx: &mut Tx,
    user: i64,
    code_hash: &str,
) -> Result<bool, Error> {
    let sql = "DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2";
    tx.execute_one(sql, &[&user, &code_hash]).await
}

pub(super) async fn delete_recovery_codes(tx: &mut Tx, user: i64) -> Result<(), Error> {
    let sql = "DELETE FROM recovery_codes WHERE user_id = $1";
    tx.execute(sql, &[&user]).await.map(drop)
}

/// The number of a user's unused recovery codes.
pub(super) async fn count_recovery_codes(conn: &mut Conn, user: i64) -> Result<i64, Error> {
    conn.one(
        "SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1",
        &[&user],
        |row| row.get(0),
    )
    .await
}
