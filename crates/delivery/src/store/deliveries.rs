//! Statements of the delivery workers.

use db::{Conn, Error, Kind, Query, Rows, Timestamp, Tx};

use crate::model::{Attempt, DeliveryState, Event};

/// A due delivery.
#[derive(Debug, Clone)]
pub(crate) struct DueDelivery {
    pub(crate) id: i64,
    pub(crate) event: i64,
    pub(crate) subject: i64,
    pub(crate) attempts: i64,
    pub(crate) payload: String,
    pub(crate) happened_at: Timestamp,
}

/// The due deliveries of an endpoint, the longest overdue first. Of each subject only the earliest
/// event is due.
pub(crate) async fn due(
    conn: &mut Conn,
    endpoint: i64,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<DueDelivery>, Error> {
    conn.all(
        "SELECT d.id, d.event_id, d.subject_id, d.attempts, e.payload, e.created_at
         FROM deliveries AS d JOIN events AS e ON e.id = d.event_id
         WHERE d.endpoint_id = $1 AND d.state = 'waiting' AND d.due_at <= $2
         ORDER BY d.due_at, d.id LIMIT $3",
        &[&endpoint, &now, &limit],
        |row| {
            Ok(DueDelivery {
                id: row.get(0)?,
                event: row.get(1)?,
                subject: row.get(2)?,
                attempts: row.get(3)?,
                payload: row.get(4)?,
                happened_at: row.get(5)?,
            })
        },
    )
    .await
}

/// When the next delivery of an endpoint is due.
pub(crate) async fn next_due(conn: &mut Conn, endpoint: i64) -> Result<Option<Timestamp>, Error> {
    conn.optional(
        "SELECT due_at FROM deliveries WHERE endpoint_id = $1 AND state = 'waiting' AND due_at IS NOT NULL
         ORDER BY due_at, id LIMIT 1",
        &[&endpoint],
        |row| row.get(0),
    )
    .await
}

/// Ends deliveries that succeeded. `status` is the HTTP status of one of them; all are 2xx.
pub(crate) async fn end_delivered(
    tx: &mut Tx,
    ids: &[i64],
    status: i64,
    now: Timestamp,
) -> Result<(), Error> {
    let mut query = Query::new(
        "UPDATE deliveries SET state = 'delivered', due_at = NULL, last_outcome = 'delivered', attempts = attempts + 1, last_status = ",
    );
    query.bind(status).push(", finished_at = ").bind(now);
    query.push(" WHERE id IN (");
    each(&mut query, ids, ", ");
    query.push(")");
    tx.execute_of(&query).await.map(drop)
}

/// Binds numbers, with a text between them. Pads their count to a power of two, so that few
/// different statements are prepared. There must be at least one number.
fn each(query: &mut Query, numbers: &[i64], between: &'static str) {
    let Some((first, rest)) = numbers.split_first() else {
        query.push("NULL");
        return;
    };
    query.bind(*first);
    let padding = numbers.len().next_power_of_two() - numbers.len();
    for number in rest.iter().chain(std::iter::repeat_n(first, padding)) {
        query.push(between).bind(*number);
    }
}

/// Stores the result of a failed attempt. The delivery is retried at `due_at`; `None` gives it up.
pub(crate) async fn record_failure(
    tx: &mut Tx,
    delivery: i64,
    failed: &Attempt,
    due_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), Error> {
    let (state, finished_at) = match due_at {
        Some(_) => (DeliveryState::Waiting, None),
        None => (DeliveryState::Failed, Some(now)),
    };
    tx.execute(
        "UPDATE deliveries SET state = $2, due_at = $3, last_outcome = $4, last_status = $5, attempts = attempts + 1, finished_at = $6
         WHERE id = $1 AND state = 'waiting'",
        &[&delivery, &state.name(), &due_at, &failed.outcome, &failed.status, &finished_at],
    )
    .await
    .map(drop)
}

/// Inserts attempts, each with the id of its delivery.
pub(crate) async fn insert_attempts(tx: &mut Tx, attempts: &[(i64, Attempt)]) -> Result<(), Error> {
    let columns = &[
        ("delivery_id", Kind::Integer),
        ("started_at", Kind::Timestamp),
        ("duration_ms", Kind::Integer),
        ("outcome", Kind::Text),
        ("status", Kind::Integer),
        ("detail", Kind::Text),
    ];
    let mut rows = Rows::new("delivery_attempts", columns);
    for (delivery, attempt) in attempts {
        rows.push([
            (*delivery).into(),
            attempt.started_at.into(),
            attempt.duration_ms.into(),
            attempt.outcome.as_str().into(),
            attempt.status.into(),
            attempt.detail.as_str().into(),
        ]);
    }
    tx.insert_rows(&mut rows).await
}

/// Makes the next delivery of each of these subjects due: the earliest that waits after the one
/// that has just ended.
pub(crate) async fn release_next(
    tx: &mut Tx,
    endpoint: i64,
    subjects: &[i64],
    now: Timestamp,
) -> Result<(), Error> {
    // One index lookup for each subject, however many deliveries wait.
    let mut query = Query::new("UPDATE deliveries SET due_at = ");
    query.bind(now);
    query.push(" WHERE due_at IS NULL AND state = 'waiting' AND id IN (SELECT (SELECT d.id FROM deliveries AS d WHERE d.endpoint_id = ");
    query.bind(endpoint);
    query.push(" AND d.subject_id = p.subject_id AND d.state = 'waiting' ORDER BY d.id LIMIT 1) FROM (SELECT CAST(");
    each(
        &mut query,
        subjects,
        " AS BIGINT) AS subject_id UNION ALL SELECT CAST(",
    );
    query.push(" AS BIGINT) AS subject_id) AS p)");
    tx.execute_of(&query).await.map(drop)
}

/// Makes the first delivery of every subject at an endpoint due. With `all`, also resets those that
/// are due already.
pub(crate) async fn release_lines(
    tx: &mut Tx,
    endpoint: i64,
    all: bool,
    now: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE deliveries SET due_at = $2
         WHERE state = 'waiting' AND (due_at IS NULL OR $3)
           AND id IN (SELECT min(id) FROM deliveries WHERE endpoint_id = $1 AND state = 'waiting' GROUP BY subject_id)",
        &[&endpoint, &now, &all],
    )
    .await
    .map(drop)
}

