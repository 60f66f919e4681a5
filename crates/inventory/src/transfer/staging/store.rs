//! SQL for imports in progress.

use db::{Conn, Error, Param, Query, Row, Timestamp, Tx};

use super::{LockedImport, StagedRow, UploadState};
use crate::{
    access::Actor,
    catalogue::named::Kind,
    rest::Message,
    transfer::{FileKind, NewName},
    work::Author,
};

/// Begins an import without an upload, of a file with this name and digest. Returns its id.
pub(super) async fn open(
    tx: &mut Tx,
    resource: FileKind,
    (name, digest): (&str, &str),
    now: Timestamp,
) -> Result<i64, Error> {
    tx.one(
        "INSERT INTO imports (user_name, resource, file_name, state, under_way, unreported, added, created_at, began_at, progress_at)
         VALUES ('balcao inventory import', $1, $2, 'staging', 1, $3, 0, $4, $4, $4) RETURNING id",
        &[&resource.name(), &name, &digest, &now],
        |row| row.get(0),
    )
    .await
}

/// Begins the import of an uploaded file. Returns false if it was not waiting for confirmation.
pub(crate) async fn begin(tx: &mut Tx, id: i64, author: &Author) -> Result<bool, Error> {
    let sql = "UPDATE imports SET state = 'staging', under_way = 1, problem = NULL, began_at = $2, progress_at = $2,
                   actor_id = $3, actor_name = $4
               WHERE id = $1 AND state = 'checked'";
    let (user, name) = author.actor.0.clone().unzip();
    tx.execute_one(sql, &[&id, &author.now, &user, &name]).await
}

/// Begins to undo an import. Returns false if it was not done.
pub(crate) async fn begin_undo(tx: &mut Tx, id: i64, author: &Author) -> Result<bool, Error> {
    let sql =
        "UPDATE imports SET state = 'withdrawing', under_way = 1, problem = NULL, progress_at = $2,
                   actor_id = $3, actor_name = $4
               WHERE id = $1 AND state = 'done'";
    let (user, name) = author.actor.0.clone().unzip();
    tx.execute_one(sql, &[&id, &author.now, &user, &name]).await
}

/// Records progress of staging. Fails if another process has ended the import.
pub(super) async fn record_progress(
    tx: &mut Tx,
    id: i64,
    began: Timestamp,
    now: Timestamp,
) -> Result<(), Error> {
    let sql =
        "UPDATE imports SET progress_at = $3 WHERE id = $1 AND state = 'staging' AND began_at = $2";
    match tx.execute(sql, &[&id, &began, &now]).await? {
        0 => Err(Error::other("another process has ended this import")),
        _ => Ok(()),
    }
}

/// Ends staging: from here on, rows are published.
pub(super) async fn publish(tx: &mut Tx, id: i64, added: i64) -> Result<(), Error> {
    let sql = "UPDATE imports SET state = 'publishing', added = $2 WHERE id = $1";
    tx.execute(sql, &[&id, &added]).await.map(drop)
}

/// Discards an import whose rows are being staged, so that it has no records yet. Returns false in
/// another state.
pub(super) async fn discard(tx: &mut Tx, id: i64, problem: &Message) -> Result<bool, Error> {
    let problem = problem_json(problem)?;
    let sql =
        "UPDATE imports SET state = 'discarding', problem = $2 WHERE id = $1 AND state = 'staging'";
    tx.execute_one(sql, &[&id, &problem]).await
}

/// Reverses an import or undo because of a problem. Returns false if it was reversed already.
pub(super) async fn reverse(tx: &mut Tx, id: i64, problem: &Message) -> Result<bool, Error> {
    let problem = problem_json(problem)?;
    let sql = "UPDATE imports SET problem = $2,
                   state = CASE state WHEN 'publishing' THEN 'withdrawing' ELSE 'publishing' END
               WHERE id = $1 AND problem IS NULL AND state IN ('publishing', 'withdrawing')";
    tx.execute_one(sql, &[&id, &problem]).await
}

/// A problem in both languages, as JSON for the column that pages read.
fn problem_json(problem: &Message) -> Result<String, Error> {
    serde_json::to_string(problem).map_err(Error::other)
}

/// Locks an import in progress until the transaction ends.
pub(super) async fn lock(
    tx: &mut Tx,
    id: i64,
    now: Timestamp,
) -> Result<Option<LockedImport>, Error> {
    let found = tx
        .optional(
            "UPDATE imports SET progress_at = $2 WHERE id = $1 AND under_way = 1
             RETURNING state, problem, file_name, added, EXISTS (SELECT 1 FROM import_files WHERE import_id = $1)",
            &[&id, &now],
            locked_of,
        )
        .await?;
    Ok(found.flatten())
}

