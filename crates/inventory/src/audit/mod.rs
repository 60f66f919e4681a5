//! The audit log: who added, changed or deleted which record, and when. The functions that write call [`record`] in their own
//! transaction, so the API, the pages, commands and the administration leave the same trace, and a refused change leaves none.
//! Movements are logged here when they are deleted; their creation is in the stock ledger.

mod model;
mod store;

pub(crate) use model::changes;
pub use model::{Action, ActionKind, Entry, FieldChange, FieldChanges, LogSelection};

use db::{Conn, Timestamp};
use resource::Record;

use crate::{
    State,
    access::Model,
    listing::{Matches, PageRange, TextQuery},
    rest::{
        Refusal,
        fields::Draft,
        page::{Page, PageRequest},
    },
    work::Work,
};

/// Characters of a record's text that are kept.
const TEXT_LENGTH: usize = 200;

/// Records what was done to a record; `text` is what people call it. There is no id where many records came at once, and where another
/// service keeps the record under an id that is no number.
pub async fn record(
    work: &mut Work<'_>,
    action: Action<'_>,
    model: Model,
    id: impl Into<Option<i64>> + Send,
    text: &str,
) -> Result<(), db::Error> {
    let text: String = text.chars().take(TEXT_LENGTH).collect();
    let Work { tx, actor, now, .. } = work;
    store::insert(tx, actor, action, (model, id.into()), &text, *now).await
}

/// Records that a record was created; a row of an import has no entry of its own.
pub(crate) async fn added<R: Record>(
    work: &mut Work<'_>,
    draft: &Draft<R>,
    model: Model,
    id: i64,
    text: &str,
) -> Result<(), db::Error> {
    if draft.is_imported {
        return Ok(());
    }
    record(work, Action::Added, model, id, text).await
}

/// Records that a record was changed, and how.
pub(crate) async fn changed<R: Record>(
    work: &mut Work<'_>,
    model: Model,
    id: i64,
    text: &str,
    (before, after): (&R, &R),
) -> Result<(), db::Error> {
    let changes = changes(before, after);
    record(work, Action::Edited(&changes), model, id, text).await
}

/// One page of what was done to one record, newest first.
///
/// # Errors
///
/// A page that does not exist, and faults of the store.
pub async fn history(
    state: &State,
    model: Model,
    id: i64,
    wanted: PageRequest,
) -> Result<Page<Entry>, Refusal> {
    let rows = store::of_object(model, id);
    let read = async move |conn: &mut Conn| rows.counted(conn, wanted).await;
    state.db.read(read).await
}

/// The last things that were done to one record, newest first.
pub async fn latest(
    conn: &mut Conn,
    model: Model,
    id: i64,
    limit: i64,
) -> Result<Vec<Entry>, db::Error> {
    let rows = store::of_object(model, id);
    rows.first(conn, limit).await
}

/// The last things that a user did, newest first.
pub async fn recent(state: &State, user: i64, limit: i64) -> Result<Vec<Entry>, Refusal> {
    let of_user = LogSelection {
        user: Some(user),
        ..LogSelection::default()
    };
    let rows = of_user.selection();
    let read = async move |conn: &mut Conn| rows.first(conn, limit).await;
    Ok(state.db.read(read).await?)
}

/// One part of the log, newest or oldest first, and how many rows match. Counting stops at `most`.
pub(crate) async fn list(
    state: &State,
    selection: LogSelection,
    part: PageRange,
    most: i64,
) -> Result<Matches<Entry>, Refusal> {
    let rows = selection.selection();
    let sought = TextQuery {
        words: selection.words,
        ..TextQuery::default()
    };
    let read = async move |conn: &mut Conn| {
        if sought.words.is_empty() {
            return rows.part_of_many(conn, part, most).await;
        }
        let search = &store::SEARCH;
        rows.search(conn, search, &sought, part).await
    };
    Ok(state.db.read(read).await?)
}

/// One row of the log.
pub async fn read(state: &State, id: i64) -> Result<Option<Entry>, Refusal> {
    let read = async move |conn: &mut Conn| store::LIST.find(conn, id).await;
    Ok(state.db.read(read).await?)
}

/// The moments of the first and the last row.
pub async fn span(state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
    Ok(state
        .db
        .read(async |conn| store::LIST.span(conn).await)
        .await?)
}
