//! Statements about accounts and groups as staff manage them.

use std::collections::BTreeSet;

use db::{Conn, Error, Row, Timestamp, Tx};

use super::input::Profile;
use crate::{
    accounts::{
        Granted, Permission, store as accounts,
        users::{User, store as users},
    },
    audit,
};

/// An account with everything that its page shows.
#[derive(Debug, Clone)]
pub(crate) struct Details {
    /// The account.
    pub(crate) user: User,
    /// The hash of its password; none when no password opens it.
    pub(crate) hash: Option<String>,
    /// The ids of its groups, in order.
    pub(crate) groups: Vec<i64>,
    /// Its own permissions, in order.
    pub(crate) permissions: Vec<Permission>,
    /// Everything that it may do.
    pub(crate) granted: Granted,
}

/// A group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// Its id.
    pub(crate) id: i64,
    /// Its name.
    pub(crate) name: String,
    /// What it may do, in order.
    pub(crate) permissions: Vec<Permission>,
    /// How many accounts belong to it.
    pub(crate) members: i64,
}

/// A session and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenSession {
    /// Its id.
    pub(crate) id: i64,
    /// The account's id.
    pub(crate) user: i64,
    /// The account's name.
    pub(crate) username: String,
    /// Where it began.
    pub(crate) address: String,
    /// What the browser called itself.
    pub(crate) agent: String,
    /// When it began.
    pub(crate) created_at: Timestamp,
    /// The last visit that was written down.
    pub(crate) last_seen_at: Timestamp,
    /// When it ends by itself.
    pub(crate) expires_at: Timestamp,
}

impl Details {
    /// The names of the fields that differ after a change.
    pub(super) fn changed_fields(&self, after: &Self) -> Vec<&'static str> {
        let (old, new) = (&self.user, &after.user);
        audit::changed([
            ("username", old.username != new.username),
            ("first_name", old.first_name != new.first_name),
            ("last_name", old.last_name != new.last_name),
            ("email", old.email != new.email),
            ("active", old.active != new.active),
            ("staff", old.staff != new.staff),
            ("superuser", old.superuser != new.superuser),
            ("groups", self.groups != after.groups),
            ("permissions", self.permissions != after.permissions),
        ])
    }
}

/// One account.
pub(crate) async fn details(conn: &mut Conn, id: i64) -> Result<Option<Details>, Error> {
    let (Some(user), Some(account)) = (
        users::read(conn, id).await?,
        accounts::account(conn, id).await?,
    ) else {
        return Ok(None);
    };
    let hash = conn
        .one(
            "SELECT password_hash FROM users WHERE id = $1",
            &[&id],
            |row| row.get(0),
        )
        .await?;
    let groups = conn
        .all(
            "SELECT group_id FROM user_groups WHERE user_id = $1 ORDER BY group_id",
            &[&id],
            |row| row.get(0),
        )
        .await?;
    let permissions = conn
        .all(
            "SELECT permission FROM user_permissions WHERE user_id = $1",
            &[&id],
            |row| row.get::<String>(0),
        )
        .await?;
    Ok(Some(Details {
        user,
        hash,
        groups,
        permissions: known(&permissions),
        granted: account.caller.granted,
    }))
}

/// Permissions that the program knows, in order.
fn known(names: &[String]) -> Vec<Permission> {
    let known: BTreeSet<Permission> = names.iter().filter_map(|name| name.parse().ok()).collect();
    known.into_iter().collect()
}

/// Which group has which members: user and group.
pub(crate) async fn memberships(conn: &mut Conn) -> Result<Vec<(i64, i64)>, Error> {
    conn.all(
        "SELECT user_id, group_id FROM user_groups ORDER BY user_id, group_id",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}

pub(super) async fn update(
    tx: &mut Tx,
    id: i64,
    profile: &Profile,
    now: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE users SET username = $2, email = $3, first_name = $4, last_name = $5, active = $6, staff = $7,
                          superuser = $8, updated_at = $9 WHERE id = $1",
        &[
            &id,
            &profile.username,
            &profile.email,
            &profile.first_name,
            &profile.last_name,
            &profile.active,
            &profile.staff,
            &profile.superuser,
            &now,
        ],
    )
    .await?;
    Ok(())
}

pub(super) async fn clear_groups(tx: &mut Tx, id: i64) -> Result<(), Error> {
    tx.execute("DELETE FROM user_groups WHERE user_id = $1", &[&id])
        .await?;
    Ok(())
}

/// Puts a user into a group; one that is gone is passed over.
pub(super) async fn join(tx: &mut Tx, id: i64, group: i64) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO user_groups (user_id, group_id) SELECT $1, id FROM groups WHERE id = $2",
        &[&id, &group],
    )
    .await?;
    Ok(())
}

pub(super) async fn clear_permissions(tx: &mut Tx, id: i64) -> Result<(), Error> {
    tx.execute("DELETE FROM user_permissions WHERE user_id = $1", &[&id])
        .await?;
    Ok(())
}

/// Writes a password's hash, or that there is none; whether the account was there.
pub(super) async fn set_password(
    tx: &mut Tx,
    id: i64,
    hash: Option<&str>,
    now: Timestamp,
) -> Result<bool, Error> {
    let sql = "UPDATE users SET password_hash = $2, updated_at = $3 WHERE id = $1";
    Ok(tx.execute(sql, &[&id, &hash, &now]).await? > 0)
}

