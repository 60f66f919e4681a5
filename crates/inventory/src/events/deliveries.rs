//! Events and deliveries as people see them: lists, the attempts of a delivery, and delivering again.
//! Callers must hold the permission of `accounts::Model::Delivery`: view to see, change to deliver again.

use db::{Db, Error, Timestamp, Tx};

use super::{
    EventType,
    model::{Attempt, Delivery, Endpoint, Event, Filter, Waiting},
    store::{self, deliveries, endpoints, lists},
};
use crate::{
    State,
    accounts::Model,
    audit::{self, Action},
    rest::{
        Refusal,
        resource::{Page, Wanted},
    },
    stock::Actor,
};

/// One page of deliveries, newest first.
///
/// # Errors
///
/// A page that does not exist, and faults of the store.
pub async fn list(db: &Db, filter: Filter, wanted: Wanted) -> Result<Page<Delivery>, Refusal> {
    db.read(async move |conn| {
        let count = lists::count_deliveries(conn, filter).await?;
        let (number, offset) = wanted.within(count)?;
        let results = lists::deliveries(conn, filter, wanted.limit(), offset).await?;
        Ok(Page {
            count,
            number,
            size: wanted.size,
            results,
        })
    })
    .await
}

/// The newest deliveries, without counting them.
///
/// # Errors
///
/// Faults of the store.
pub async fn newest(db: &Db, filter: Filter, limit: i64) -> Result<Vec<Delivery>, Error> {
    db.read(async move |conn| lists::deliveries(conn, filter, limit, 0).await)
        .await
}

/// One delivery with its event and its newest attempts, oldest of them first.
///
/// # Errors
///
/// Faults of the store.
pub async fn find(db: &Db, id: i64) -> Result<Option<(Delivery, Event, Vec<Attempt>)>, Error> {
    db.read(async move |conn| {
        let Some(delivery) = lists::find_delivery(conn, id).await? else {
            return Ok(None);
        };
        let event = lists::find_event(conn, delivery.event).await?;
        let attempts = lists::attempts(conn, id).await?;
        Ok(event.map(|event| (delivery, event, attempts)))
    })
    .await
}

/// The newest events of one product, or of all: a look through all that are kept, for the command line.
///
/// # Errors
///
/// Faults of the store.
pub async fn newest_events(db: &Db, product: Option<i64>, limit: i64) -> Result<Vec<Event>, Error> {
    db.read(async move |conn| lists::events(conn, product, limit).await)
        .await
}

/// One event with its deliveries, newest first.
///
/// # Errors
///
/// Faults of the store.
pub async fn find_event(db: &Db, id: i64) -> Result<Option<(Event, Vec<Delivery>)>, Error> {
    db.read(async move |conn| {
        let Some(event) = lists::find_event(conn, id).await? else {
            return Ok(None);
        };
        let filter = Filter {
            event: Some(id),
            ..Filter::default()
        };
        Ok(Some((
            event,
            lists::deliveries(conn, filter, 100, 0).await?,
        )))
    })
    .await
}

/// Delivers once more, whatever became of it before, with the same `webhook-id`; whether there is such a delivery.
///
/// # Errors
///
/// Faults of the store.
pub async fn redeliver(state: &State, actor: &Actor, id: i64) -> Result<bool, Error> {
    let (actor, now) = (actor.clone(), state.clock.now());
    let begin = async move |tx: &mut Tx| {
        let Some(delivery) = lists::find_delivery(tx, id).await? else {
            return Ok(false);
        };
        begin_anew(tx, &actor, id, &delivery.kind, now).await?;
        Ok::<_, Error>(true)
    };
    let is_begun = state.db.write(begin).await?;
    state.outbox.wake();
    Ok(is_begun)
}

