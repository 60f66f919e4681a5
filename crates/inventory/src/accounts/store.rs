//! Statements about accounts.

use std::collections::BTreeSet;

use db::{Conn, Error, Row};

use super::{Account, Caller, Granted};

/// An account with everything it may do, by its id: one statement, since every request begins with it.
pub(crate) async fn account(conn: &mut Conn, id: i64) -> Result<Option<Account>, Error> {
    conn.optional(
        "SELECT u.id, u.username, u.active, u.superuser,
                (SELECT string_agg(p.permission, ',') FROM (
                    SELECT up.permission FROM user_permissions AS up WHERE up.user_id = u.id
                    UNION
                    SELECT gp.permission FROM user_groups AS ug
                    JOIN group_permissions AS gp ON gp.group_id = ug.group_id
                    WHERE ug.user_id = u.id
                ) AS p)
         FROM users AS u WHERE u.id = $1",
        &[&id],
        account_of,
    )
    .await
}

fn account_of(row: &Row<'_>) -> Result<Account, Error> {
    let granted = if row.get(3)? {
        Granted::Superuser
    } else {
        let permissions: Option<String> = row.get(4)?;
        Granted::Only(permissions_of(permissions.as_deref().unwrap_or_default()))
    };
    Ok(Account {
        caller: Caller {
            id: row.get(0)?,
            username: row.get(1)?,
            granted,
        },
        active: row.get(2)?,
    })
}

/// Permissions of models that are gone from the program are as good as not granted.
fn permissions_of(names: &str) -> BTreeSet<super::Permission> {
    names
        .split(',')
        .filter_map(|name| name.parse().ok())
        .collect()
}
