//! Statements about accounts and groups as staff manage them.

use db::{Conn, Error, Query, Timestamp, Tx};
use resource::{
    Named, Record as _, id, integer, reference, resource, several, sql, text, time, token,
};

use crate::{
    access::{Granted, Permission},
    accounts::{
        store as accounts,
        users::{User, store as users},
    },
};

/// An account with everything that its page shows.
#[derive(Debug, Clone)]
pub(crate) struct Details {
    /// The account.
    pub(crate) user: User,
    /// The hash of its password; none when no password opens it.
    pub(crate) hash: Option<String>,
    /// Everything that it may do.
    pub(crate) granted: Granted,
}

resource! {
    /// A group. Its table is called `g` in statements.
    pub struct Group, GroupInput {
        id: i64 = id().hidden(),
        name: String = text("Nome", "Name", 150).name().unfolded().listed_for_staff(),
        members: i64 = integer("Membros", "Members", 0, i64::MAX).read_only().listed_for_staff().read_from(MEMBERS),
        permissions: Vec<Permission> = several("Permissões", "Permissions", Permission::PATH).listed_for_staff().read_from(PERMISSIONS),
    }
}

/// How many accounts belong to a group `g`.
const MEMBERS: &str = "(SELECT count(*) FROM user_groups AS m WHERE m.group_id = g.id)";
/// What a group `g` may do.
const PERMISSIONS: &str = "(SELECT string_agg(p.permission, '\u{1f}') FROM group_permissions AS p WHERE p.group_id = g.id)";

resource! {
    /// A session and whose it is. Its table is called `s` in statements.
    pub struct OpenSession, OpenSessionInput {
        id: i64 = id().hidden(),
        user: Named = reference("Usuário", "User", "users").name().listed_for_staff().read_from("u.id, u.username"),
        agent: String = token("Navegador", "Browser").listed_for_staff(),
        address: String = token("Endereço", "Address").listed_for_staff(),
        created_at: Timestamp = time("Criado em", "Created at").listed_for_staff(),
        last_seen_at: Timestamp = time("Última visita", "Last seen").listed_for_staff(),
        expires_at: Timestamp = time("Expira em", "Expires at").listed_for_staff(),
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
    Ok(Some(Details {
        user,
        hash,
        granted: account.caller.granted,
    }))
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

/// Every group by name, or the one of an id.
pub(crate) async fn groups(conn: &mut Conn, id: Option<i64>) -> Result<Vec<Group>, Error> {
    let mut query = sql::select(Group::FIELDS, "groups", "g");
    if let Some(id) = id {
        query.push(" WHERE g.id = ").bind(id);
    }
    query.push(" ORDER BY g.name");
    conn.all_of(&query, Group::from_row).await
}

/// One group.
pub(crate) async fn group(conn: &mut Conn, id: i64) -> Result<Option<Group>, Error> {
    Ok(groups(conn, Some(id)).await?.pop())
}

pub(super) async fn insert_group(tx: &mut Tx, name: &str) -> Result<i64, Error> {
    let sql = "INSERT INTO groups (name) VALUES ($1) RETURNING id";
    tx.one(sql, &[&name], |row| row.get(0)).await
}

/// Keeps everybody else from changing a group until the transaction ends.
pub(super) async fn lock_group(tx: &mut Tx, id: i64) -> Result<(), Error> {
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

/// Sessions, to be narrowed and ordered.
fn sessions() -> Query {
    let mut query = sql::select(OpenSession::FIELDS, "sessions", "s");
    query.push(" JOIN users AS u ON u.id = s.user_id WHERE ");
    query
}

/// The sessions that have not ended, the last seen first.
pub(crate) async fn open_sessions(
    conn: &mut Conn,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<OpenSession>, Error> {
    let mut query = sessions();
    query.push("s.expires_at > ").bind(now);
    query.push(" ORDER BY s.last_seen_at DESC, s.id DESC LIMIT ");
    conn.all_of(query.bind(limit), OpenSession::from_row).await
}

/// One session.
pub(crate) async fn open_session(conn: &mut Conn, id: i64) -> Result<Option<OpenSession>, Error> {
    let mut query = sessions();
    query.push("s.id = ").bind(id);
    conn.optional_of(&query, OpenSession::from_row).await
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
