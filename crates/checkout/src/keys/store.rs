//! Statements about API keys.

use db::{Conn, Error, Timestamp, Tx};

use super::ApiKey;

/// Inserts the digest of a new key.
pub(super) async fn insert_key(
    tx: &mut Tx,
    name: &str,
    prefix: &str,
    digest: &str,
    now: Timestamp,
) -> Result<u64, Error> {
    tx.execute(
        "INSERT INTO api_keys (name, prefix, digest, created_at) VALUES ($1, $2, $3, $4)",
        &[&name, &prefix, &digest, &now],
    )
    .await
}

/// Every key, newest first.
pub(super) async fn list_keys(conn: &mut Conn) -> Result<Vec<ApiKey>, Error> {
    let sql =
        "SELECT name, prefix, created_at, revoked_at FROM api_keys ORDER BY id DESC LIMIT 1000";
    conn.all(sql, &[], |row| {
        Ok(ApiKey {
            name: row.get(0)?,
            prefix: row.get(1)?,
            created_at: row.get(2)?,
            revoked_at: row.get(3)?,
        })
    })
    .await
}

/// Revokes a key. Returns false if no valid key has the prefix or the digest.
pub(super) async fn revoke_key(
    tx: &mut Tx,
    prefix: &str,
    digest: &str,
    now: Timestamp,
) -> Result<bool, Error> {
    let sql = "UPDATE api_keys SET revoked_at = $3 WHERE (prefix = $1 OR digest = $2) AND revoked_at IS NULL";
    tx.execute_one(sql, &[&prefix, &digest, &now]).await
}

/// Whether a key with this digest exists and is not revoked.
pub(super) async fn is_in_force(conn: &mut Conn, digest: &str) -> Result<bool, Error> {
    let sql = "SELECT id FROM api_keys WHERE digest = $1 AND revoked_at IS NULL";
    Ok(conn
        .optional(sql, &[&digest], |row| row.get::<i64>(0))
        .await?
        .is_some())
}
