//! Requesting analyses, their status, and reading stored analyses.

use std::time::Duration;

use super::{
    RestockTerms,
    result::{Analysis, AnalysisRecord, AnalysisSummary},
    store::{self, history, queue, results},
};
use crate::{
    State,
    access::{Caller, Model, Permission, Verb},
    audit,
    level::is_low,
    listing::{Matches, PageRange, TextQuery},
    rest::{
        Refusal,
        page::{Page, PageRequest},
    },
    work::{Policy, Work, lock_product, retry_on_conflict, write},
};
use db::{Db, Timestamp};

/// The status of a product's analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnalysisStatus {
    /// The phase of the product's request, if it has one.
    pub phase: Option<Phase>,
    /// The id of the newest analysis.
    pub newest: Option<i64>,
}

/// The phase of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The request is due and waits for a worker.
    Waiting,
    /// The request is not due before this time, because of a retry or the cool-down.
    Postponed(Timestamp),
    /// A worker has claimed the request.
    Running,
}

/// Requests an analysis of a product now, ignoring the cool-down. Returns the status before the
/// request, so that the caller can recognise the new analysis.
///
/// # Errors
///
/// 403 for callers who may not add analyses, 404 for an unknown product.
pub async fn analyse_now(
    state: &State,
    caller: &Caller,
    product: i64,
) -> Result<AnalysisStatus, Refusal> {
    if !caller.may(Permission::new(Verb::Add, Model::Analysis)) {
        return Err(Refusal::forbidden());
    }
    let before = request_now(state, &caller.username, product).await?;
    before.ok_or(Refusal::NotFound)
}

/// Same as [`analyse_now`] without the check of permissions. `None` if there is no such product.
pub async fn request_now(
    state: &State,
    name: &str,
    product: i64,
) -> Result<Option<AnalysisStatus>, db::Error> {
    let (name, now) = (name.to_owned(), state.clock.now());
    let before = status(state, product).await?;
    let insert = async move |tx: &mut db::Tx| {
        let is_known = history::product(tx, product).await?.is_some();
        if is_known {
            queue::insert_for_person(tx, product, &name, now).await?;
        }
        Ok::<_, db::Error>(is_known)
    };
    if !retry_on_conflict(&state.db, insert).await? {
        return Ok(None);
    }
    state.analysis.wake_worker.notify_one();
    Ok(Some(AnalysisStatus {
        phase: Some(before.phase.unwrap_or(Phase::Waiting)),
        newest: before.newest,
    }))
}

/// The status of a product's analysis.
pub async fn status(state: &State, product: i64) -> Result<AnalysisStatus, db::Error> {
    let now = state.clock.now();
    let read = async move |conn: &mut db::Conn| {
        let row = queue::find(conn, product).await?;
        let newest = results::newest(conn, product).await?;
        let phase = row.map(|row| {
            if row.is_claimed {
                Phase::Running
            } else if row.due_at.since(now) > Duration::from_secs(1) {
                Phase::Postponed(row.due_at)
            } else {
                Phase::Waiting
            }
        });
        Ok::<_, db::Error>(AnalysisStatus {
            phase,
            newest: newest.map(|newest| newest.id),
        })
    };
    state.db.read(read).await
}

/// One page of analyses, newest first, of all products or of one.
pub async fn list(
    state: &State,
    product: Option<i64>,
    page: PageRequest,
) -> Result<Page<AnalysisSummary>, Refusal> {
    let list = results::selection(product);
    let read = async move |conn: &mut db::Conn| list.counted(conn, page).await;
    state.db.read(read).await
}

/// A range of the analyses that a text search finds: those whose product's title matches, and among
/// the newest those whose text matches.
pub(crate) async fn search(
    state: &State,
    product: Option<i64>,
    query: TextQuery,
    range: PageRange,
) -> Result<Matches<AnalysisSummary>, Refusal> {
    let list = results::selection(product);
    let read =
        async move |conn: &mut db::Conn| list.search(conn, &results::SEARCH, &query, range).await;
    Ok(state.db.read(read).await?)
}

/// One page of analyses in the representation of the API.
pub async fn records(state: &State, page: PageRequest) -> Result<Page<AnalysisRecord>, Refusal> {
    Ok(list(state, None, page).await?.map(AnalysisRecord::from))
}

/// One analysis with its provenance.
pub async fn read(state: &State, id: i64) -> Result<Option<Analysis>, db::Error> {
    let find = async move |conn: &mut db::Conn| results::find(conn, id).await;
    state.db.read(find).await
}

/// The number of analysis requests that are due or claimed.
pub async fn waiting(state: &State) -> Result<i64, Refusal> {
    let now = state.clock.now();
    let read = async move |conn: &mut db::Conn| queue::due_soon(conn, now).await;
    Ok(state.db.read::<_, db::Error, _>(read).await?)
}

/// A product with the fields that analyses need. `None` if there is no such product.
pub(crate) async fn product(
    state: &State,
    id: i64,
) -> Result<Option<history::AnalysedProduct>, Refusal> {
    let read = async move |conn: &mut db::Conn| history::product(conn, id).await;
    Ok(state.db.read::<_, db::Error, _>(read).await?)
}

/// Whether the advice of an analysis is over: its product is archived or deleted, or goods have
/// arrived since and it is no longer low. A product that is not low can need an order all the same.
pub(crate) async fn is_outdated(
    state: &State,
    analysis: &AnalysisSummary,
) -> Result<bool, db::Error> {
    // The report of the shop.
    let Some(product) = analysis.product else {
        return Ok(false);
    };
    let (id, policy) = (analysis.id, Policy::from(&state.config));
    let read = async move |conn: &mut db::Conn| {
        let Some(product) = history::product(conn, product).await? else {
            return Ok(true);
        };
        let analysed = results::find(conn, id).await?;
        let analysed = analysed.and_then(|analysis| analysis.quantity());
        let has_arrived = analysed.is_some_and(|analysed| analysed < product.quantity);
        let threshold = policy.threshold_of(product.threshold);
        Ok(product.is_archived || has_arrived && !is_low(product.quantity, threshold))
    };
    state.db.read(read).await
}

/// A product's own terms. `None` if there is no such product.
pub(crate) async fn read_terms(
    state: &State,
    product_id: i64,
) -> Result<Option<RestockTerms>, Refusal> {
    Ok(product(state, product_id)
        .await?
        .map(|product| product.terms))
}

/// Writes a product's own terms. Fails with 404 if there is no such product.
pub(crate) async fn write_terms(
    state: &State,
    caller: &Caller,
    id: i64,
    terms: RestockTerms,
) -> Result<(), Refusal> {
    let job = async move |work: &mut Work<'_>| {
        lock_product(work.tx, id).await?;
        let product = history::product(work.tx, id).await?;
        let product = product.ok_or(Refusal::NotFound)?;
        store::terms::write(work.tx, id, terms).await?;
        let change = (&product.terms, &terms);
        Ok(audit::changed(work, Model::Product, id, &product.title, change).await?)
    };
    write(state, caller, job).await
}

/// The newest `count` analyses, of all products or of one.
pub async fn latest(
    db: &Db,
    product: Option<i64>,
    count: i64,
) -> Result<Vec<AnalysisSummary>, db::Error> {
    let list = results::selection(product);
    db.read(async move |conn| list.first(conn, count).await)
        .await
}
