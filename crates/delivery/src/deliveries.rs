//! Events and deliveries for pages and commands: lists, the attempts of a delivery, and redelivery.

pub use crate::store::lists::{count, failed, list, newest_events, waiting};

use db::{Conn, Error, Timestamp, Tx};

use crate::{
    Attempt, Delivery, Endpoint, Event, Filter, Outbox, Service,
    store::{deliveries, endpoints, lists},
};

/// One delivery with its event and its newest attempts, of which the oldest comes first.
pub async fn find(
    conn: &mut Conn,
    service: &Service,
    id: i64,
) -> Result<Option<(Delivery, Event, Vec<Attempt>)>, Error> {
    let Some(delivery) = lists::find_delivery(conn, service, id).await? else {
        return Ok(None);
    };
    let event = lists::find_event(conn, service, delivery.event).await?;
    let attempts = lists::attempts(conn, id).await?;
    Ok(event.map(|event| (delivery, event, attempts)))
}

/// One event with its deliveries, newest first.
pub async fn find_event(
    conn: &mut Conn,
    service: &Service,
    id: i64,
) -> Result<Option<(Event, Vec<Delivery>)>, Error> {
    let Some(event) = lists::find_event(conn, service, id).await? else {
        return Ok(None);
    };
    let filter = Filter {
        event: Some(id),
        ..Filter::default()
    };
    let all = list(conn, service, filter, (100, 0)).await?;
    Ok(Some((event, all)))
}

/// Delivers again with the same `webhook-id`, whatever the result was before. Returns the delivery,
/// or `None` if it does not exist. The caller must wake the workers after the commit.
pub async fn redeliver(
    tx: &mut Tx,
    service: &Service,
    id: i64,
    now: Timestamp,
) -> Result<Option<Delivery>, Error> {
    let found = lists::find_delivery(tx, service, id).await?;
    if found.is_some() {
        deliveries::restart(tx, id, now).await?;
    }
    Ok(found)
}

/// Delivers an event again to every endpoint that subscribes to its type now, including endpoints
/// that did not exist when it happened. Returns the deliveries and the event's type, or `None` if
/// the event does not exist.
pub async fn redeliver_event(
    tx: &mut Tx,
    service: &Service,
    id: i64,
    now: Timestamp,
) -> Result<Option<(Vec<i64>, String)>, Error> {
    let Some(event) = lists::find_event(tx, service, id).await? else {
        return Ok(None);
    };
    let mut begun = Vec::new();
    if let Some(kind) = service.delivered(&event.kind) {
        let wanted = endpoints::lock_enabled(tx, service.name).await?;
        for (endpoint, _) in wanted.into_iter().filter(|(_, types)| types.contain(kind)) {
            let filter = Filter {
                event: Some(id),
                endpoint: Some(endpoint),
                ..Filter::default()
            };
            let present = list(tx, service, filter, (1, 0)).await?;
            let delivery = match present.first() {
                Some(delivery) => delivery.id,
                None => deliveries::insert_late(tx, &event, endpoint, now).await?,
            };
            deliveries::restart(tx, delivery, now).await?;
            begun.push(delivery);
        }
    }
    Ok(Some((begun, event.kind)))
}

/// Delivers all given-up deliveries again, at one endpoint or at all enabled ones, each subject in
/// order. Returns their number. Works in batches, so that nobody waits long for the lock of an
/// endpoint. `note` is called once for each endpoint with such deliveries, in the transaction of
/// the first batch.
pub async fn redeliver_failed<N>(
    outbox: &Outbox,
    endpoint: Option<i64>,
    note: N,
) -> Result<u64, Error>
where
    N: AsyncFn(&mut Tx, &Endpoint) -> Result<(), Error> + Clone + Send + 'static,
{
    let service = outbox.service.name;
    let read = async move |conn: &mut Conn| endpoints::select(conn, service, endpoint).await;
    let all: Vec<Endpoint> = outbox.db.read(read).await?;
    let mut count = 0;
    for endpoint in all.into_iter().filter(|one| one.enabled) {
        let mut is_first = true;
        loop {
            let (endpoint, note, now) = (endpoint.clone(), note.clone(), outbox.clock.now());
            let begin = async move |tx: &mut Tx| {
                let begun = deliveries::restart_failed(tx, endpoint.id).await?;
                deliveries::release_lines(tx, endpoint.id, false, now).await?;
                if is_first && begun > 0 {
                    note(tx, &endpoint).await?;
                }
                Ok::<_, Error>(begun)
            };
            let part = outbox.db.write(begin).await?;
            count += part;
            if part == 0 {
                break;
            }
            is_first = false;
        }
    }
    outbox.wake();
    Ok(count)
}
