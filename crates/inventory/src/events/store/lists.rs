//! Statements for the pages: events, deliveries and attempts, counted and listed.

use db::{Conn, Error, Query, Row};

use crate::events::model::{Attempt, Delivery, DeliveryState, Event, Filter, Waiting};

const DELIVERIES: &str = "SELECT d.id, d.event_id, e.type, d.endpoint_id, w.url, d.product_id, d.state, d.attempts, d.due_at, d.last_outcome,
        d.last_status, d.created_at, d.finished_at, p.title
 FROM deliveries AS d JOIN events AS e ON e.id = d.event_id JOIN webhook_endpoints AS w ON w.id = d.endpoint_id
 LEFT JOIN products AS p ON p.id = d.product_id
 WHERE TRUE";

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
        if let Some(product) = self.product {
            query.push(" AND d.product_id = ").bind(product);
        }
    }
}

pub(in crate::events) async fn count_deliveries(
    conn: &mut Conn,
    filter: Filter,
) -> Result<u64, Error> {
    let mut query = Query::new("SELECT count(*) FROM deliveries AS d WHERE TRUE");
    filter.push(&mut query);
    conn.one_of(&query, |row| row.get::<i64>(0))
        .await
        .map(i64::unsigned_abs)
}

/// Deliveries, newest first.
pub(in crate::events) async fn deliveries(
    conn: &mut Conn,
    filter: Filter,
    limit: i64,
    offset: i64,
) -> Result<Vec<Delivery>, Error> {
    let mut query = Query::new(DELIVERIES);
    filter.push(&mut query);
    query.push(" ORDER BY d.id DESC LIMIT ").bind(limit);
    query.push(" OFFSET ").bind(offset);
    conn.all_of(&query, delivery).await
}

pub(in crate::events) async fn find_delivery(
    conn: &mut Conn,
    id: i64,
) -> Result<Option<Delivery>, Error> {
    let mut query = Query::new(DELIVERIES);
    query.push(" AND d.id = ").bind(id);
    conn.optional_of(&query, delivery).await
}

fn delivery(row: &Row<'_>) -> Result<Delivery, Error> {
    let state: String = row.get(6)?;
    Ok(Delivery {
        id: row.get(0)?,
        event: row.get(1)?,
        kind: row.get(2)?,
        endpoint: row.get(3)?,
        url: row.get(4)?,
        product: row.get(5)?,
        state: DeliveryState::of(&state)
            .ok_or_else(|| Error::other(format!("no state of a delivery: {state}")))?,
        attempts: row.get(7)?,
        due_at: row.get(8)?,
        last_outcome: row.get(9)?,
        last_status: row.get(10)?,
        created_at: row.get(11)?,
        finished_at: row.get(12)?,
        product_title: row.get(13)?,
    })
}

/// The attempts of a delivery, oldest first; at most a hundred, the newest.
pub(in crate::events) async fn attempts(
    conn: &mut Conn,
    delivery: i64,
) -> Result<Vec<Attempt>, Error> {
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

/// Events, newest first, of one product or of all.
pub(in crate::events) async fn events(
    conn: &mut Conn,
    product: Option<i64>,
    limit: i64,
) -> Result<Vec<Event>, Error> {
    conn.all(
        "SELECT id, type, product_id, payload, created_at FROM events WHERE $1 IS NULL OR product_id = $1
         ORDER BY id DESC LIMIT $2",
        &[&product, &limit],
        event,
    )
    .await
}

pub(in crate::events) async fn find_event(
    conn: &mut Conn,
    id: i64,
) -> Result<Option<Event>, Error> {
    conn.optional(
        "SELECT id, type, product_id, payload, created_at FROM events WHERE id = $1",
        &[&id],
        event,
    )
    .await
}

fn event(row: &Row<'_>) -> Result<Event, Error> {
    Ok(Event {
        id: row.get(0)?,
        kind: row.get(1)?,
        product: row.get(2)?,
        payload: row.get(3)?,
        created_at: row.get(4)?,
    })
}

/// How much waits, and since when: what stands at endpoints that get nothing does not count.
pub(in crate::events) async fn waiting(conn: &mut Conn) -> Result<Waiting, Error> {
    conn.one(
        "SELECT (SELECT count(*) FROM deliveries AS d JOIN webhook_endpoints AS w ON w.id = d.endpoint_id
                 WHERE d.state = 'waiting' AND w.enabled = TRUE),
                (SELECT count(*) FROM events WHERE fanned_out = FALSE),
                (SELECT e.created_at FROM events AS e
                 WHERE e.id = (SELECT min(o.id)
                               FROM (SELECT min(d.event_id) AS id FROM deliveries AS d JOIN webhook_endpoints AS w ON w.id = d.endpoint_id
                                     WHERE d.state = 'waiting' AND w.enabled = TRUE
                                     UNION ALL SELECT min(f.id) FROM events AS f WHERE f.fanned_out = FALSE) AS o))",
        &[],
        |row| {
            Ok(Waiting {
                deliveries: row.get(0)?,
                events: row.get(1)?,
                oldest: row.get(2)?,
            })
        },
    )
    .await
}

/// How many deliveries were given up, at each endpoint that has any.
pub(in crate::events) async fn failed(conn: &mut Conn) -> Result<Vec<(i64, i64)>, Error> {
    conn.all(
        "SELECT endpoint_id, count(*) FROM deliveries WHERE state = 'failed' GROUP BY endpoint_id ORDER BY endpoint_id",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}
