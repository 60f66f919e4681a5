//! SQL statements of the management of accounts and groups.

use db::{Conn, Error, Param, Timestamp, Tx};
use resource::{Named, id, integer, reference, resource, several, sql, text, time, token};

use crate::{
    access::{Granted, Permission},
    accounts::{
        store as accounts,
        users::{User, store as users},
    },
    listing::{List, Table},
};

/// An account with the data of its page.
#[derive(Debug, Clone)]
pub(crate) struct Details {
    pub(crate) user: User,
    /// The password hash. `None` if nobody can log in with a password.
    pub(crate) hash: Option<String>,
    /// All permissions, including those of groups.
    pub(crate) granted: Granted,
}

resource! {
    /// A group. The alias of its table is `g`.
    pub struct Group, GroupInput {
        id: i64 = id().hidden(),
        name: String = text("Nome", "Name", 150).name().listed_for_staff(),
        members: i64 = integer("Membros", "Members", 0, i64::MAX).read_only().listed_for_staff(),
        permissions: Vec<Permission> = several("Permissões", "Permissions", Permission::PATH).listed_for_staff().read_from(PERMISSIONS),
    }
}

/// A subquery for the permissions of a group `g`.
const PERMISSIONS: &str = "(SELECT string_agg(p.permission, '\u{1f}') FROM group_permissions AS p WHERE p.group_id = g.id)";

resource! {
    /// A session with its user, read from [`SESSIONS`].
    pub struct OpenSession, OpenSessionInput {
        id: i64 = id().hidden(),
        user: Named = reference("Usuário", "User", "users").name().listed_for_staff().read_from("s.user_id, s.username"),
        agent: String = token("Navegador", "Browser").listed_for_staff(),
        address: String = token("Endereço", "Address").listed_for_staff(),
        created_at: Timestamp = time("Criado em", "Created at").listed_for_staff(),
        last_seen_at: Timestamp = time("Última visita", "Last seen").listed_for_staff(),
        expires_at: Timestamp = time("Expira em", "Expires at").listed_for_staff(),
    }
}

pub(crate) async fn details(conn: &mut Conn, id: i64) -> Result<Option<Details>, Error> {
    let (Some(user), Some(account)) = (
        users::read(conn, id).await?,
        accounts::account(conn, id).await?,
    ) else {
        return Ok(None);
    };
    Ok(Some(Details {
        user,
        hash: accounts::password_hash(conn, id).await?,
        granted: account.caller.granted,
    }))
}

/// Replaces the groups of a user. A group that was deleted is left out.
pub(super) async fn set_groups(tx: &mut Tx, id: i64, groups: &[i64]) -> Result<(), Error> {
    tx.execute("DELETE FROM user_groups WHERE user_id = $1", &[&id])
        .await?;
    let sql = "INSERT INTO user_groups (user_id, group_id) SELECT $1, id FROM groups WHERE id = $2";
    for group in groups {
        tx.execute(sql, &[&id, group]).await?;
    }
    Ok(())
}

pub(super) async fn delete(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "DELETE FROM users WHERE id = $1";
    tx.execute(sql, &[&id]).await.map(drop)
}

/// Groups with the numbers of their members and permissions.
static GROUPS: Table = Table {
    name: "(SELECT *, (SELECT count(*) FROM user_groups AS m WHERE m.group_id = groups.id) AS members,
                   (SELECT count(*) FROM group_permissions AS p WHERE p.group_id = groups.id) AS permission_count FROM groups)",
    alias: "g",
    indexes: &[],
    ..Table::OWN
};

pub(super) static GROUP_LIST: List<Group> = List {
    order_columns: &[("permissions", "permission_count")],
    ..List::described(&GROUPS)
};

pub(super) async fn group(conn: &mut Conn, id: i64) -> Result<Option<Group>, Error> {
    GROUP_LIST.find(conn, id).await
}

pub(super) async fn count_groups(conn: &mut Conn) -> Result<u64, Error> {
    let sql = "SELECT count(*) FROM groups";
    let count: i64 = conn.one(sql, &[], |row| row.get(0)).await?;
    Ok(count.unsigned_abs())
}

pub(super) async fn insert_group(tx: &mut Tx, name: &str) -> Result<i64, Error> {
    let sql = "INSERT INTO groups (name, name_folded) VALUES ($1, $2) RETURNING id";
    tx.one(sql, &[&name, &sql::folded(name)], |row| row.get(0))
        .await
}

/// Locks a group until the end of the transaction.
pub(super) async fn lock_group(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "UPDATE groups SET name = name WHERE id = $1";
    tx.execute(sql, &[&id]).await.map(drop)
}

pub(super) async fn rename_group(tx: &mut Tx, id: i64, name: &str) -> Result<(), Error> {
    let sql = "UPDATE groups SET name = $2, name_folded = $3 WHERE id = $1";
    let values: [&dyn Param; 3] = [&id, &name, &sql::folded(name)];
    tx.execute(sql, &values).await.map(drop)
}

pub(super) async fn delete_group(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "DELETE FROM groups WHERE id = $1";
    tx.execute(sql, &[&id]).await.map(drop)
}

/// Sessions with the names of their users. The column `searched` has all searched texts. Names of
/// browsers are ASCII, so `lower` folds them on both engines.
static SESSIONS: Table = Table {
    name: "(SELECT s.*, u.username, u.username_folded, lower(s.agent) AS agent_folded,
                   u.username_folded || '\n' || lower(s.agent) || '\n' || s.address AS searched
            FROM sessions AS s JOIN users AS u ON u.id = s.user_id)",
    alias: "s",
    indexes: &[],
    ..Table::OWN
};

pub(super) static SESSION_LIST: List<OpenSession> = List {
    order_columns: &[("user", "username_folded"), ("agent", "agent_folded")],
    ..List::described(&SESSIONS)
};

/// Deletes a session. Returns the id of its user.
pub(super) async fn delete_session(tx: &mut Tx, id: i64) -> Result<Option<i64>, Error> {
    let sql = "DELETE FROM sessions WHERE id = $1 RETURNING user_id";
    tx.optional(sql, &[&id], |row| row.get(0)).await
}

pub(crate) async fn count_sessions(conn: &mut Conn, user: i64) -> Result<u64, Error> {
    let sql = "SELECT count(*) FROM sessions WHERE user_id = $1";
    conn.one(sql, &[&user], |row| row.get::<i64>(0))
        .await
        .map(i64::unsigned_abs)
}
