//! Events and deliveries as people see them: lists, the attempts of a delivery, and delivering
//! again.

use db::{Conn, Error, Timestamp, Tx};

use crate::{
    Attempt, Backlog, Delivery, Endpoint, Event, Filter, Outbox, Service,
    store::{deliveries, endpoints, lists},
};

/// How many deliveries there are.
pub async fn count(conn: &mut Conn, service: &Service, filter: Filter) -> Result<u64, Error> {
    lists::count_deliveries(conn, service.name, filter).await
}

/// Deliveries, newest first: so many, behind so many others.
pub async fn list(
    conn: &mut Conn,
    service: &Service,
    filter: Filter,
    (limit, offset): (i64, i64),
) -> Result<Vec<Delivery>, Error> {
    lists::deliveries(conn, service.name, filter, (limit, offset)).await
}

/// One delivery with its event and its newest attempts, oldest of them first.
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

/// The newest events of one subject, or of all: a look through all that are kept, for the command
/// line.
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

/// Delivers once more, whatever became of it before, with the same `webhook-id`: the delivery, when
/// there is one. The workers are woken after the commit.
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

/// Delivers an event once more, to every endpoint that gets its type now, those included that did
/// not exist when it happened: the deliveries and the type, when there is such an event.
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

/// Delivers all that was given up once more, at one endpoint or at all that get events, each
/// subject's in its order; how many. In parts, so that nobody waits long for the lock of an
/// endpoint. `note` is called once for each endpoint where there were any, in the transaction of
/// the first part.
///
/// # Errors
///
/// Faults of the store, and those of `note`.
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

/// How many deliveries were given up, at each endpoint that has any.
pub async fn failed(conn: &mut Conn, service: &Service) -> Result<Vec<(i64, i64)>, Error> {
    lists::failed(conn, service.name).await
}

/// How much waits.
pub async fn waiting(conn: &mut Conn, service: &Service) -> Result<Backlog, Error> {
    lists::waiting(conn, service.name).await
}
