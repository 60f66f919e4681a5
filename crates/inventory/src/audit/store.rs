//! Statements about the audit log.

use db::{Conn, Error, Query, Row, Timestamp, Tx, span_of};

use super::{Action, ActionKind, Entry, FieldChange, LogSelection};
use crate::access::{Actor, Model};

/// The columns of a row, as [`entry_of`] reads them.
macro_rules! entries {
    ($after:literal) => {
        concat!(
            "SELECT id, user_id, user_name, action, model, object_id, object_text, changes, created_at FROM audit_entries",
            $after
        )
    };
}

/// Writes one row.
pub(super) async fn insert(
    tx: &mut Tx,
    actor: &Actor,
    action: Action<'_>,
    (model, id): (Model, Option<i64>),
    text: &str,
    now: Timestamp,
) -> Result<(), Error> {
    let user = actor.0.as_ref();
    tx.execute(
        "INSERT INTO audit_entries (user_id, user_name, action, model, object_id, object_text, changes, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[
            &user.map(|(id, _)| *id),
            &user.map(|(_, name)| name.as_str()),
            &action.done().name(),
            &model.code(),
            &id,
            &text,
            &action.stored(),
            &now,
        ],
    )
    .await?;
    Ok(())
}

/// How many rows speak of one record.
pub(super) async fn count_of_object(conn: &mut Conn, model: Model, id: i64) -> Result<u64, Error> {
    let sql = "SELECT count(*) FROM audit_entries WHERE model = $1 AND object_id = $2";
    conn.one(sql, &[&model.code(), &id], |row| row.get::<i64>(0))
        .await
        .map(i64::unsigned_abs)
}

/// The rows that speak of one record, newest first.
pub(super) async fn of_object(
    conn: &mut Conn,
    model: Model,
    id: i64,
    limit: i64,
    offset: i64,
) -> Result<Vec<Entry>, Error> {
    conn.all(
        entries!(" WHERE model = $1 AND object_id = $2 ORDER BY id DESC LIMIT $3 OFFSET $4"),
        &[&model.code(), &id, &limit, &offset],
        entry_of,
    )
    .await
}

/// What a user did last, newest first.
pub(super) async fn of_user(conn: &mut Conn, user: i64, limit: i64) -> Result<Vec<Entry>, Error> {
    conn.all(
        entries!(" WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2"),
        &[&user, &limit],
        entry_of,
    )
    .await
}

/// How many rows are selected; counting stops at `most`.
pub(super) async fn count(
    conn: &mut Conn,
    selection: &LogSelection,
    most: i64,
) -> Result<u64, Error> {
    let mut query = Query::new("SELECT count(*) FROM (SELECT id FROM audit_entries WHERE TRUE");
    push_filters(&mut query, selection);
    query.push(" LIMIT ").bind(most).push(") AS counted");
    conn.one_of(&query, |row| row.get::<i64>(0))
        .await
        .map(i64::unsigned_abs)
}

/// The rows that are selected.
pub(super) async fn select(
    conn: &mut Conn,
    selection: &LogSelection,
    limit: i64,
    offset: i64,
) -> Result<Vec<Entry>, Error> {
    let mut query = Query::new(entries!(" WHERE TRUE"));
    push_filters(&mut query, selection);
    push_order(&mut query, selection.is_oldest_first);
    query
        .push(" LIMIT ")
        .bind(limit)
        .push(" OFFSET ")
        .bind(offset);
    conn.all_of(&query, entry_of).await
}

/// The texts of the first rows that are selected, each with its id: what people call the record, and who did it.
pub(super) async fn texts(
    conn: &mut Conn,
    selection: &LogSelection,
    limit: i64,
) -> Result<Vec<(i64, String)>, Error> {
    let mut query =
        Query::new("SELECT id, object_text, COALESCE(user_name, '') FROM audit_entries WHERE TRUE");
    push_filters(&mut query, selection);
    push_order(&mut query, selection.is_oldest_first);
    query.push(" LIMIT ").bind(limit);
    let text = |row: &Row<'_>| {
        let (text, user): (String, String) = (row.get(1)?, row.get(2)?);
        Ok((row.get(0)?, format!("{text}\n{user}")))
    };
    conn.all_of(&query, text).await
}

/// These rows.
pub(super) async fn of_ids(
    conn: &mut Conn,
    ids: &[i64],
    is_oldest_first: bool,
) -> Result<Vec<Entry>, Error> {
    let mut query = Query::new(entries!(" WHERE id"));
    query.any_of(ids.iter().copied());
    push_order(&mut query, is_oldest_first);
    conn.all_of(&query, entry_of).await
}

fn push_order(query: &mut Query, is_oldest_first: bool) {
    query.push(if is_oldest_first {
        " ORDER BY created_at, id"
    } else {
        " ORDER BY created_at DESC, id DESC"
    });
}

fn push_filters(query: &mut Query, selection: &LogSelection) {
    if let Some(user) = selection.user {
        query.push(" AND user_id = ").bind(user);
    }
    if let Some(done) = selection.done {
        query.push(" AND action = ").bind(done.name());
    }
    if let Some(model) = &selection.model {
        query.push(" AND model = ").bind(model.as_str());
    }
    if let Some((from, until)) = selection.between {
        query
            .push(" AND created_at >= ")
            .bind(from)
            .push(" AND created_at < ")
            .bind(until);
    }
}

/// One row.
pub(super) async fn find(conn: &mut Conn, id: i64) -> Result<Option<Entry>, Error> {
    conn.optional(entries!(" WHERE id = $1"), &[&id], entry_of)
        .await
}

/// The moments of the first and the last row.
pub(super) async fn span(conn: &mut Conn) -> Result<Option<(Timestamp, Timestamp)>, Error> {
    let sql = "SELECT min(created_at), max(created_at) FROM audit_entries";
    conn.one(sql, &[], span_of).await
}

fn entry_of(row: &Row<'_>) -> Result<Entry, Error> {
    let id: Option<i64> = row.get(1)?;
    let name: Option<String> = row.get(2)?;
    let action: String = row.get(3)?;
    let changes: String = row.get(7)?;
    Ok(Entry {
        id: row.get(0)?,
        user: id.zip(name),
        // The table's own check lets nothing else in.
        done: ActionKind::of(&action).unwrap_or(ActionKind::Changed),
        model: row.get(4)?,
        object: row.get(5)?,
        text: row.get(6)?,
        changes: FieldChange::read(&changes),
        created_at: row.get(8)?,
    })
}
