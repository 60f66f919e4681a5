//! Events and deliveries: lists, attempts, and redelivery, which writes to the audit log. Callers
//! must check the permission of `access::Model::Delivery`: view for reading, change for redelivery.

use std::collections::{BTreeSet, HashMap};

use db::{Conn, Db, Error, Tx};
use delivery::deliveries;

use super::{Attempt, Backlog, Delivery, Endpoint, Event, Filter, SERVICE, store};
use crate::{
    State,
    access::{Actor, Model},
    audit::{self, FieldChange},
    idempotency::IdempotencyKey,
    listing::{Matches, PageRange},
    rest::{
        Refusal,
        page::{Page, PageRequest},
    },
    work::{Author, Work, write, write_once},
};

/// A page of deliveries, newest first.
pub async fn list(
    db: &Db,
    filter: Filter,
    request: PageRequest,
) -> Result<Page<Delivery>, Refusal> {
    db.read(async move |conn| {
        let count = deliveries::count(conn, &SERVICE, filter).await?;
        let (number, offset) = request.within(count)?;
        let range = (request.limit(), offset);
        let results = deliveries::list(conn, &SERVICE, filter, range).await?;
        Ok(request.page(count, number, results))
    })
    .await
}

/// A range of the deliveries, newest first. Without words their number is counted up to `most`;
/// words are searched in the newest only.
pub(crate) async fn search(
    state: &State,
    filter: Filter,
    words: Vec<String>,
    range: PageRange,
    most: i64,
) -> Result<Matches<Delivery>, Refusal> {
    store::deliveries(filter)
        .matches(state, &store::DELIVERY_SEARCH, words, range, most)
        .await
}

/// The newest deliveries, without counting them.
pub async fn newest(db: &Db, filter: Filter, limit: i64) -> Result<Vec<Delivery>, Error> {
    db.read(async move |conn| deliveries::list(conn, &SERVICE, filter, (limit, 0)).await)
        .await
}

/// The titles of the deliveries' products by id. Deleted products are missing.
pub(crate) async fn titles(db: &Db, all: &[Delivery]) -> Result<HashMap<i64, String>, Error> {
    let products: BTreeSet<i64> = all.iter().map(|one| one.subject).collect();
    let products: Vec<i64> = products.into_iter().collect();
    let titles = db
        .read(async move |conn: &mut Conn| store::titles(conn, &products).await)
        .await?;
    Ok(titles.into_iter().collect())
}

/// A delivery with its event and its latest attempts, in ascending order.
pub async fn find(db: &Db, id: i64) -> Result<Option<(Delivery, Event, Vec<Attempt>)>, Error> {
    db.read(async move |conn| deliveries::find(conn, &SERVICE, id).await)
        .await
}

/// The newest events of a product, or of all products. Scans all stored events, so use it for the
/// command line only.
pub async fn newest_events(db: &Db, product: Option<i64>, limit: i64) -> Result<Vec<Event>, Error> {
    db.read(async move |conn| deliveries::newest_events(conn, &SERVICE, product, limit).await)
        .await
}

/// An event with its deliveries, newest first.
pub async fn find_event(db: &Db, id: i64) -> Result<Option<(Event, Vec<Delivery>)>, Error> {
    db.read(async move |conn| deliveries::find_event(conn, &SERVICE, id).await)
        .await
}

/// Restarts a delivery in any state, with the same `webhook-id`. Idempotent.
pub(crate) async fn redeliver_once(
    state: &State,
    actor: &Actor,
    id: i64,
    key: Option<IdempotencyKey>,
) -> Result<(), Refusal> {
    let job = async move |work: &mut Work<'_>| {
        let restarted = deliveries::redeliver(work.tx, &SERVICE, id, work.now).await?;
        let delivery = restarted.ok_or(Refusal::NotFound)?;
        record(work, id, &delivery.event_type).await?;
        Ok((id, ()))
    };
    let replay = async move |_: &mut Work<'_>, restarted: i64| match restarted {
        _ if restarted == id => Ok(()),
        _ => Err(Refusal::KeyReused),
    };
    write_once(state, actor, key, job, replay).await?;
    state.outbox.wake();
    Ok(())
}

/// Writes an audit entry about a restarted delivery.
async fn record(work: &mut Work<'_>, id: i64, kind: &str) -> Result<(), Error> {
    let (changes, text) = ([FieldChange::named("state")], format!("#{id} · {kind}"));
    audit::record_changes(work, &changes, Model::Delivery, id, &text).await
}

/// Delivers an event again to all endpoints that subscribe to its type now, including newer ones.
/// Returns how many, or `None` if there is no such event.
pub async fn redeliver_event(
    state: &State,
    actor: &Actor,
    id: i64,
) -> Result<Option<usize>, Error> {
    let job = async move |work: &mut Work<'_>| {
        let restarted = deliveries::redeliver_event(work.tx, &SERVICE, id, work.now).await?;
        let Some((restarted, kind)) = restarted else {
            return Ok(None);
        };
        for delivery in &restarted {
            record(work, *delivery, &kind).await?;
        }
        Ok::<_, Error>(Some(restarted.len()))
    };
    let count = write(state, actor, job).await?;
    state.outbox.wake();
    Ok(count)
}

/// Restarts the failed deliveries of an endpoint, or of all enabled endpoints, in the order of each
/// product's events. Returns how many.
pub async fn redeliver_failed(
    state: &State,
    actor: &Actor,
    endpoint: Option<i64>,
) -> Result<u64, Error> {
    let author = Author::new(state, actor);
    let record_endpoint = async move |tx: &mut Tx, endpoint: &Endpoint| {
        let (changes, model) = ([FieldChange::named("deliveries")], Model::WebhookEndpoint);
        audit::record_changes(
            &mut author.work(tx),
            &changes,
            model,
            endpoint.id,
            &endpoint.url,
        )
        .await
    };
    deliveries::redeliver_failed(&state.outbox, endpoint, record_endpoint).await
}

/// The endpoints with failed deliveries, and how many each has.
pub async fn failed(db: &Db) -> Result<Vec<(i64, i64)>, Error> {
    db.read(async |conn| deliveries::failed(conn, &SERVICE).await)
        .await
}

/// The size of the backlog.
pub async fn waiting(db: &Db) -> Result<Backlog, Error> {
    db.read(async |conn| deliveries::waiting(conn, &SERVICE).await)
        .await
}
