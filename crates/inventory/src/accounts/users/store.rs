//! SQL statements about accounts.

use db::{Conn, Error, Timestamp, Tx};
use resource::{Field, Input as _, Record as _, sql};

use super::{User, UserInput};
use crate::{
    access::{Model, Permission},
    accounts::store::exists,
    listing::{List, Table},
};

/// A subquery for the groups of a user `u`.
pub(super) const GROUPS: &str = "(SELECT string_agg(g.id || ' ' || g.name, '\u{1f}')
     FROM user_groups AS m JOIN groups AS g ON g.id = m.group_id WHERE m.user_id = u.id)";
/// A subquery for the permissions of a user `u`, without those of groups.
pub(super) const PERMISSIONS: &str =
    "(SELECT string_agg(p.permission, '\u{1f}') FROM user_permissions AS p WHERE p.user_id = u.id)";

/// A subquery for the users of a group. The id of the group is appended.
pub(super) const OF_GROUP: &str = "SELECT m.user_id FROM user_groups AS m WHERE m.group_id = ";

/// Users. The column `searched` has all searched texts.
static USERS: Table = Table {
    name: "(SELECT *, username_folded || '\n' || first_name_folded || '\n' || last_name_folded || '\n' || email_folded AS searched FROM users)",
    alias: "u",
    indexes: &[],
    ..Table::OWN
};

pub(super) static LIST: List<User> = List::described(&USERS);

/// Users in the list of refresh tokens, where the username is the field `user`.
pub(super) static TOKEN_HOLDERS: List<User> = List {
    fields: &[
        &Field {
            name: "user",
            source: Some("u.username_folded"),
            ..*User::username
        },
        User::tokens_valid_from,
        User::last_login,
        User::active,
    ],
    ..List::described(&USERS)
};

/// All users, by name.
pub(super) async fn all(conn: &mut Conn) -> Result<Vec<User>, Error> {
    let mut query = sql::select(User::FIELDS, "users", "u");
    query.push(" ORDER BY u.username");
    conn.all_of(&query, User::from_row).await
}

pub(super) async fn read(conn: &mut Conn, id: i64) -> Result<Option<User>, Error> {
    LIST.find(conn, id).await
}

pub(super) async fn is_anybody(conn: &mut Conn) -> Result<bool, Error> {
    exists(conn, "SELECT id FROM users LIMIT 1", &[]).await
}

/// Inserts an active user. Superusers are staff. Nobody can log in with a password if there is no
/// hash.
pub(super) async fn insert(
    tx: &mut Tx,
    username: &str,
    hash: Option<&str>,
    superuser: bool,
    now: Timestamp,
) -> Result<i64, Error> {
    tx.one(
        "INSERT INTO users (username, username_folded, email, email_folded, first_name, first_name_folded, last_name, last_name_folded,
                            password_hash, active, staff, superuser, created_at, updated_at)
         VALUES ($1, $2, '', '', '', '', '', '', $3, $4, $5, $5, $6, $6) RETURNING id",
        &[&username, &sql::folded(username), &hash, &true, &superuser, &now],
        |row| row.get(0),
    )
    .await
}

/// Adds a user to a group. Returns whether the group exists.
pub(super) async fn join_group(tx: &mut Tx, user: i64, group: &str) -> Result<bool, Error> {
    let sql = "INSERT INTO user_groups (user_id, group_id) SELECT $1, g.id FROM groups AS g WHERE g.name = $2";
    tx.execute_one(sql, &[&user, &group]).await
}

/// Sets or removes a password hash. Returns whether the account existed.
pub(super) async fn set_password(
    tx: &mut Tx,
    id: i64,
    hash: Option<&str>,
    now: Timestamp,
) -> Result<bool, Error> {
    let sql = "UPDATE users SET password_hash = $2, updated_at = $3 WHERE id = $1";
    tx.execute_one(sql, &[&id, &hash, &now]).await
}

/// Locks an account until the end of the transaction.
pub(crate) async fn lock(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "UPDATE users SET updated_at = updated_at WHERE id = $1";
    tx.execute(sql, &[&id]).await.map(drop)
}

/// Updates the fields that are set, except those in other tables.
pub(super) async fn update(
    tx: &mut Tx,
    id: i64,
    input: &UserInput,
    now: Timestamp,
) -> Result<(), Error> {
    let mut query = sql::update("users", input.values());
    query.push(", updated_at = ").bind(now);
    query.push(" WHERE id = ").bind(id);
    tx.execute_of(&query).await.map(drop)
}

/// Activates or deactivates an account. Returns the id of the user, if the user exists.
pub(super) async fn set_active(
    tx: &mut Tx,
    username: &str,
    active: bool,
    now: Timestamp,
) -> Result<Option<i64>, Error> {
    tx.optional(
        "UPDATE users SET active = $2, updated_at = $3 WHERE username = $1 RETURNING id",
        &[&username, &active, &now],
        |row| row.get(0),
    )
    .await
}

pub(super) async fn user_id(tx: &mut Tx, name: &str) -> Result<Option<i64>, Error> {
    tx.optional(
        "SELECT id FROM users WHERE username = $1",
        &[&name],
        |row| row.get(0),
    )
    .await
}

pub(super) async fn group_id(tx: &mut Tx, name: &str) -> Result<Option<i64>, Error> {
    tx.optional("SELECT id FROM groups WHERE name = $1", &[&name], |row| {
        row.get(0)
    })
    .await
}

/// Replaces the permissions of a group or else of a user.
pub(super) async fn set_permissions(
    tx: &mut Tx,
    (holder, id): (Model, i64),
    permissions: &[Permission],
) -> Result<(), Error> {
    let (clear, grant) = match holder {
        Model::Group => (
            "DELETE FROM group_permissions WHERE group_id = $1",
            "INSERT INTO group_permissions (group_id, permission) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        ),
        _ => (
            "DELETE FROM user_permissions WHERE user_id = $1",
            "INSERT INTO user_permissions (user_id, permission) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        ),
    };
    tx.execute(clear, &[&id]).await?;
    for permission in permissions {
        tx.execute(grant, &[&id, &permission.to_string()]).await?;
    }
    Ok(())
}
