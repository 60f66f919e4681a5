//! The audit log: who added, changed or deleted which record, and when. The functions that write call [`record`] in their own
//! transaction, so the API, the pages, commands and the administration leave the same trace, and a refused change leaves none.
//! Movements are logged here when they are deleted; their creation is in the stock ledger.

mod model;
mod store;

pub use model::{Action, ActionKind, Entry, FieldChange, LogPage, LogSelection};
pub(crate) use model::{FIELDS, changes};

use db::{Conn, Timestamp};
use resource::Record;

use crate::{
    State,
    access::Model,
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
    state
        .db
        .read(async move |conn| {
            let count = store::count_of_object(conn, model, id).await?;
            let (number, offset) = wanted.within(count)?;
            let results = store::of_object(conn, model, id, wanted.limit(), offset).await?;
            Ok(wanted.page(count, number, results))
        })
        .await
}

/// The last things that were done to one record, newest first.
pub async fn latest(
    conn: &mut Conn,
    model: Model,
    id: i64,
    limit: i64,
) -> Result<Vec<Entry>, db::Error> {
    store::of_object(conn, model, id, limit, 0).await
}

/// The last things that a user did, newest first.
pub async fn recent(state: &State, user: i64, limit: i64) -> Result<Vec<Entry>, Refusal> {
    let read = async move |conn: &mut Conn| store::of_user(conn, user, limit).await;
    Ok(state.db.read(read).await?)
}

/// A search looks at the texts of so many rows: those that come first.
const MOST_SEARCHED: usize = 20_000;

/// One stretch of the log, newest first (or oldest), and how many rows it has in all, of which no more than `most` are counted.
pub async fn list(
    state: &State,
    selection: LogSelection,
    (limit, offset): (i64, i64),
    most: i64,
) -> Result<LogPage, Refusal> {
    let read = async move |conn: &mut Conn| {
        if !selection.words.is_empty() {
            return search(conn, &selection, limit, offset).await;
        }
        Ok::<_, db::Error>(LogPage {
            count: store::count(conn, &selection, most).await?,
            entries: store::select(conn, &selection, limit, offset).await?,
            is_cut: false,
        })
    };
    Ok(state.db.read(read).await?)
}

/// The rows of a selection that have its words, among the first of them.
async fn search(
    conn: &mut Conn,
    selection: &LogSelection,
    limit: i64,
    offset: i64,
) -> Result<LogPage, db::Error> {
    let most = i64::try_from(MOST_SEARCHED).unwrap_or(i64::MAX);
    let texts = store::texts(conn, selection, most.saturating_add(1)).await?;
    let is_cut = texts.len() > MOST_SEARCHED;
    let searched = texts.into_iter().take(MOST_SEARCHED);
    let found: Vec<i64> = searched
        .filter(|(_, text)| {
            let text = db::fold(text);
            selection.words.iter().all(|word| text.contains(word))
        })
        .map(|(id, _)| id)
        .collect();
    let number = |signed: i64| usize::try_from(signed).unwrap_or_default();
    let page: Vec<i64> = found
        .iter()
        .copied()
        .skip(number(offset))
        .take(number(limit))
        .collect();
    Ok(LogPage {
        count: found.len() as u64,
        entries: store::of_ids(conn, &page, selection.is_oldest_first).await?,
        is_cut,
    })
}

/// One row of the log.
pub async fn read(state: &State, id: i64) -> Result<Option<Entry>, Refusal> {
    let read = async move |conn: &mut Conn| store::find(conn, id).await;
    Ok(state.db.read(read).await?)
}

/// The moments of the first and the last row.
pub async fn span(state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
    Ok(state.db.read(async |conn| store::span(conn).await).await?)
}