/// Inserts a delivery that is posted at once, for an event of its own. Returns its id.
pub(crate) async fn insert_single(
    tx: &mut Tx,
    event: i64,
    endpoint: i64,
    now: Timestamp,
) -> Result<i64, Error> {
    tx.one(
        "INSERT INTO deliveries (event_id, endpoint_id, subject_id, state, attempts, created_at)
         VALUES ($1, $2, 0, 'waiting', 0, $3) RETURNING id",
        &[&event, &endpoint, &now],
        |row| row.get(0),
    )
    .await
}

/// Inserts a delivery for an endpoint that did not get the event when it happened. Returns its id.
pub(crate) async fn insert_late(
    tx: &mut Tx,
    event: &Event,
    endpoint: i64,
    now: Timestamp,
) -> Result<i64, Error> {
    tx.one(
        "INSERT INTO deliveries (event_id, endpoint_id, subject_id, state, attempts, due_at, created_at)
         VALUES ($1, $2, $3, 'waiting', 0, $4, $4) RETURNING id",
        &[&event.id, &endpoint, &event.subject, &now],
        |row| row.get(0),
    )
    .await
}

/// Restarts a delivery: due at once, with 0 attempts. Returns false if it does not exist.
pub(crate) async fn restart(tx: &mut Tx, id: i64, now: Timestamp) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE deliveries SET state = 'waiting', attempts = 0, due_at = $2, finished_at = NULL WHERE id = $1",
        &[&id, &now],
    )
    .await
}

/// Restarts up to a thousand failed deliveries of an endpoint, oldest first, each subject in order.
/// Returns how many.
pub(crate) async fn restart_failed(tx: &mut Tx, endpoint: i64) -> Result<u64, Error> {
    tx.execute(
        "UPDATE deliveries SET state = 'waiting', attempts = 0, due_at = NULL, finished_at = NULL
         WHERE id IN (SELECT d.id FROM deliveries AS d JOIN events AS e ON e.id = d.event_id
                      WHERE d.endpoint_id = $1 AND d.state = 'failed' AND e.type <> 'endpoint.test'
                      ORDER BY d.id LIMIT 1000)",
        &[&endpoint],
    )
    .await
}
