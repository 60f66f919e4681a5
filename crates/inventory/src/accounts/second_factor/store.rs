//! Statements about second factors and recovery codes.

use db::{Conn, Error, Timestamp, Tx};

/// The sealed secret of a user, and the step of the last code that was taken.
pub(super) async fn find(conn: &mut Conn, user: i64) -> Result<Option<(String, i64)>, Error> {
    conn.optional(
        "SELECT secret, last_step FROM second_factors WHERE user_id = $1",
        &[&user],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}

/// Since when a user has a second factor.
pub(super) async fn since(conn: &mut Conn, user: i64) -> Result<Option<Timestamp>, Error> {
    conn.optional(
        "SELECT created_at FROM second_factors WHERE user_id = $1",
        &[&user],
        |row| row.get(0),
    )
    .await
}

/// Keeps a new second factor. Another one of the same user is a conflict.
pub(super) async fn insert(
    tx: &mut Tx,
    user: i64,
    sealed: &str,
    step: i64,
    now: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO second_factors (user_id, secret, last_step, created_at) VALUES ($1, $2, $3, $4)",
        &[&user, &sealed, &step, &now],
    )
    .await?;
    Ok(())
}

/// Takes the code of a step; whether no code of this or a later step was taken before.
pub(super) async fn take_step(tx: &mut Tx, user: i64, step: i64) -> Result<bool, Error> {
    let taken = tx
        .execute(
            "UPDATE second_factors SET last_step = $2 WHERE user_id = $1 AND last_step < $2",
            &[&user, &step],
        )
        .await?;
    Ok(taken == 1)
}

/// Removes the second factor of a user; whether there was one.
pub(super) async fn delete(tx: &mut Tx, user: i64) -> Result<bool, Error> {
    let deleted = tx
        .execute("DELETE FROM second_factors WHERE user_id = $1", &[&user])
        .await?;
    Ok(deleted == 1)
}

/// Keeps the digest of a recovery code.
pub(super) async fn insert_recovery(tx: &mut Tx, user: i64, code_hash: &str) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)",
        &[&user, &code_hash],
    )
    .await?;
    Ok(())
}

/// Whether a recovery code is there.
pub(super) async fn has_recovery(
    conn: &mut Conn,
    user: i64,
    code_hash: &str,
) -> Result<bool, Error> {
    let found: Option<i64> = conn
        .optional(
            "SELECT user_id FROM recovery_codes WHERE user_id = $1 AND code_hash = $2",
            &[&user, &code_hash],
            |row| row.get(0),
        )
        .await?;
    Ok(found.is_some())
}

/// Takes a recovery code; whether it was there.
pub(super) async fn take_recovery(tx: &mut Tx, user: i64, code_hash: &str) -> Result<bool, Error> {
    let taken = tx
        .execute(
            "DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2",
            &[&user, &code_hash],
        )
        .await?;
    Ok(taken == 1)
}

/// Removes every recovery code of a user.
pub(super) async fn delete_recovery(tx: &mut Tx, user: i64) -> Result<(), Error> {
    tx.execute("DELETE FROM recovery_codes WHERE user_id = $1", &[&user])
        .await?;
    Ok(())
}

/// How many recovery codes a user has left.
pub(super) async fn count_recovery(conn: &mut Conn, user: i64) -> Result<i64, Error> {
    conn.one(
        "SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1",
        &[&user],
        |row| row.get(0),
    )
    .await
}
