//! Statements about uploaded files.

use db::{Conn, Error, Row, Timestamp, Tx};

use super::{Brought, Sent, Standing};
use crate::{accounts::Caller, transfer::Resource};

/// Keeps a file that was checked; its id.
pub(super) async fn insert(
    tx: &mut Tx,
    caller: &Caller,
    sent: &Sent,
    added: i64,
    now: Timestamp,
) -> Result<i64, Error> {
    tx.one(
        "INSERT INTO imports (user_id, user_name, resource, file_name, content, state, added, created_at)
         VALUES ($1, $2, $3, $4, $5, 'checked', $6, $7) RETURNING id",
        &[
            &caller.id,
            &caller.username,
            &sent.resource.name(),
            &sent.file_name,
            &sent.content,
            &added,
            &now,
        ],
        |row| row.get(0),
    )
    .await
}

/// Forgets what a user checked until then and never confirmed.
pub(super) async fn forget_checked(tx: &mut Tx, user: i64, until: Timestamp) -> Result<(), Error> {
    tx.execute(
        "DELETE FROM imports WHERE user_id = $1 AND state = 'checked' AND created_at <= $2",
        &[&user, &until],
    )
    .await?;
    Ok(())
}

/// The content of a file that waits, which nobody else can take from now on.
pub(super) async fn take_content(tx: &mut Tx, id: i64) -> Result<Option<String>, Error> {
    let waiting = tx
        .execute(
            "UPDATE imports SET state = 'done' WHERE id = $1 AND state = 'checked'",
            &[&id],
        )
        .await?;
    if waiting == 0 {
        return Ok(None);
    }
    let content: Option<Option<String>> = tx
        .optional("SELECT content FROM imports WHERE id = $1", &[&id], |row| {
            row.get(0)
        })
        .await?;
    Ok(content.flatten())
}

/// Notes what was added; the content is needed no more.
pub(super) async fn set_done(tx: &mut Tx, id: i64, added: i64) -> Result<(), Error> {
    tx.execute(
        "UPDATE imports SET added = $2, content = NULL WHERE id = $1",
        &[&id, &added],
    )
    .await?;
    Ok(())
}

/// Notes one record that was added.
pub(super) async fn insert_record(tx: &mut Tx, id: i64, object: i64) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO import_records (import_id, object_id) VALUES ($1, $2)",
        &[&id, &object],
    )
    .await?;
    Ok(())
}

/// Notes that an import is taken back; whether it was done and not taken back yet.
pub(super) async fn set_undone(tx: &mut Tx, id: i64) -> Result<bool, Error> {
    let sql = "UPDATE imports SET state = 'undone' WHERE id = $1 AND state = 'done'";
    Ok(tx.execute(sql, &[&id]).await? > 0)
}

/// The records that an import added, the last first.
pub(super) async fn records(tx: &mut Tx, id: i64) -> Result<Vec<i64>, Error> {
    tx.all(
        "SELECT object_id FROM import_records WHERE import_id = $1 ORDER BY object_id DESC",
        &[&id],
        |row| row.get(0),
    )
    .await
}

pub(super) async fn latest(conn: &mut Conn, limit: i64) -> Result<Vec<Brought>, Error> {
    let found = conn
        .all(
            "SELECT id, user_name, resource, file_name, state, added, created_at FROM imports
             WHERE state <> 'checked' ORDER BY id DESC LIMIT $1",
            &[&limit],
            brought,
        )
        .await?;
    Ok(found.into_iter().flatten().collect())
}

pub(super) async fn find(
    conn: &mut Conn,
    id: i64,
) -> Result<Option<(Brought, Option<String>)>, Error> {
    let found = conn
        .optional(
            "SELECT id, user_name, resource, file_name, state, added, created_at, content FROM imports WHERE id = $1",
            &[&id],
            |row| Ok((brought(row)?, row.get(7)?)),
        )
        .await?;
    Ok(found.and_then(|(file, content)| Some((file?, content))))
}

/// A file; none of a resource or a state that a later program wrote.
fn brought(row: &Row<'_>) -> Result<Option<Brought>, Error> {
    let (resource, state): (String, String) = (row.get(2)?, row.get(4)?);
    let standing = Standing::ALL
        .into_iter()
        .find(|standing| standing.name() == state);
    let known = resource.parse::<Resource>().ok().zip(standing);
    let Some((resource, standing)) = known else {
        return Ok(None);
    };
    Ok(Some(Brought {
        id: row.get(0)?,
        user: row.get(1)?,
        resource,
        file_name: row.get(3)?,
        standing,
        added: row.get(5)?,
        created_at: row.get(6)?,
    }))
}
