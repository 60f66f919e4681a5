//! SQL statements about failed attempts and known addresses.

use db::{Conn, Error, Timestamp, Tx};

use crate::accounts::store::exists;

/// Locks the row of a counter until the transaction ends and returns its attempts. Inserts the row
/// if it is missing.
pub(super) async fn lock(
    tx: &mut Tx,
    subject: &str,
    expires_at: Timestamp,
) -> Result<String, Error> {
    tx.one(
        "INSERT INTO login_attempts (subject, moments, expires_at) VALUES ($1, '', $2)
         ON CONFLICT (subject) DO UPDATE SET expires_at = excluded.expires_at
         RETURNING moments",
        &[&subject, &expires_at],
        |row| row.get(0),
    )
    .await
}

/// Writes the attempts of a counter.
pub(super) async fn update(tx: &mut Tx, subject: &str, moments: &str) -> Result<(), Error> {
    let sql = "UPDATE login_attempts SET moments = $2 WHERE subject = $1";
    tx.execute(sql, &[&subject, &moments]).await.map(drop)
}

/// Whether a user has logged in from an address.
pub(super) async fn is_address_known(
    conn: &mut Conn,
    user: i64,
    address: &str,
) -> Result<bool, Error> {
    let sql = "SELECT user_id FROM known_addresses WHERE user_id = $1 AND address_hash = $2";
    exists(conn, sql, &[&user, &address]).await
}

/// Stores that a user has logged in from an address.
pub(super) async fn know_address(
    tx: &mut Tx,
    user: i64,
    address: &str,
    now: Timestamp,
) -> Result<(), Error> {
    let sql =
        "INSERT INTO known_addresses (user_id, address_hash, last_login_at) VALUES ($1, $2, $3)
         ON CONFLICT (user_id, address_hash) DO UPDATE SET last_login_at = excluded.last_login_at";
    tx.execute(sql, &[&user, &address, &now]).await.map(drop)
}

/// Deletes all but the latest addresses of a user.
pub(super) async fn forget_oldest_addresses(
    tx: &mut Tx,
    user: i64,
    kept: i64,
) -> Result<(), Error> {
    let sql = "DELETE FROM known_addresses WHERE user_id = $1 AND address_hash NOT IN (
             SELECT k.address_hash FROM known_addresses AS k WHERE k.user_id = $1
             ORDER BY k.last_login_at DESC, k.address_hash LIMIT $2
         )";
    tx.execute(sql, &[&user, &kept]).await.map(drop)
}

/// Deletes expired attempts, and addresses without a login since `known_since`.
pub(super) async fn forget_expired(
    tx: &mut Tx,
    now: Timestamp,
    known_since: Timestamp,
) -> Result<(), Error> {
    tx.execute("DELETE FROM login_attempts WHERE expires_at <= $1", &[&now])
        .await?;
    let sql = "DELETE FROM known_addresses WHERE last_login_at <= $1";
    tx.execute(sql, &[&known_since]).await.map(drop)
}
