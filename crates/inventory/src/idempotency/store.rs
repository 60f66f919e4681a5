//! SQL statements about idempotency keys.

use db::{Conn, Error, Timestamp, Tx};

use super::IdempotencyKey;

/// The fingerprint and the stored result of a key that was stored after `since`.
pub(super) async fn find(
    conn: &mut Conn,
    key: &IdempotencyKey,
    since: Timestamp,
) -> Result<Option<(String, String)>, Error> {
    conn.optional(
        "SELECT fingerprint, body FROM idempotency_keys WHERE user_id = $1 AND path = $2 AND key = $3 AND created_at > $4",
        &[&key.user, &key.path, &key.key, &since],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}

/// Deletes a key that was stored at or before `until`.
pub(super) async fn forget(
    tx: &mut Tx,
    key: &IdempotencyKey,
    until: Timestamp,
) -> Result<(), Error> {
    let sql = "DELETE FROM idempotency_keys WHERE user_id = $1 AND path = $2 AND key = $3 AND created_at <= $4";
    tx.execute(sql, &[&key.user, &key.path, &key.key, &until])
        .await
        .map(drop)
}

/// Deletes the keys that were stored at or before `until`.
pub(super) async fn forget_expired(tx: &mut Tx, until: Timestamp) -> Result<(), Error> {
    let sql = "DELETE FROM idempotency_keys WHERE created_at <= $1";
    tx.execute(sql, &[&until]).await.map(drop)
}

pub(super) async fn insert(
    tx: &mut Tx,
    key: &IdempotencyKey,
    body: &str,
    now: Timestamp,
) -> Result<(), Error> {
    let sql = "INSERT INTO idempotency_keys (user_id, path, key, fingerprint, body, created_at) VALUES ($1, $2, $3, $4, $5, $6)";
    tx.execute(
        sql,
        &[
            &key.user,
            &key.path,
            &key.key,
            &key.fingerprint,
            &body,
            &now,
        ],
    )
    .await
    .map(drop)
}
