//! Statements about accounts from the operator's side.

use db::{Conn, Error, Row, Timestamp, Tx};

use super::{User, own::Profile};

/// Stands between the names of groups, none of which has it.
const BETWEEN: &str = "\u{1f}";

/// What [`user_of`] reads of a user `u`, with [`BETWEEN`] as `$1`.
macro_rules! user_columns {
    () => {
        "u.id, u.username, u.email, u.first_name, u.last_name, u.active, u.superuser, u.last_login, u.created_at, u.staff,
         (SELECT string_agg(g.name, $1) FROM user_groups AS ug JOIN groups AS g ON g.id = ug.group_id WHERE ug.user_id = u.id)"
    };
}

fn user_of(row: &Row<'_>) -> Result<User, Error> {
    let groups: Option<String> = row.get(10)?;
    let mut groups: Vec<String> = groups
        .iter()
        .flat_map(|names| names.split(BETWEEN))
        .map(str::to_owned)
        .collect();
    groups.sort_unstable();
    Ok(User {
        id: row.get(0)?,
        username: row.get(1)?,
        email: row.get(2)?,
        first_name: row.get(3)?,
        last_name: row.get(4)?,
        active: row.get(5)?,
        staff: row.get(9)?,
        superuser: row.get(6)?,
        groups,
        last_login: row.get(7)?,
        created_at: row.get(8)?,
    })
}

/// Every user, by name.
pub(super) async fn list(conn: &mut Conn) -> Result<Vec<User>, Error> {
    conn.all(
        concat!(
            "SELECT ",
            user_columns!(),
            " FROM users AS u ORDER BY u.username"
        ),
        &[&BETWEEN],
        user_of,
    )
    .await
}

/// One user.
pub(super) async fn read(conn: &mut Conn, id: i64) -> Result<Option<User>, Error> {
    conn.optional(
        concat!(
            "SELECT ",
            user_columns!(),
            " FROM users AS u WHERE u.id = $2"
        ),
        &[&BETWEEN, &id],
        user_of,
    )
    .await
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
        "INSERT INTO users (username, email, first_name, last_name, password_hash, active, staff, superuser, created_at, updated_at)
         VALUES ($1, '', '', '', $2, $3, $4, $4, $5, $5) RETURNING id",
        &[&username, &hash, &true, &superuser, &now],
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
pub(super) async fn hold(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "UPDATE users SET updated_at = updated_at WHERE id = $1";
    tx.execute(sql, &[&id]).await.map(drop)
}

/// Changes how a user is called and reached.
pub(super) async fn set_profile(
    tx: &mut Tx,
    id: i64,
    profile: &Profile,
    now: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE users SET first_name = $2, last_name = $3, email = $4, updated_at = $5 WHERE id = $1",
        &[&id, &profile.first_name, &profile.last_name, &profile.email, &now],
    )
    .await?;
    Ok(())
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
