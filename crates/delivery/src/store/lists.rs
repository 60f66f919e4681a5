//! Statements for lists: events, deliveries and attempts.

use db::{Conn, Error, Query, Row};
use resource::{Record as _, sql};

use crate::Service;
use crate::model::{Attempt, Backlog, Delivery, Event, Filter};

/// A `SELECT` of a service's deliveries, to be filtered and ordered.
fn select(service: &Service) -> Query {
    let mut query = sql::select(Delivery::FIELDS, "deliveries", "d");
    query.push(" JOIN events AS e ON e.id = d.event_id JOIN webhook_endpoints AS w ON w.id = d.endpoint_id");
    query.push(" WHERE w.service = ").bind(service.name);
    query
}

impl Filter {
    fn push(self, query: &mut Query) {
        if let Some(state) = self.state {
            query.push(" AND d.state = ").bind(state.name());
        }
        if let Some(endpoint) = self.endpoint {
            query.push(" AND d.endpoint_id = ").bind(endpoint);
        }
        if let Some(event) = self.event {
            query.push(" AND d.event_id = ").bind(event);
        }
        if let Some(subject) = self.subject {
            query.push(" AND d.subject_id = ").bind(subject);
        }
    }
}

/// The number of matching deliveries.
pub async fn count(conn: &mut Conn, service: &Service, filter: Filter) -> Result<u64, Error> {
    let mut query = Query::new(
        "SELECT count(*) FROM deliveries AS d WHERE d.endpoint_id IN (SELECT id FROM webhook_endpoints WHERE service = ",
    );
    query.bind(service.name).push(")");
    filter.push(&mut query);
    conn.one_of(&query, |row| row.get::<i64>(0))
        .await
        .map(i64::unsigned_abs)
}

/// A page of deliveries, newest first: `limit` of them after the first `offset`.
pub async fn list(
    conn: &mut Conn,
    service: &Service,
    filter: Filter,
    (limit, offset): (i64, i64),
) -> Result<Vec<Delivery>, Error> {
    let mut query = select(service);
    filter.push(&mut query);
    query.push(" ORDER BY d.id DESC LIMIT ").bind(limit);
    query.push(" OFFSET ").bind(offset);
    conn.all_of(&query, Delivery::from_row).await
}

pub(crate) async fn find_delivery(
    conn: &mut Conn,
    service: &Service,
    id: i64,
) -> Result<Option<Delivery>, Error> {
    let mut query = select(service);
    query.push(" AND d.id = ").bind(id);
    conn.optional_of(&query, Delivery::from_row).await
}

/// The newest attempts of a delivery, at most a hundred, oldest first.
pub(crate) async fn attempts(conn: &mut Conn, delivery: i64) -> Result<Vec<Attempt>, Error> {
    let mut newest = conn
        .all(
            "SELECT started_at, duration_ms, outcome, status, detail FROM delivery_attempts
             WHERE delivery_id = $1 ORDER BY id DESC LIMIT 100",
            &[&delivery],
            |row| {
                Ok(Attempt {
                    started_at: row.get(0)?,
                    duration_ms: row.get(1)?,
                    outcome: row.get(2)?,
                    status: row.get(3)?,
                    detail: row.get(4)?,
                })
            },
        )
        .await?;
    newest.reverse();
    Ok(newest)
}

/// The newest events of one subject, or of all. Reads all stored events, so it is for the command
/// line only.
pub async fn newest_events(
    conn: &mut Conn,
    service: &Service,
    subject: Option<i64>,
    limit: i64,
) -> Result<Vec<Event>, Error> {
    conn.all(
        "SELECT id, type, subject_id, payload, created_at FROM events WHERE service = $1 AND ($2 IS NULL OR subject_id = $2)
         ORDER BY id DESC LIMIT $3",
        &[&service.name, &subject, &limit],
        event,
    )
    .await
}

pub(crate) async fn find_event(
    conn: &mut Conn,
    service: &Service,
    id: i64,
) -> Result<Option<Event>, Error> {
    conn.optional(
        "SELECT id, type, subject_id, payload, created_at FROM events WHERE service = $1 AND id = $2",
        &[&service.name, &id],
        event,
    )
    .await
}

fn event(row: &Row<'_>) -> Result<Event, Error> {
    Ok(Event {
        id: row.get(0)?,
        kind: row.get(1)?,
        subject: row.get(2)?,
        payload: row.get(3)?,
        created_at: row.get(4)?,
    })
}

/// The number of waiting deliveries and events, and the time of the oldest. Disabled endpoints do
/// not count.
pub async fn waiting(conn: &mut Conn, service: &Service) -> Result<Backlog, Error> {
    conn.one(
        "SELECT (SELECT count(*) FROM deliveries AS d JOIN webhook_endpoints AS w ON w.id = d.endpoint_id
                 WHERE d.state = 'waiting' AND w.service = $1 AND w.enabled = TRUE),
                (SELECT count(*) FROM events WHERE service = $1 AND fanned_out = FALSE),
                (SELECT e.created_at FROM events AS e
                 WHERE e.id = (SELECT min(o.id)
                               FROM (SELECT min(d.event_id) AS id FROM deliveries AS d JOIN webhook_endpoints AS w ON w.id = d.endpoint_id
                                     WHERE d.state = 'waiting' AND w.service = $1 AND w.enabled = TRUE
                                     UNION ALL SELECT min(f.id) FROM events AS f WHERE f.service = $1 AND f.fanned_out = FALSE) AS o))",
        &[&service.name],
        |row| {
            Ok(Backlog {
                deliveries: row.get(0)?,
                events: row.get(1)?,
                oldest: row.get(2)?,
            })
        },
    )
    .await
}

/// The number of given-up deliveries of each endpoint that has any.
pub async fn failed(conn: &mut Conn, service: &Service) -> Result<Vec<(i64, i64)>, Error> {
    conn.all(
        "SELECT endpoint_id, count(*) FROM deliveries
         WHERE state = 'failed' AND endpoint_id IN (SELECT id FROM webhook_endpoints WHERE service = $1)
         GROUP BY endpoint_id ORDER BY endpoint_id",
        &[&service.name],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}
