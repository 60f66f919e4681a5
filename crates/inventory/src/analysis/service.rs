//! Requesting an analysis now, its progress, and reading stored analyses.

use std::time::Duration;

use db::{Db, Timestamp};

use super::{
    result::{Analysis, AnalysisRecord, Summary},
    store::{history, queue, results},
};
use crate::{
    State,
    access::{Caller, Model, Permission, Verb},
    rest::{
        Refusal,
        resource::{Page, PageRequest},
    },
};

/// Where a product's analysis stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Whether one waits or runs.
    pub phase: Option<Phase>,
    /// The newest that is on record.
    pub newest: Option<i64>,
}

/// How far a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It waits for its turn.
    Waiting,
    /// It waits for a moment to come: the model is asked again then, or the cool-down ends.
    Postponed(Timestamp),
    /// It is being worked on.
    Running,
}

/// Asks for a product's analysis at once, whenever the last one was. Answers where it stood before, so that its asker can tell the new one.
///
/// # Errors
///
/// Who may not add analyses, an unknown product, and faults of the store.
pub async fn analyse_now(
    state: &State,
    caller: &Caller,
    product: i64,
) -> Result<Standing, Refusal> {
    if !caller.may(Permission::new(Verb::Add, Model::Analysis)) {
        return Err(Refusal::forbidden());
    }
    let asked = ask(state, &caller.username, product).await?;
    asked.ok_or(Refusal::NotFound)
}

/// Asks for a product's analysis at once in somebody's name, as [`analyse_now`] does for those who may; none of an unknown product.
///
/// # Errors
///
/// Faults of the store.
pub async fn ask(state: &State, name: &str, product: i64) -> Result<Option<Standing>, db::Error> {
    let (name, now) = (name.to_owned(), state.clock.now());
    let before = standing(state, product).await?;
    let ask = async move |tx: &mut db::Tx| {
        let is_known = history::subject(tx, product).await?.is_some();
        if is_known {
            queue::insert_asked(tx, product, &name, now).await?;
        }
        Ok::<_, db::Error>(is_known)
    };
    if !state.db.write(ask).await? {
        return Ok(None);
    }
    state.analysis.bell.notify_one();
    Ok(Some(Standing {
        phase: Some(before.phase.unwrap_or(Phase::Waiting)),
        newest: before.newest,
    }))
}

/// Where a product's analysis stands.
///
/// # Errors
///
/// Faults of the store.
pub async fn standing(state: &State, product: i64) -> Result<Standing, db::Error> {
    let now = state.clock.now();
    let read = async move |conn: &mut db::Conn| {
        let row = queue::find(conn, product).await?;
        let newest = results::newest(conn, product).await?;
        let phase = row.map(|row| {
            if row.is_taken {
                Phase::Running
            } else if row.due_at.since(now) > Duration::from_secs(1) {
                Phase::Postponed(row.due_at)
            } else {
                Phase::Waiting
            }
        });
        Ok::<_, db::Error>(Standing {
            phase,
            newest: newest.map(|(id, _)| id),
        })
    };
    state.db.read(read).await
}

/// One page of the analyses, newest first; of one product when it is named.
///
/// # Errors
///
/// A page that does not exist, and faults of the store.
pub async fn list(
    state: &State,
    product: Option<i64>,
    wanted: PageRequest,
) -> Result<Page<Summary>, Refusal> {
    let read = async move |conn: &mut db::Conn| {
        let count = results::count(conn, product).await?;
        let (number, offset) = wanted.within(count)?;
        let results = results::page(conn, product, wanted.limit(), offset).await?;
        Ok::<_, Refusal>(wanted.page(count, number, results))
    };
    state.db.read(read).await
}

/// One page of the analyses as the API answers them.
///
/// # Errors
///
/// As [`list`].
pub async fn records(state: &State, wanted: PageRequest) -> Result<Page<AnalysisRecord>, Refusal> {
    let page = list(state, None, wanted).await?;
    Ok(Page {
        count: page.count,
        number: page.number,
        size: page.size,
        results: page.results.into_iter().map(AnalysisRecord::from).collect(),
    })
}

/// One analysis with all that is known of it.
///
/// # Errors
///
/// Faults of the store.
pub async fn read(state: &State, id: i64) -> Result<Option<Analysis>, db::Error> {
    let find = async move |conn: &mut db::Conn| results::find(conn, id).await;
    state.db.read(find).await
}

/// How many products wait for an analysis, or are being analysed.
///
/// # Errors
///
/// Faults of the store.
pub async fn waiting(state: &State) -> Result<i64, Refusal> {
    let now = state.clock.now();
    let read = async move |conn: &mut db::Conn| queue::due_soon(conn, now).await;
    Ok(state.db.read::<_, db::Error, _>(read).await?)
}

/// A product that can be analysed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Its id.
    pub id: i64,
    /// Its title.
    pub title: String,
    /// Units in stock.
    pub quantity: i64,
}

/// The product of this id, as long as there is one.
///
/// # Errors
///
/// Faults of the store.
pub async fn subject(state: &State, product: i64) -> Result<Option<Subject>, Refusal> {
    let read = async move |conn: &mut db::Conn| history::subject(conn, product).await;
    let found = state.db.read::<_, db::Error, _>(read).await?;
    Ok(found.map(|found| Subject {
        id: found.id,
        title: found.title,
        quantity: found.quantity,
    }))
}

/// The newest analyses; of one product when it is named.
///
/// # Errors
///
/// Faults of the store.
pub async fn latest(db: &Db, product: Option<i64>, count: i64) -> Result<Vec<Summary>, db::Error> {
    db.read(async move |conn| results::page(conn, product, count, 0).await)
        .await
}

/// The newest analyses, for the dashboard.
///
/// # Errors
///
/// Faults of the store.
pub async fn newest(state: &State, count: i64) -> Result<Vec<Summary>, Refusal> {
    Ok(latest(&state.db, None, count).await?)
}