/// Reads an import. `None` if a newer version of the program wrote an unknown state.
fn locked_of(row: &Row<'_>) -> Result<Option<LockedImport>, Error> {
    let Some(state) = UploadState::of(&row.get::<String>(0)?) else {
        return Ok(None);
    };
    Ok(Some(LockedImport {
        state,
        problem: row.get(1)?,
        name: row.get(2)?,
        added: row.get(3)?,
        has_file: row.get(4)?,
    }))
}

pub(super) async fn state(conn: &mut Conn, id: i64) -> Result<Option<UploadState>, Error> {
    let sql = "SELECT state FROM imports WHERE id = $1";
    let state: Option<String> = conn.optional(sql, &[&id], |row| row.get(0)).await?;
    Ok(state.as_deref().and_then(UploadState::of))
}

/// The file name and the number of records of an import whose records all exist.
pub(super) async fn completed(conn: &mut Conn, id: i64) -> Result<Option<(String, i64)>, Error> {
    let sql =
        "SELECT file_name, added FROM imports WHERE id = $1 AND state = 'done' AND problem IS NULL";
    conn.optional(sql, &[&id], |row| Ok((row.get(0)?, row.get(1)?)))
        .await
}

/// Marks the completed imports of commands with this file as reported. Returns the records of the
/// newest.
pub(super) async fn take_unreported(
    tx: &mut Tx,
    resource: FileKind,
    digest: &str,
) -> Result<Option<i64>, Error> {
    let sql = "UPDATE imports SET unreported = NULL
         WHERE unreported = $2 AND state = 'done' AND resource = $1 RETURNING added";
    let values: [&dyn Param; 2] = [&resource.name(), &digest];
    Ok(tx.all(sql, &values, |row| row.get(0)).await?.pop())
}

pub(super) async fn report(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "UPDATE imports SET unreported = NULL WHERE id = $1";
    tx.execute(sql, &[&id]).await.map(drop)
}

pub(super) async fn set_state(tx: &mut Tx, id: i64, state: UploadState) -> Result<(), Error> {
    let sql = "UPDATE imports SET state = $2 WHERE id = $1";
    tx.execute(sql, &[&id, &state.name()]).await.map(drop)
}

/// Ends an import. The uploaded file is kept only if it can be confirmed again.
pub(super) async fn end(tx: &mut Tx, id: i64, state: UploadState) -> Result<(), Error> {
    if state != UploadState::Checked {
        let sql = "DELETE FROM import_files WHERE import_id = $1";
        tx.execute(sql, &[&id]).await?;
    }
    let sql = "UPDATE imports SET state = $2, under_way = NULL WHERE id = $1";
    tx.execute(sql, &[&id, &state.name()]).await.map(drop)
}

pub(super) async fn delete(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "DELETE FROM imports WHERE id = $1";
    tx.execute(sql, &[&id]).await.map(drop)
}

/// Claims the import in progress that made no progress since a time. Returns it with the user who
/// began it. It has made progress now, so no other process claims it.
pub(super) async fn claim_abandoned(
    tx: &mut Tx,
    since: Timestamp,
    now: Timestamp,
) -> Result<Option<(i64, FileKind, Actor)>, Error> {
    let sql = "UPDATE imports SET progress_at = $2 WHERE under_way = 1 AND progress_at <= $1
               RETURNING id, resource, actor_id, actor_name";
    let found = tx
        .optional(sql, &[&since, &now], |row| {
            let (user, name): (Option<i64>, Option<String>) = (row.get(2)?, row.get(3)?);
            Ok((row.get(0)?, row.get::<String>(1)?, Actor(user.zip(name))))
        })
        .await?;
    Ok(found.and_then(|(id, resource, actor)| Some((id, resource.parse().ok()?, actor))))
}

pub(super) async fn insert_chunk(
    tx: &mut Tx,
    id: i64,
    number: i64,
    rows: &[StagedRow],
) -> Result<(), Error> {
    let rows = serde_json::to_string(rows).map_err(Error::other)?;
    let sql = "INSERT INTO import_chunks (import_id, number, rows) VALUES ($1, $2, $3)";
    tx.execute(sql, &[&id, &number, &rows]).await.map(drop)
}

/// Deletes and returns the first chunk of staged rows.
pub(super) async fn take_chunk(tx: &mut Tx, id: i64) -> Result<Option<Vec<StagedRow>>, Error> {
    let sql = "DELETE FROM import_chunks WHERE import_id = $1
               AND number = (SELECT min(number) FROM import_chunks WHERE import_id = $1) RETURNING rows";
    let rows: Option<String> = tx.optional(sql, &[&id], |row| row.get(0)).await?;
    rows.map(|rows| serde_json::from_str(&rows))
        .transpose()
        .map_err(Error::other)
}

pub(super) async fn first_number(conn: &mut Conn, id: i64) -> Result<i64, Error> {
    let sql = "SELECT coalesce(min(number), 1) FROM import_chunks WHERE import_id = $1";
    conn.one(sql, &[&id], |row| row.get(0)).await
}

