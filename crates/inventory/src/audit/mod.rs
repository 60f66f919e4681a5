//! The audit log: who added, changed or deleted which record, and when. Service functions call
//! [`record`] in their own transaction. So the API, the pages and the commands write the same
//! entries, and a refused change writes none. Only the deletion of movements is logged here; the
//! stock ledger has their creation.

mod model;
mod store;

pub(crate) use model::changes;
pub use model::{Action, Entry, FieldChange, FieldChanges, LogSelection};

use db::{Conn, Timestamp};
use resource::Record;

use crate::{
    State,
    access::Model,
    listing::{Matches, PageRange},
    rest::{
        Refusal,
        page::{Page, PageRequest},
    },
    work::{Origin, Work},
};

/// Writes an entry, unless it is about a single record of an import. `text` is the display name of
/// the record. `id` is `None` for imports, and for records of checkout, whose ids are not numbers.
pub async fn record(
    work: &mut Work<'_>,
    action: Action,
    model: Model,
    id: impl Into<Option<i64>> + Send,
    text: &str,
) -> Result<(), db::Error> {
    if work.origin == Origin::Import {
        return Ok(());
    }
    store::insert(work, (action, &[]), (model, id.into()), text).await
}

/// Writes an entry about a record that was changed, unless no field was.
pub async fn record_changes(
    work: &mut Work<'_>,
    changes: &[FieldChange],
    model: Model,
    id: impl Into<Option<i64>> + Send,
    text: &str,
) -> Result<(), db::Error> {
    if changes.is_empty() {
        return Ok(());
    }
    store::insert(work, (Action::Changed, changes), (model, id.into()), text).await
}

/// Writes an entry for a changed record, with the changed fields.
pub(crate) async fn changed<R: Record>(
    work: &mut Work<'_>,
    model: Model,
    id: i64,
    text: &str,
    (before, after): (&R, &R),
) -> Result<(), db::Error> {
    record_changes(work, &changes(before, after), model, id, text).await
}

/// A page of the entries about a record, newest first.
pub async fn history(
    state: &State,
    model: Model,
    id: i64,
    request: PageRequest,
) -> Result<Page<Entry>, Refusal> {
    let rows = store::of_object(model, id);
    let read = async move |conn: &mut Conn| rows.counted(conn, request).await;
    state.db.read(read).await
}

/// The latest entries about a record, newest first.
pub async fn latest(
    conn: &mut Conn,
    model: Model,
    id: i64,
    limit: i64,
) -> Result<Vec<Entry>, db::Error> {
    let rows = store::of_object(model, id);
    rows.first(conn, limit).await
}

/// The latest actions of a user, newest first.
pub async fn recent(state: &State, user: i64, limit: i64) -> Result<Vec<Entry>, Refusal> {
    let of_user = LogSelection {
        user: Some(user),
        ..LogSelection::default()
    };
    let rows = of_user.selection();
    let read = async move |conn: &mut Conn| rows.first(conn, limit).await;
    Ok(state.db.read(read).await?)
}

/// A range of the log, with the number of matches. Counting stops at `most`.
pub(crate) async fn list(
    state: &State,
    selection: LogSelection,
    range: PageRange,
    most: i64,
) -> Result<Matches<Entry>, Refusal> {
    let rows = selection.selection();
    let words = selection.words;
    rows.matches(state, &store::SEARCH, words, range, most)
        .await
}

/// Reads one entry.
pub async fn read(state: &State, id: i64) -> Result<Option<Entry>, Refusal> {
    let read = async move |conn: &mut Conn| store::LIST.find(conn, id).await;
    Ok(state.db.read(read).await?)
}

/// The times of the first and the last entry.
pub async fn span(state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
    store::LIST.span(state).await
}
