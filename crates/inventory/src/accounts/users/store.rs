//! Statements about accounts from the operator's side.

use db::{Conn, Error, Timestamp, Tx};
use resource::{Field, Input as _, Record as _, sql};

use super::{User, UserInput};
use crate::listing::{List, Table};

/// The groups of a user `u`.
pub(super) const GROUPS: &str = "(SELECT string_agg(g.id || ' ' || g.name, '\u{1f}')
     FROM user_groups AS m JOIN groups AS g ON g.id = m.group_id WHERE m.user_id = u.id)";
/// The permissions of a user `u` alone.
pub(super) const PERMISSIONS: &str =
    "(SELECT string_agg(p.permission, '\u{1f}') FROM user_permissions AS p WHERE p.user_id = u.id)";

/// Finds the ids of the users of a group, whose id follows.
pub(super) const OF_GROUP: &str = "SELECT m.user_id FROM user_groups AS m WHERE m.group_id = ";

/// Users. One column has all that a search looks at.
static USERS: Table = Table {
    name: "(SELECT *, username_folded || '\n' || first_name_folded || '\n' || last_name_folded || '\n' || email_folded AS searched FROM users)",
    alias: "u",
    indexes: &[],
    ..Table::OWN
};

pub(super) static LIST: List<User> = List::described(&USERS);

/// Users in the list of refresh tokens, where the field of their name is called `user`.
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

/// Every user by name.
pub(super) async fn all(conn: &mut Conn) -> Result<Vec<User>, Error> {
    let mut query = sql::select(User::FIELDS, "users", "u");
    query.push(" ORDER BY u.username");
    conn.all_of(&query, User::from_row).await
}

/// One user.
pub(super) async fn read(conn: &mut Conn, id: i64) -> Result<Option<User>, Error> {
    LIST.find(conn, id).await
}

/// Whether there is any user.
pub(super) async fn is_anybody(conn: &mut Conn) -> Result<bool, Error> {
    let first = conn
        .optional("SELECT id FROM users LIMIT 1", &[], |row| row.get::<i64>(0))
        .await?;
    Ok(first.is_some())
}

/// A new active user. Who may do everything may also administer.
pub(super) async fn insert(
    tx: &mut Tx,
    username: &str,
    hash: &str,
    superuser: bool,
    now: Timestamp,
) -> Result<i64, Error> {
    tx.one(
        "INSERT INTO users (username, username_folded, email, email_folded, first_name, first_name_folded, last_name, last_name_folded,
                            password_hash, active, staff, superuser, created_at, updated_at)
         VALUES ($1, $2, '', '', '', '', '', '', $3, $4, $5, $5, $6, $6) RETURNING id",
        &[&username, &db::fold(username), &hash, &true, &superuser, &now],
        |row| row.get(0),
    )
    .await
}

/// Puts a user into a group; whether there is such a group.
pub(super) async fn join_group(tx: &mut Tx, user: i64, group: &str) -> Result<bool, Error> {
    let joined = tx
        .execute(
            "INSERT INTO user_groups (user_id, group_id) SELECT $1, g.id FROM groups AS g WHERE g.name = $2",
            &[&user, &group],
        )
        .await?;
    Ok(joined == 1)
}

/// Changes a password; the user's id, if there is one.
pub(super) async fn set_password(
    tx: &mut Tx,
    username: &str,
    hash: &str,
    now: Timestamp,
) -> Result<Option<i64>, Error> {
    tx.optional(
        "UPDATE users SET password_hash = $2, updated_at = $3 WHERE username = $1 RETURNING id",
        &[&username, &hash, &now],
        |row| row.get(0),
    )
    .await
}

/// Keeps everybody else from changing an account until the transaction ends.
pub(crate) async fn lock(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "UPDATE users SET updated_at = updated_at WHERE id = $1";
    tx.execute(sql, &[&id]).await.map(drop)
}

/// Writes the fields that are set, but for what stands in other tables.
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

/// Lets a user in or not; the user's id, if there is one.
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

/// The id of the user of this name.
pub(super) async fn user_id(tx: &mut Tx, name: &str) -> Result<Option<i64>, Error> {
    tx.optional(
        "SELECT id FROM users WHERE username = $1",
        &[&name],
        |row| row.get(0),
    )
    .await
}

/// The id of the group of this name.
pub(super) async fn group_id(tx: &mut Tx, name: &str) -> Result<Option<i64>, Error> {
    tx.optional("SELECT id FROM groups WHERE name = $1", &[&name], |row| {
        row.get(0)
    })
    .await
}

/// Gives a user a permission.
pub(super) async fn grant_to_user(tx: &mut Tx, id: i64, permission: &str) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO user_permissions (user_id, permission) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        &[&id, &permission],
    )
    .await?;
    Ok(())
}

/// Gives a group a permission.
pub(super) async fn grant_to_group(tx: &mut Tx, id: i64, permission: &str) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO group_permissions (group_id, permission) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        &[&id, &permission],
    )
    .await?;
    Ok(())
}

/// Takes a permission from a user.
pub(super) async fn withdraw_from_user(
    tx: &mut Tx,
    id: i64,
    permission: &str,
) -> Result<(), Error> {
    tx.execute(
        "DELETE FROM user_permissions WHERE user_id = $1 AND permission = $2",
        &[&id, &permission],
    )
    .await?;
    Ok(())
}

/// Takes a permission from a group.
pub(super) async fn withdraw_from_group(
    tx: &mut Tx,
    id: i64,
    permission: &str,
) -> Result<(), Error> {
    tx.execute(
        "DELETE FROM group_permissions WHERE group_id = $1 AND permission = $2",
        &[&id, &permission],
    )
    .await?;
    Ok(())
}