/// Begins a delivery anew, and writes down who wanted it.
async fn begin_anew(
    tx: &mut Tx,
    actor: &Actor,
    id: i64,
    kind: &str,
    now: Timestamp,
) -> Result<(), Error> {
    deliveries::begin_anew(tx, id, now).await?;
    let (action, text) = (Action::Changed(&["state"]), format!("#{id} · {kind}"));
    audit::record(tx, actor, action, Model::Delivery, id, &text, now).await
}

/// Delivers an event once more, to every endpoint that gets its type now, those included that did not exist when it happened; to how
/// many. `None` when there is no such event.
///
/// # Errors
///
/// Faults of the store.
pub async fn redeliver_event(
    state: &State,
    actor: &Actor,
    id: i64,
) -> Result<Option<usize>, Error> {
    let (actor, now) = (actor.clone(), state.clock.now());
    let begin = async move |tx: &mut Tx| {
        let Some(event) = lists::find_event(tx, id).await? else {
            return Ok(None);
        };
        let Some(kind) = EventType::delivered(&event.kind) else {
            return Ok(Some(0));
        };
        let wanted = endpoints::lock_enabled(tx).await?;
        let wanted = wanted.into_iter().filter(|(_, types)| types.contain(kind));
        let mut count = 0;
        for (endpoint, _) in wanted {
            let filter = Filter {
                event: Some(id),
                endpoint: Some(endpoint),
                ..Filter::default()
            };
            let present = lists::deliveries(tx, filter, 1, 0).await?;
            let delivery = match present.first() {
                Some(delivery) => delivery.id,
                None => deliveries::insert_late(tx, &event, endpoint, now).await?,
            };
            begin_anew(tx, &actor, delivery, kind.name(), now).await?;
            count += 1;
        }
        Ok::<_, Error>(Some(count))
    };
    let count = state.db.write(begin).await?;
    state.outbox.wake();
    Ok(count)
}

/// Delivers all that was given up once more, at one endpoint or at all that get events, each product's in its order; how many.
///
/// # Errors
///
/// Faults of the store.
pub async fn redeliver_failed(
    state: &State,
    actor: &Actor,
    endpoint: Option<i64>,
) -> Result<u64, Error> {
    let all = state
        .db
        .read(async move |conn| endpoints::select(conn, endpoint).await)
        .await?;
    let mut count = 0;
    for endpoint in all.into_iter().filter(|one| one.disabled.is_none()) {
        // In parts, so that nobody waits long for the lock of the endpoint.
        let mut is_first = true;
        loop {
            let begun = begin_failed_anew(state, actor, &endpoint, is_first).await?;
            count += begun;
            if begun == 0 {
                break;
            }
            is_first = false;
        }
    }
    state.outbox.wake();
    Ok(count)
}

/// The first part writes down for all of them who wanted it.
async fn begin_failed_anew(
    state: &State,
    actor: &Actor,
    endpoint: &Endpoint,
    is_first: bool,
) -> Result<u64, Error> {
    let (id, url, actor) = (endpoint.id, endpoint.url.clone(), actor.clone());
    let now = state.clock.now();
    let begin = async move |tx: &mut Tx| {
        let begun = deliveries::begin_failed_anew(tx, id).await?;
        deliveries::let_every_line_go(tx, id, false, now).await?;
        if is_first && begun > 0 {
            let action = Action::Changed(&["deliveries"]);
            audit::record(tx, &actor, action, Model::WebhookEndpoint, id, &url, now).await?;
        }
        Ok::<_, Error>(begun)
    };
    state.db.write(begin).await
}

/// How many deliveries were given up, at each endpoint that has any: for the dashboard.
///
/// # Errors
///
/// Faults of the store.
pub async fn failed(db: &Db) -> Result<Vec<(i64, i64)>, Error> {
    db.read(async |conn| lists::failed(conn).await).await
}

/// How much waits.
///
/// # Errors
///
/// Faults of the store.
pub async fn waiting(db: &Db) -> Result<Waiting, Error> {
    db.read(async |conn| store::lists::waiting(conn).await)
        .await
}
