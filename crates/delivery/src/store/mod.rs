//! Statements about events: the outbox and the fan-out. `service` selects the rows of one service.
//! Statements about endpoints, deliveries, lists and mail are in the files of this folder.

pub(crate) mod deliveries;
pub(crate) mod endpoints;
pub(crate) mod lists;
pub(crate) mod mails;

use db::{Conn, Error, Kind, Param, Rows, Timestamp, Tx};
use resource::row;

row! {
    /// A row of the outbox.
    pub struct EventRow in "events" {
        service = "service",
        kind = "type",
        subject = "subject_id",
        payload = "payload",
        created_at = "created_at",
    }
}

/// Inserts one row into the outbox.
pub(crate) async fn insert_event(
    tx: &mut Tx,
    (service, kind): (&str, &str),
    subject: i64,
    payload: &str,
    now: Timestamp,
) -> Result<(), Error> {
    let row = EventRow::<&dyn Param> {
        service: &service,
        kind: &kind,
        subject: &subject,
        payload: &payload,
        created_at: &now,
    };
    let (sql, values) = row.insert();
    tx.execute(sql, &values).await.map(drop)
}

/// Inserts an event for a single endpoint. Returns its id.
pub(crate) async fn insert_single_event(
    tx: &mut Tx,
    (service, kind): (&str, &str),
    payload: &str,
    now: Timestamp,
) -> Result<i64, Error> {
    tx.one(
        "INSERT INTO events (service, type, subject_id, payload, created_at, fanned_out) VALUES ($1, $2, 0, $3, $4, TRUE) RETURNING id",
        &[&service, &kind, &payload, &now],
        |row| row.get(0),
    )
    .await
}

/// An event that is not fanned out yet.
#[derive(Debug, Clone)]
pub(crate) struct FreshEvent {
    pub(crate) id: i64,
    pub(crate) kind: String,
    pub(crate) subject: i64,
    pub(crate) created_at: Timestamp,
}

/// Whether there is an event that is not fanned out yet.
pub(crate) async fn has_fresh(conn: &mut Conn, service: &str) -> Result<bool, Error> {
    conn.one(
        "SELECT EXISTS (SELECT 1 FROM events WHERE service = $1 AND fanned_out = FALSE)",
        &[&service],
        |row| row.get(0),
    )
    .await
}

/// Takes the lock for the fan-out until the transaction ends. One process at a time has it.
pub(crate) async fn take_turn(tx: &mut Tx, service: &str) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO delivery_turns (service, turns) VALUES ($1, 1)
         ON CONFLICT (service) DO UPDATE SET turns = delivery_turns.turns + 1",
        &[&service],
    )
    .await
    .map(drop)
}

/// Marks the oldest events as fanned out, and returns them in order.
pub(crate) async fn take_fresh(
    tx: &mut Tx,
    service: &str,
    limit: i64,
) -> Result<Vec<FreshEvent>, Error> {
    let mut fresh = tx
        .all(
            "UPDATE events SET fanned_out = TRUE
             WHERE id IN (SELECT id FROM events WHERE service = $1 AND fanned_out = FALSE ORDER BY id LIMIT $2)
             RETURNING id, type, subject_id, created_at",
            &[&service, &limit],
            |row| {
                Ok(FreshEvent {
                    id: row.get(0)?,
                    kind: row.get(1)?,
                    subject: row.get(2)?,
                    created_at: row.get(3)?,
                })
            },
        )
        .await?;
    fresh.sort_by_key(|event| event.id);
    Ok(fresh)
}

/// The body of an event.
pub(crate) async fn payload(conn: &mut Conn, event: i64) -> Result<String, Error> {
    let sql = "SELECT payload FROM events WHERE id = $1";
    conn.one(sql, &[&event], |row| row.get(0)).await
}

/// The subjects of the events between two ids that have a waiting delivery at an endpoint.
pub(crate) async fn subjects_waiting(
    tx: &mut Tx,
    endpoint: i64,
    first: i64,
    last: i64,
) -> Result<Vec<i64>, Error> {
    // One index lookup for each subject, however many deliveries wait. A join could get a plan that
    // reads all of them.
    tx.all(
        "SELECT e.subject_id
         FROM (SELECT DISTINCT subject_id FROM events WHERE id BETWEEN $2 AND $3) AS e
         WHERE (SELECT d.id FROM deliveries AS d
                WHERE d.endpoint_id = $1 AND d.subject_id = e.subject_id AND d.state = 'waiting'
                ORDER BY d.id LIMIT 1) IS NOT NULL",
        &[&endpoint, &first, &last],
        |row| row.get(0),
    )
    .await
}

/// A bulk insert of deliveries.
pub(crate) fn new_deliveries() -> Rows {
    Rows::new(
        "deliveries",
        &[
            ("event_id", Kind::Integer),
            ("endpoint_id", Kind::Integer),
            ("subject_id", Kind::Integer),
            ("state", Kind::Text),
            ("attempts", Kind::Integer),
            ("due_at", Kind::Timestamp),
            ("created_at", Kind::Timestamp),
        ],
    )
}

/// Deletes old events with their deliveries, except those that still wait. A disabled endpoint gets
/// no new events, so few wait there. One that left the configuration keeps none, since nobody can
/// delete or enable it. Returns how many.
pub(crate) async fn remove_old_events(
    tx: &mut Tx,
    service: &str,
    before: Timestamp,
) -> Result<u64, Error> {
    tx.execute(
        "DELETE FROM events
         WHERE id IN (SELECT e.id FROM events AS e
                      WHERE e.service = $1 AND e.created_at < $2 AND e.fanned_out = TRUE
                        AND NOT EXISTS (SELECT 1 FROM deliveries AS d JOIN webhook_endpoints AS w ON w.id = d.endpoint_id
                                        WHERE d.event_id = e.id AND d.state = 'waiting'
                                          AND COALESCE(w.disabled_reason, '') <> 'configuration')
                      ORDER BY e.id LIMIT 500)",
        &[&service, &before],
    )
    .await
}