/// Prevents a record from being deleted while staged rows refer to it. One pin per record.
pub(super) async fn pin(
    tx: &mut Tx,
    id: i64,
    reference: &'static str,
    object: i64,
) -> Result<(), Error> {
    let mut query = Query::new("INSERT INTO import_pins (import_id, ");
    query
        .push(reference)
        .push("_id) VALUES (")
        .bind(id)
        .push(", ")
        .bind(object)
        .push(") ON CONFLICT DO NOTHING");
    tx.execute_of(&query).await.map(drop)
}

/// Reserves a serie number until its row becomes a product.
pub(super) async fn lock_serie_number(tx: &mut Tx, id: i64, number: &str) -> Result<(), Error> {
    let sql = "INSERT INTO import_serie_numbers (serie_number, import_id) VALUES ($1, $2)";
    tx.execute(sql, &[&number, &id]).await.map(drop)
}

/// Releases a serie number, because its row becomes a product now.
pub(super) async fn release_serie_number(tx: &mut Tx, id: i64, number: &str) -> Result<(), Error> {
    let sql = "DELETE FROM import_serie_numbers WHERE serie_number = $1 AND import_id = $2";
    tx.execute(sql, &[&number, &id]).await.map(drop)
}

/// Releases up to `most` reserved serie numbers. Returns how many.
pub(super) async fn delete_serie_numbers(tx: &mut Tx, id: i64, most: i64) -> Result<u64, Error> {
    let sql = "DELETE FROM import_serie_numbers WHERE serie_number IN
                   (SELECT serie_number FROM import_serie_numbers WHERE import_id = $1 LIMIT $2)";
    tx.execute(sql, &[&id, &most]).await
}

/// Deletes up to `most` pins. Returns how many.
pub(super) async fn delete_pins(tx: &mut Tx, id: i64, most: i64) -> Result<u64, Error> {
    let sql = "DELETE FROM import_pins WHERE id IN (SELECT id FROM import_pins WHERE import_id = $1 LIMIT $2)";
    tx.execute(sql, &[&id, &most]).await
}

/// Records that an import added a record.
pub(super) async fn insert_record(tx: &mut Tx, id: i64, object: i64) -> Result<(), Error> {
    let sql = "INSERT INTO import_records (import_id, object_id) VALUES ($1, $2)";
    tx.execute(sql, &[&id, &object]).await.map(drop)
}

/// Deletes and returns the newest records from the list of added ones.
pub(super) async fn take_records(tx: &mut Tx, id: i64, most: i64) -> Result<Vec<i64>, Error> {
    let sql = "DELETE FROM import_records WHERE import_id = $1 AND object_id IN
                   (SELECT object_id FROM import_records WHERE import_id = $1 ORDER BY object_id DESC LIMIT $2)
               RETURNING object_id";
    let id_of = |row: &Row<'_>| row.get(0);
    let mut objects: Vec<i64> = tx.all(sql, &[&id, &most], id_of).await?;
    objects.sort_unstable_by(|one, other| other.cmp(one));
    Ok(objects)
}

/// Records that an import created a category or a brand by name.
pub(super) async fn insert_created(
    tx: &mut Tx,
    id: i64,
    new: &NewName,
    object: i64,
) -> Result<(), Error> {
    let line = i64::try_from(new.line).unwrap_or(i64::MAX);
    let sql = "INSERT INTO import_names (import_id, kind, name, line, object_id) VALUES ($1, $2, $3, $4, $5)
               ON CONFLICT (import_id, kind, name) DO UPDATE SET object_id = excluded.object_id";
    let kind = new.kind.name();
    tx.execute(sql, &[&id, &kind, &new.name, &line, &object])
        .await
        .map(drop)
}

/// Returns some of the records that were created by name, and clears their ids. The names stay,
/// because the file may be confirmed again.
pub(super) async fn take_created(
    tx: &mut Tx,
    id: i64,
    most: i64,
) -> Result<Vec<(Kind, i64)>, Error> {
    let sql =
        "SELECT kind, object_id FROM import_names WHERE import_id = $1 AND object_id IS NOT NULL
               ORDER BY kind, object_id LIMIT $2";
    let created: Vec<(String, i64)> = tx
        .all(sql, &[&id, &most], |row| Ok((row.get(0)?, row.get(1)?)))
        .await?;
    let mut cleared = Vec::new();
    for (kind, object) in created {
        let sql = "UPDATE import_names SET object_id = NULL WHERE import_id = $1 AND kind = $2 AND object_id = $3";
        tx.execute(sql, &[&id, &kind, &object]).await?;
        cleared.extend(Kind::of(&kind).map(|kind| (kind, object)));
    }
    Ok(cleared)
}
