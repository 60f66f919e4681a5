//! SQL statements about saved views.

use db::{Conn, Error, Tx};

use crate::accounts::session::SavedView;

pub(super) async fn count(conn: &mut Conn, user: i64) -> Result<i64, Error> {
    let sql = "SELECT count(*) FROM saved_views WHERE user_id = $1";
    conn.one(sql, &[&user], |row| row.get(0)).await
}

pub(super) async fn insert(
    tx: &mut Tx,
    user: i64,
    name: &str,
    address: &str,
) -> Result<SavedView, Error> {
    let sql = "INSERT INTO saved_views (user_id, name, name_folded, address) VALUES ($1, $2, $3, $4) RETURNING id";
    let folded = db::fold(name);
    let id = tx
        .one(sql, &[&user, &name, &folded, &address], |row| row.get(0))
        .await?;
    Ok(SavedView {
        id,
        name: name.to_owned(),
        address: address.to_owned(),
    })
}

/// Reads a view of a user.
pub(super) async fn find(conn: &mut Conn, id: i64, user: i64) -> Result<Option<SavedView>, Error> {
    let sql = "SELECT name, address FROM saved_views WHERE id = $1 AND user_id = $2";
    conn.optional(sql, &[&id, &user], |row| {
        Ok(SavedView {
            id,
            name: row.get(0)?,
            address: row.get(1)?,
        })
    })
    .await
}

/// Renames a view of a user and returns it. `None` if it does not exist.
pub(super) async fn rename(
    tx: &mut Tx,
    id: i64,
    user: i64,
    name: &str,
) -> Result<Option<SavedView>, Error> {
    let sql = "UPDATE saved_views SET name = $3, name_folded = $4 WHERE id = $1 AND user_id = $2";
    let folded = db::fold(name);
    tx.execute(sql, &[&id, &user, &name, &folded]).await?;
    find(tx, id, user).await
}

pub(super) async fn delete(tx: &mut Tx, id: i64, user: i64) -> Result<(), Error> {
    let sql = "DELETE FROM saved_views WHERE id = $1 AND user_id = $2";
    tx.execute(sql, &[&id, &user]).await.map(drop)
}
