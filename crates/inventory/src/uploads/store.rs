//! SQL for uploaded files.

use db::{Conn, Error, Row, Timestamp, Tx};

use super::{NewUpload, Upload, UploadState};
use crate::{
    access::Caller,
    catalogue::named::Kind,
    transfer::{FileKind, NewName, Report},
};

/// Inserts a checked file. Returns its id.
pub(super) async fn insert(
    tx: &mut Tx,
    caller: &Caller,
    new: &NewUpload,
    report: &Report,
    now: Timestamp,
) -> Result<i64, Error> {
    let added = i64::try_from(report.added).unwrap_or(i64::MAX);
    let id: i64 = tx.one(
        "INSERT INTO imports (user_id, user_name, resource, file_name, state, added, created_at)
         VALUES ($1, $2, $3, $4, 'checked', $5, $6) RETURNING id",
        &[
            &caller.id,
            &caller.username,
            &new.resource.name(),
            &new.file_name,
            &added,
            &now,
        ],
        |row| row.get(0),
    )
        .await?;
    let sql = "INSERT INTO import_files (import_id, content) VALUES ($1, $2)";
    tx.execute(sql, &[&id, &new.content]).await?;
    for name in &report.new_names {
        let line = i64::try_from(name.line).unwrap_or(i64::MAX);
        let sql = "INSERT INTO import_names (import_id, kind, name, line) VALUES ($1, $2, $3, $4)";
        tx.execute(sql, &[&id, &name.kind.name(), &name.name, &line])
            .await?;
    }
    Ok(id)
}

/// The categories and brands that an import creates, in the order of the file.
pub(super) async fn new_names(conn: &mut Conn, id: i64) -> Result<Vec<NewName>, Error> {
    let sql = "SELECT kind, name, line FROM import_names WHERE import_id = $1 ORDER BY line, kind";
    let found = conn
        .all(sql, &[&id], |row| {
            let kind = Kind::of(&row.get::<String>(0)?);
            let (name, line) = (row.get(1)?, row.get::<i64>(2)?.unsigned_abs());
            Ok(kind.map(|kind| NewName { kind, name, line }))
        })
        .await?;
    Ok(found.into_iter().flatten().collect())
}

/// Deletes the files that were checked before a time and never confirmed.
pub(super) async fn forget_checked(tx: &mut Tx, until: Timestamp) -> Result<(), Error> {
    let sql = "DELETE FROM imports WHERE state = 'checked' AND created_at <= $1";
    tx.execute(sql, &[&until]).await.map(drop)
}

/// Deletes a user's files that were never confirmed, except the newest `kept`.
pub(super) async fn forget_oldest_checked(tx: &mut Tx, user: i64, kept: i64) -> Result<(), Error> {
    let sql = "DELETE FROM imports WHERE user_id = $1 AND state = 'checked' AND id NOT IN (
             SELECT i.id FROM imports AS i WHERE i.user_id = $1 AND i.state = 'checked' ORDER BY i.id DESC LIMIT $2
         )";
    tx.execute(sql, &[&user, &kept]).await.map(drop)
}

/// The ids of the records that an import added, newest first.
pub(super) async fn records(conn: &mut Conn, id: i64) -> Result<Vec<i64>, Error> {
    conn.all(
        "SELECT object_id FROM import_records WHERE import_id = $1 ORDER BY object_id DESC",
        &[&id],
        |row| row.get(0),
    )
    .await
}

pub(super) async fn latest(conn: &mut Conn, limit: i64) -> Result<Vec<Upload>, Error> {
    let found = conn
        .all(
            "SELECT id, user_name, resource, file_name, state, added, created_at, problem FROM imports
             WHERE state <> 'checked' ORDER BY id DESC LIMIT $1",
            &[&limit],
            upload_of,
        )
        .await?;
    Ok(found.into_iter().flatten().collect())
}

pub(super) async fn find(
    conn: &mut Conn,
    id: i64,
) -> Result<Option<(Upload, Option<String>)>, Error> {
    let found = conn
        .optional(
            "SELECT id, user_name, resource, file_name, state, added, created_at, problem, content,
                 CASE under_way WHEN 1 THEN (SELECT count(*) FROM import_records WHERE import_id = $1) ELSE added END FROM imports
             LEFT JOIN import_files ON import_id = id WHERE id = $1",
            &[&id],
            |row| {
                let (content, so_far) = (row.get(8)?, row.get(9)?);
                Ok((upload_of(row)?, content, so_far))
            },
        )
        .await?;
    Ok(found.and_then(|(file, content, so_far)| Some((Upload { so_far, ..file? }, content))))
}

/// Reads a file. `None` if a newer version of the program wrote an unknown resource or state.
fn upload_of(row: &Row<'_>) -> Result<Option<Upload>, Error> {
    let (resource, state): (String, String) = (row.get(2)?, row.get(4)?);
    let resource = resource.parse::<FileKind>().ok();
    let Some((resource, state)) = resource.zip(UploadState::of(&state)) else {
        return Ok(None);
    };
    let problem: Option<String> = row.get(7)?;
    let added = row.get(5)?;
    Ok(Some(Upload {
        id: row.get(0)?,
        user: row.get(1)?,
        resource,
        file_name: row.get(3)?,
        state,
        added,
        so_far: added,
        created_at: row.get(6)?,
        new_names: Vec::new(),
        problem: problem.and_then(|problem| serde_json::from_str(&problem).ok()),
    }))
}
