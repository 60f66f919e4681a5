//! The audit log: who added, changed or deleted which record, and when. The service functions that write call [`record`] in their own
//! transaction, so the API, the pages, commands and the administration leave the same trace, and a refused change leaves none.
//! Movements are logged here when they are deleted; their creation is in the stock ledger.

mod model;
mod store;

pub(crate) use model::changes;
pub use model::{Action, Done, Entry, FieldChange, Found, Selection};

use db::{Conn, Timestamp, Tx};

use crate::{
    State,
    access::{Actor, Model},
    rest::{
        Refusal,
        resource::{Page, Wanted},
    },
};

/// Characters of a record's text that are kept.
const TEXT_LENGTH: usize = 200;

/// Writes down what was done to one record; `text` is what people call it. It has no id here when another service keeps it under one that is no
/// number.
///
/// # Errors
///
/// Faults of the store.
pub async fn record(
    tx: &mut Tx,
    actor: &Actor,
    action: Action<'_>,
    model: Model,
    id: impl Into<Option<i64>> + Send,
    text: &str,
    now: Timestamp,
) -> Result<(), db::Error> {
    let text: String = text.chars().take(TEXT_LENGTH).collect();
    store::insert(tx, actor, action, (model, id.into()), &text, now).await
}

/// Writes down that many records came at once; `text` says from where and how many.
///
/// # Errors
///
/// Faults of the store.
pub async fn record_import(
    tx: &mut Tx,
    actor: &Actor,
    model: Model,
    text: &str,
    now: Timestamp,
) -> Result<(), db::Error> {
    let text: String = text.chars().take(TEXT_LENGTH).collect();
    store::insert(tx, actor, Action::Imported, (model, None), &text, now).await
}

/// Writes down that somebody says to have booked a paid order's goods by hand; `text` is what people call the order.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn record_order(
    tx: &mut Tx,
    actor: &Actor,
    text: &str,
    now: Timestamp,
) -> Result<(), db::Error> {
    let text: String = text.chars().take(TEXT_LENGTH).collect();
    let action = Action::Changed(&["booked_by_hand"]);
    store::insert(tx, actor, action, (Model::Outflow, None), &text, now).await
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
    wanted: Wanted,
) -> Result<Page<Entry>, Refusal> {
    state
        .db
        .read(async move |conn| {
            let count = store::count_of_object(conn, model, id).await?;
            let (number, offset) = wanted.within(count)?;
            let results = store::of_object(conn, model, id, wanted.limit(), offset).await?;
            Ok(Page {
                count,
                number,
                size: wanted.size,
                results,
            })
        })
        .await
}

/// The last things that were done to one record, newest first.
///
/// # Errors
///
/// Faults of the store.
pub async fn latest(
    conn: &mut Conn,
    model: Model,
    id: i64,
    limit: i64,
) -> Result<Vec<Entry>, db::Error> {
    store::of_object(conn, model, id, limit, 0).await
}

/// The last things that a user did, newest first.
///
/// # Errors
///
/// Faults of the store.
pub async fn recent(state: &State, user: i64, limit: i64) -> Result<Vec<Entry>, Refusal> {
    Ok(state
        .db
        .read(async move |conn| store::of_user(conn, user, limit).await)
        .await?)
}

/// A search looks at the texts of so many rows: those that come first.
const MOST_SEARCHED: usize = 20_000;

/// One stretch of the log, newest first (or oldest), and how many rows it has in all, of which no more than `most` are counted.
///
/// # Errors
///
/// Faults of the store.
pub async fn list(
    state: &State,
    selection: Selection,
    (limit, offset): (i64, i64),
    most: i64,
) -> Result<Found, Refusal> {
    let read = async move |conn: &mut Conn| {
        if !selection.words.is_empty() {
            return search(conn, &selection, limit, offset).await;
        }
        Ok::<_, db::Error>(Found {
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
    selection: &Selection,
    limit: i64,
    offset: i64,
) -> Result<Found, db::Error> {
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
    Ok(Found {
        count: found.len() as u64,
        entries: store::of_ids(conn, &page, selection.is_oldest_first).await?,
        is_cut,
    })
}

/// One row of the log.
///
/// # Errors
///
/// Faults of the store.
pub async fn read(state: &State, id: i64) -> Result<Option<Entry>, Refusal> {
    Ok(state
        .db
        .read(async move |conn| store::find(conn, id).await)
        .await?)
}

/// The moments of the first and the last row.
///
/// # Errors
///
/// Faults of the store.
pub async fn span(state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
    Ok(state.db.read(async |conn| store::span(conn).await).await?)
}
