//! SQL statements about sessions.

use db::{Conn, Error, Timestamp, Tx};

use super::{Session, Visitor, saved_view::all_of};
use crate::accounts::{csrf::Secret, store::account_of};

/// The session with a token's digest that has not ended, with the account, its permissions and its
/// saved views. It is a single statement, because every request of a session needs it. The column
/// of views separates values by blanks, which addresses do not contain, and views by a control
/// character, which names do not contain.
pub(super) async fn find(
    conn: &mut Conn,
    token_hash: &str,
    now: Timestamp,
) -> Result<Option<Session>, Error> {
    conn.optional(
        concat!(
            "SELECT ",
            crate::accounts::store::account_columns!(),
            ", s.id, s.csrf_secret, s.created_at, s.last_seen_at, s.remembered, ",
            "(SELECT string_agg(v.id || ' ' || v.address || ' ' || v.name, '\u{1f}') FROM saved_views AS v WHERE v.user_id = u.id)
             FROM sessions AS s JOIN users AS u ON u.id = s.user_id
             WHERE s.token_hash = $1 AND s.expires_at > $2"
        ),
        &[&token_hash, &now],
        |row| {
            let (secret, views): (String, Option<String>) = (row.get(8)?, row.get(12)?);
            Ok(Session {
                id: row.get(7)?,
                account: account_of(row)?,
                csrf: Secret::parse(&secret),
                created_at: row.get(9)?,
                last_seen_at: row.get(10)?,
                remembered: row.get(11)?,
                views: all_of(views.as_deref()),
            })
        },
    )
    .await
}

pub(super) async fn insert(
    tx: &mut Tx,
    token_hash: &str,
    csrf_secret: &str,
    visitor: &Visitor,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO sessions (token_hash, user_id, csrf_secret, address, agent, created_at, last_seen_at, expires_at, remembered)
         VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8)",
        &[
            &token_hash, &visitor.user, &csrf_secret, &visitor.address, &visitor.agent, &now, &expires_at, &visitor.remembered,
        ],
    )
    .await.map(drop)
}

/// Prolongs a session, unless it was visited or ended since it was read.
pub(super) async fn touch(
    tx: &mut Tx,
    id: i64,
    seen_at: Timestamp,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE sessions SET last_seen_at = $2, expires_at = $3 WHERE id = $1 AND last_seen_at = $4",
        &[&id, &now, &expires_at, &seen_at],
    )
    .await.map(drop)
}

/// Inserts a copy of a session with another token and returns its id. `None` if the session has
/// ended.
pub(super) async fn insert_successor(
    tx: &mut Tx,
    id: i64,
    token_hash: &str,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<Option<i64>, Error> {
    tx.optional(
        "INSERT INTO sessions (token_hash, user_id, csrf_secret, address, agent, created_at, last_seen_at, expires_at, remembered)
         SELECT $2, user_id, csrf_secret, address, agent, created_at, $3, $4, remembered FROM sessions WHERE id = $1
         RETURNING id",
        &[&id, &token_hash, &now, &expires_at],
        |row| row.get(0),
    )
    .await
}

/// Makes a session end at `end` at the latest. Also sets the last visit, so that a concurrent
/// request does not prolong it.
pub(super) async fn end_by(
    tx: &mut Tx,
    id: i64,
    now: Timestamp,
    end: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE sessions SET last_seen_at = $2, expires_at = $3 WHERE id = $1 AND expires_at > $3",
        &[&id, &now, &end],
    )
    .await
    .map(drop)
}

pub(super) async fn replace_token(
    tx: &mut Tx,
    id: i64,
    token_hash: &str,
    csrf_secret: &str,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE sessions SET token_hash = $2, csrf_secret = $3 WHERE id = $1",
        &[&id, &token_hash, &csrf_secret],
    )
    .await
    .map(drop)
}

/// Deletes one session of a user. Returns whether it existed.
pub(super) async fn delete_one(tx: &mut Tx, id: i64, user: i64) -> Result<bool, Error> {
    let sql = "DELETE FROM sessions WHERE id = $1 AND user_id = $2";
    tx.execute_one(sql, &[&id, &user]).await
}

/// Deletes all sessions of a user but one. Returns how many.
pub(in crate::accounts) async fn delete_others(
    tx: &mut Tx,
    user: i64,
    kept: i64,
) -> Result<u64, Error> {
    tx.execute(
        "DELETE FROM sessions WHERE user_id = $1 AND id <> $2",
        &[&user, &kept],
    )
    .await
}

/// Deletes the session with this token's digest.
pub(super) async fn delete(tx: &mut Tx, token_hash: &str) -> Result<(), Error> {
    tx.execute("DELETE FROM sessions WHERE token_hash = $1", &[&token_hash])
        .await
        .map(drop)
}

pub(in crate::accounts) async fn delete_of_user(tx: &mut Tx, user: i64) -> Result<(), Error> {
    tx.execute("DELETE FROM sessions WHERE user_id = $1", &[&user])
        .await
        .map(drop)
}

pub(in crate::accounts) async fn forget_expired(tx: &mut Tx, now: Timestamp) -> Result<(), Error> {
    tx.execute("DELETE FROM sessions WHERE expires_at <= $1", &[&now])
        .await
        .map(drop)
}
