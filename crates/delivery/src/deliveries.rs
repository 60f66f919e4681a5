//! Events and deliveries for pages and commands: lists, the attempts of a delivery, and redelivery.

use db::{Conn, Error, Timestamp, Tx};

use crate::{
    Attempt, Backlog, Delivery, Endpoint, Event, Filter, Outbox, Service,
    store::{deliveries, endpoints, lists},
};

/// The number of matching deliveries.
pub async fn count(conn: &mut Conn, service: &Service, filter: Filter) -> Result<u64, Error> {
    lists::count_deliveries(conn, service.name, filter).await
}

/// A page of deliveries, newest first: `limit` of them after the first `offset`.
pub async fn list(
    conn: &mut Conn,
    service: &Service,
    filter: Filter,
    (limit, offset): (i64, i64),
) -> Result<Vec<Delivery>, Error> {
    lists::deliveries(conn, service.name, filter, (limit, offset)).await
}

/// One delivery with its event and its newest attempts, of which the oldest comes first.
pub async fn find(
    conn: &mut Conn,
    service: &Service,
    id: i64,
) -> Result<Option<(Delivery, Event, Vec<Attempt>)>, Error> {
    let Some(delivery) = lists::find_delivery(conn, service.name, id).await? else {
        return Ok(None);
    };
    let event = lists::find_event(conn, service.name, delivery.event).await?;
    let attempts = lists::attempts(conn, id).await?;
    Ok(event.map(|event| (delivery, event, attempts)))
}

/// The newest events of one subject, or of all. Reads all stored events, so it is for the command
/// line only.
pub async fn newest_events(
    conn: &mut Conn,
    service: &Service,
    subject: Option<i64>,
    limit: i64,
) -> Result<Vec<Event>, Error> {
    lists::events(conn, service.name, subject, limit).await
}

/// One event with its deliveries, newest first.
pub async fn find_event(
    conn: &mut Conn,
    service: &Service,
    id: i64,
) -> Result<Option<(Event, Vec<Delivery>)>, Error> {
    let Some(event) = lists::find_event(conn, service.name, id).await? else {
        return Ok(None);
    };
    let filter = Filter {
        event: Some(id),
        ..Filter::default()
    };
    let all = lists::deliveries(conn, service.name, filter, (100, 0)).await?;
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
    let found = lists::find_delivery(tx, service.name, id).await?;
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
    let Some(event) = lists::find_event(tx, service.name, id).await? else {
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
            let present = lists::deliveries(tx, service.name, filter, (1, 0)).await?;
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
///
/// # Errors
///
/// Database errors, and the errors of `note`.
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

/// The number of given-up deliveries of each endpoint that has any.
pub async fn failed(conn: &mut Conn, service: &Service) -> Result<Vec<(i64, i64)>, Error> {
    lists::failed(conn, service.name).await
}

/// The number and the age of waiting deliveries and events.
pub async fn waiting(conn: &mut Conn, service: &Service) -> Result<Backlog, Error> {
    lists::waiting(conn, service.name).await
}
