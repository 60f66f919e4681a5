//! SQL statements about accounts.

use db::{BatchLoader, Conn, Error, Param, Row, Timestamp, Tx, batch_loader};

use super::Account;
use crate::access::{Caller, Granted};

/// The columns of a user `u` that [`account_of`] reads: the account with its permissions.
macro_rules! account_columns {
    () => {
        "u.id, u.username, u.active, u.superuser, u.staff,
         CASE WHEN NOT u.superuser THEN (SELECT string_agg(p.permission, ',') FROM (
             SELECT up.permission FROM user_permissions AS up WHERE up.user_id = u.id
             UNION ALL
             SELECT gp.permission FROM user_groups AS ug
             JOIN group_permissions AS gp ON gp.group_id = ug.group_id
             WHERE ug.user_id = u.id
         ) AS p) END, u.tokens_valid_from"
    };
}
pub(super) use account_columns;

/// Loads an account with its permissions by id. It is a single statement, because every request
/// needs it.
pub(super) static ACCOUNT: BatchLoader<Account> =
    batch_loader!(account_of; "SELECT ", account_columns!(), " FROM users AS u WHERE u.id");

/// Same as [`ACCOUNT`], but within a transaction or another read.
pub(crate) async fn account(conn: &mut Conn, id: i64) -> Result<Option<Account>, Error> {
    conn.find_by_key(&ACCOUNT, id).await
}

/// Reads an account from the columns of [`account_columns`], which come first in the row.
pub(super) fn account_of(row: &Row<'_>) -> Result<Account, Error> {
    let granted = if row.get(3)? {
        Granted::Superuser
    } else {
        let permissions: Option<String> = row.get(5)?;
        // Permissions for models that no longer exist are ignored.
        let permissions = permissions.as_deref().unwrap_or_default().split(',');
        Granted::Only(permissions.filter_map(|name| name.parse().ok()).collect())
    };
    Ok(Account {
        caller: Caller {
            id: row.get(0)?,
            username: row.get(1)?,
            is_staff: row.get(4)?,
            granted,
        },
        active: row.get(2)?,
        tokens_valid_from: row.get(6)?,
    })
}

/// An account's password hash. `None` if nobody can log in with a password.
pub(super) async fn password_hash(conn: &mut Conn, user: i64) -> Result<Option<String>, Error> {
    let sql = "SELECT password_hash FROM users WHERE id = $1";
    let hash: Option<Option<String>> = conn.optional(sql, &[&user], |row| row.get(0)).await?;
    Ok(hash.flatten())
}

/// The account with this user name, and its password hash.
pub(super) async fn credentials(
    conn: &mut Conn,
    username: &str,
) -> Result<Option<(Account, Option<String>)>, Error> {
    let found = conn
        .optional(
            "SELECT id, password_hash FROM users WHERE username = $1",
            &[&username],
            |row| Ok((row.get::<i64>(0)?, row.get::<Option<String>>(1)?)),
        )
        .await?;
    let Some((id, hash)) = found else {
        return Ok(None);
    };
    Ok(account(conn, id).await?.map(|account| (account, hash)))
}

/// The user name of a user.
pub(super) async fn name_of(conn: &mut Conn, id: i64) -> Result<Option<String>, Error> {
    conn.optional("SELECT username FROM users WHERE id = $1", &[&id], |row| {
        row.get(0)
    })
    .await
}

/// Sets the time of a user's last login.
pub(super) async fn set_last_login(tx: &mut Tx, id: i64, now: Timestamp) -> Result<(), Error> {
    let sql = "UPDATE users SET last_login = $2 WHERE id = $1";
    tx.execute(sql, &[&id, &now]).await.map(drop)
}

/// Revokes all tokens of a user that were issued before `valid_from`.
pub(super) async fn revoke_until(
    tx: &mut Tx,
    user: i64,
    valid_from: Timestamp,
) -> Result<(), Error> {
    let sql = "UPDATE users SET tokens_valid_from = $2 WHERE id = $1";
    tx.execute(sql, &[&user, &valid_from]).await.map(drop)
}

pub(super) async fn is_revoked(conn: &mut Conn, jti: &str) -> Result<bool, Error> {
    let sql = "SELECT user_id FROM revoked_tokens WHERE jti = $1";
    exists(conn, sql, &[&jti]).await
}

/// Whether a statement, which selects ids, finds a row.
pub(super) async fn exists(
    conn: &mut Conn,
    sql: &'static str,
    params: &[&dyn Param],
) -> Result<bool, Error> {
    let found = conn.optional(sql, params, |row| row.get::<i64>(0)).await?;
    Ok(found.is_some())
}

/// Stores a refresh token as revoked until it expires.
pub(super) async fn revoke(
    tx: &mut Tx,
    jti: &str,
    user: i64,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<(), Error> {
    let sql = "INSERT INTO revoked_tokens (jti, user_id, revoked_at, expires_at) VALUES ($1, $2, $3, $4) ON CONFLICT (jti) DO NOTHING";
    tx.execute(sql, &[&jti, &user, &now, &expires_at])
        .await
        .map(drop)
}

/// Deletes revoked tokens that have expired.
pub(super) async fn forget_expired(tx: &mut Tx, now: Timestamp) -> Result<(), Error> {
    let sql = "DELETE FROM revoked_tokens WHERE expires_at <= $1";
    tx.execute(sql, &[&now]).await.map(drop)
}