pub(super) async fn delete(tx: &mut Tx, id: i64) -> Result<(), Error> {
    tx.execute("DELETE FROM users WHERE id = $1", &[&id])
        .await?;
    Ok(())
}

/// Every group, by name.
pub(crate) async fn groups(conn: &mut Conn) -> Result<Vec<Group>, Error> {
    conn.all(
        "SELECT g.id, g.name, (SELECT string_agg(p.permission, ',') FROM group_permissions AS p WHERE p.group_id = g.id),
                (SELECT count(*) FROM user_groups AS u WHERE u.group_id = g.id)
         FROM groups AS g ORDER BY g.name",
        &[],
        group_of,
    )
    .await
}

/// One group.
pub(crate) async fn group(conn: &mut Conn, id: i64) -> Result<Option<Group>, Error> {
    conn.optional(
        "SELECT g.id, g.name, (SELECT string_agg(p.permission, ',') FROM group_permissions AS p WHERE p.group_id = g.id),
                (SELECT count(*) FROM user_groups AS u WHERE u.group_id = g.id)
         FROM groups AS g WHERE g.id = $1",
        &[&id],
        group_of,
    )
    .await
}

fn group_of(row: &Row<'_>) -> Result<Group, Error> {
    let permissions: Option<String> = row.get(2)?;
    let names: Vec<String> = permissions
        .iter()
        .flat_map(|names| names.split(','))
        .map(str::to_owned)
        .collect();
    Ok(Group {
        id: row.get(0)?,
        name: row.get(1)?,
        permissions: known(&names),
        members: row.get(3)?,
    })
}

pub(super) async fn insert_group(tx: &mut Tx, name: &str) -> Result<i64, Error> {
    let sql = "INSERT INTO groups (name) VALUES ($1) RETURNING id";
    tx.one(sql, &[&name], |row| row.get(0)).await
}

/// Keeps everybody else from changing a group until the transaction ends.
pub(super) async fn hold_group(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "UPDATE groups SET name = name WHERE id = $1";
    tx.execute(sql, &[&id]).await.map(drop)
}

pub(super) async fn rename_group(tx: &mut Tx, id: i64, name: &str) -> Result<(), Error> {
    tx.execute("UPDATE groups SET name = $2 WHERE id = $1", &[&id, &name])
        .await?;
    Ok(())
}

pub(super) async fn clear_group_permissions(tx: &mut Tx, id: i64) -> Result<(), Error> {
    tx.execute("DELETE FROM group_permissions WHERE group_id = $1", &[&id])
        .await?;
    Ok(())
}

pub(super) async fn delete_group(tx: &mut Tx, id: i64) -> Result<(), Error> {
    tx.execute("DELETE FROM groups WHERE id = $1", &[&id])
        .await?;
    Ok(())
}

/// The sessions that have not ended, the last seen first.
pub(crate) async fn open_sessions(
    conn: &mut Conn,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<OpenSession>, Error> {
    conn.all(
        "SELECT s.id, s.user_id, u.username, s.address, s.agent, s.created_at, s.last_seen_at, s.expires_at
         FROM sessions AS s JOIN users AS u ON u.id = s.user_id
         WHERE s.expires_at > $1 ORDER BY s.last_seen_at DESC, s.id DESC LIMIT $2",
        &[&now, &limit],
        session_of,
    )
    .await
}

/// One session.
pub(crate) async fn open_session(conn: &mut Conn, id: i64) -> Result<Option<OpenSession>, Error> {
    conn.optional(
        "SELECT s.id, s.user_id, u.username, s.address, s.agent, s.created_at, s.last_seen_at, s.expires_at
         FROM sessions AS s JOIN users AS u ON u.id = s.user_id WHERE s.id = $1",
        &[&id],
        session_of,
    )
    .await
}

fn session_of(row: &Row<'_>) -> Result<OpenSession, Error> {
    Ok(OpenSession {
        id: row.get(0)?,
        user: row.get(1)?,
        username: row.get(2)?,
        address: row.get(3)?,
        agent: row.get(4)?,
        created_at: row.get(5)?,
        last_seen_at: row.get(6)?,
        expires_at: row.get(7)?,
    })
}

/// Ends a session; whose it was.
pub(super) async fn delete_session(tx: &mut Tx, id: i64) -> Result<Option<i64>, Error> {
    let sql = "DELETE FROM sessions WHERE id = $1 RETURNING user_id";
    tx.optional(sql, &[&id], |row| row.get(0)).await
}

/// How many sessions a user has.
pub(crate) async fn count_sessions(conn: &mut Conn, user: i64) -> Result<u64, Error> {
    let sql = "SELECT count(*) FROM sessions WHERE user_id = $1";
    conn.one(sql, &[&user], |row| row.get::<i64>(0))
        .await
        .map(i64::unsigned_abs)
}

/// Since when the tokens of each user count, by user.
pub(crate) async fn token_times(conn: &mut Conn) -> Result<Vec<(i64, Option<Timestamp>)>, Error> {
    conn.all(
        "SELECT id, tokens_valid_from FROM users ORDER BY id",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}
