//! Events and deliveries as people see them: lists, the attempts of a delivery, and delivering again, which is written to the audit log.
//! Callers must hold the permission of `access::Model::Delivery`: view to see, change to deliver again.

use std::collections::{BTreeSet, HashMap};

use db::{Conn, Db, Error, Tx};
use delivery::deliveries;

use super::{Attempt, Backlog, Delivery, Endpoint, Event, Filter, SERVICE, store};
use crate::{
    State,
    access::{Actor, Model},
    audit::{self, Action},
    idempotency::IdempotencyKey,
    rest::{
        Refusal,
        page::{Page, PageRequest},
    },
    work::{Author, Work, write, write_once},
};

/// One page of deliveries, newest first.
///
/// # Errors
///
/// A page that does not exist, and faults of the store.
pub async fn list(db: &Db, filter: Filter, wanted: PageRequest) -> Result<Page<Delivery>, Refusal> {
    db.read(async move |conn| {
        let count = deliveries::count(conn, &SERVICE, filter).await?;
        let (number, offset) = wanted.within(count)?;
        let range = (wanted.limit(), offset);
        let results = deliveries::list(conn, &SERVICE, filter, range).await?;
        Ok(wanted.page(count, number, results))
    })
    .await
}

/// The newest deliveries, without counting them.
pub async fn newest(db: &Db, filter: Filter, limit: i64) -> Result<Vec<Delivery>, Error> {
    db.read(async move |conn| deliveries::list(conn, &SERVICE, filter, (limit, 0)).await)
        .await
}

/// The titles of the products that deliveries are about, as far as they are still there.
pub(crate) async fn titles(db: &Db, all: &[Delivery]) -> Result<HashMap<i64, String>, Error> {
    let products: BTreeSet<i64> = all.iter().map(|one| one.subject).collect();
    let products: Vec<i64> = products.into_iter().collect();
    let titles = db
        .read(async move |conn: &mut Conn| store::titles(conn, &products).await)
        .await?;
    Ok(titles.into_iter().collect())
}

/// One delivery with its event and its newest attempts, oldest of them first.
pub async fn find(db: &Db, id: i64) -> Result<Option<(Delivery, Event, Vec<Attempt>)>, Error> {
    db.read(async move |conn| deliveries::find(conn, &SERVICE, id).await)
        .await
}

/// The newest events of one product, or of all: a look through all that are kept, for the command line.
pub async fn newest_events(db: &Db, product: Option<i64>, limit: i64) -> Result<Vec<Event>, Error> {
    db.read(async move |conn| deliveries::newest_events(conn, &SERVICE, product, limit).await)
        .await
}

/// One event with its deliveries, newest first.
pub async fn find_event(db: &Db, id: i64) -> Result<Option<(Event, Vec<Delivery>)>, Error> {
    db.read(async move |conn| deliveries::find_event(conn, &SERVICE, id).await)
        .await
}

/// Delivers once more, whatever became of it before, with the same `webhook-id`; whether there is such a delivery.
pub async fn redeliver(state: &State, actor: &Actor, id: i64) -> Result<bool, Error> {
    let job = async move |work: &mut Work<'_>| begin_anew(work, id).await;
    let is_begun = write(state, actor, job).await?;
    state.outbox.wake();
    Ok(is_begun)
}

/// As [`redeliver`]; under the same key it is begun once, however often it is asked for.
///
/// # Errors
///
/// As [`redeliver`], no such delivery, and a key that was used for another one.
pub(crate) async fn redeliver_once(
    state: &State,
    actor: &Actor,
    id: i64,
    key: Option<IdempotencyKey>,
) -> Result<(), Refusal> {
    let job = async move |work: &mut Work<'_>| {
        if begin_anew(work, id).await? {
            Ok((id, ()))
        } else {
            Err(Refusal::NotFound)
        }
    };
    let replay = async move |_: &mut Work<'_>, begun: i64| match begun {
        _ if begun == id => Ok(()),
        _ => Err(Refusal::KeyReused),
    };
    write_once(state, actor, key, job, replay).await?;
    state.outbox.wake();
    Ok(())
}

/// Begins a delivery anew, and records who wanted it; whether there is one.
async fn begin_anew(work: &mut Work<'_>, id: i64) -> Result<bool, Error> {
    let begun = deliveries::redeliver(work.tx, &SERVICE, id, work.now).await?;
    if let Some(delivery) = &begun {
        record(work, id, &delivery.event_type).await?;
    }
    Ok(begun.is_some())
}

/// Records who wanted a delivery again.
async fn record(work: &mut Work<'_>, id: i64, kind: &str) -> Result<(), Error> {
    let (action, text) = (Action::Changed(&["state"]), format!("#{id} · {kind}"));
    audit::record(work, action, Model::Delivery, id, &text).await
}

/// Delivers an event once more, to every endpoint that gets its type now, those included that did not exist when it happened; to how
/// many. `None` when there is no such event.
pub async fn redeliver_event(
    state: &State,
    actor: &Actor,
    id: i64,
) -> Result<Option<usize>, Error> {
    let job = async move |work: &mut Work<'_>| {
        let begun = deliveries::redeliver_event(work.tx, &SERVICE, id, work.now).await?;
        let Some((begun, kind)) = begun else {
            return Ok(None);
        };
        for delivery in &begun {
            record(work, *delivery, &kind).await?;
        }
        Ok::<_, Error>(Some(begun.len()))
    };
    let count = write(state, actor, job).await?;
    state.outbox.wake();
    Ok(count)
}

/// Delivers all that was given up once more, at one endpoint or at all that get events, each product's in its order; how many.
pub async fn redeliver_failed(
    state: &State,
    actor: &Actor,
    endpoint: Option<i64>,
) -> Result<u64, Error> {
    let author = Author::new(state, actor);
    let note = async move |tx: &mut Tx, endpoint: &Endpoint| {
        let (action, model) = (Action::Changed(&["deliveries"]), Model::WebhookEndpoint);
        audit::record(
            &mut author.work(tx),
            action,
            model,
            endpoint.id,
            &endpoint.url,
        )
        .await
    };
    deliveries::redeliver_failed(&state.outbox, endpoint, note).await
}

/// How many deliveries were given up, at each endpoint that has any: for the dashboard.
pub async fn failed(db: &Db) -> Result<Vec<(i64, i64)>, Error> {
    db.read(async |conn| deliveries::failed(conn, &SERVICE).await)
        .await
}

/// How much waits.
pub async fn waiting(db: &Db) -> Result<Backlog, Error> {
    db.read(async |conn| deliveries::waiting(conn, &SERVICE).await)
        .await
}
