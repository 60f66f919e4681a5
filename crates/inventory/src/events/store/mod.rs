//! Statements about events: the outbox, and making deliveries from it.
//! Endpoints, deliveries, lists and mail have their statements in the files beside this one.

pub(super) mod deliveries;
pub(super) mod endpoints;
pub(super) mod lists;
pub(super) mod mails;

use db::{Conn, Error, Kind, Rows, Timestamp, Tx};

/// Writes one row of the outbox.
pub(super) async fn insert_event(
    tx: &mut Tx,
    kind: &'static str,
    product: i64,
    payload: &str,
    now: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO events (type, product_id, payload, created_at) VALUES ($1, $2, $3, $4)",
        &[&kind, &product, &payload, &now],
    )
    .await?;
    Ok(())
}

/// Writes an event that is made for one endpoint; its id.
pub(super) async fn insert_single_event(
    tx: &mut Tx,
    kind: &'static str,
    payload: &str,
    now: Timestamp,
) -> Result<i64, Error> {
    tx.one(
        "INSERT INTO events (type, product_id, payload, created_at, fanned_out) VALUES ($1, 0, $2, $3, TRUE) RETURNING id",
        &[&kind, &payload, &now],
        |row| row.get(0),
    )
    .await
}

/// An event whose deliveries are to be made.
#[derive(Debug, Clone)]
pub(super) struct Fresh {
    pub(super) id: i64,
    pub(super) kind: String,
    pub(super) product: i64,
    pub(super) created_at: Timestamp,
}

/// Whether there is an event whose deliveries are not made yet.
pub(super) async fn has_fresh(conn: &mut Conn) -> Result<bool, Error> {
    conn.one(
        "SELECT EXISTS (SELECT 1 FROM events WHERE fanned_out = FALSE)",
        &[],
        |row| row.get(0),
    )
    .await
}

/// Waits for the turn to make deliveries, which one process has at a time: until the transaction ends.
pub(super) async fn take_turn(tx: &mut Tx) -> Result<(), Error> {
    tx.execute(
        "UPDATE delivery_turns SET turns = turns + 1 WHERE id = 1",
        &[],
    )
    .await
    .map(drop)
}

/// Takes the oldest events whose deliveries are not made yet, in their order.
pub(super) async fn take_fresh(tx: &mut Tx, limit: i64) -> Result<Vec<Fresh>, Error> {
    let mut fresh = tx
        .all(
            "UPDATE events SET fanned_out = TRUE
             WHERE id IN (SELECT id FROM events WHERE fanned_out = FALSE ORDER BY id LIMIT $1)
             RETURNING id, type, product_id, created_at",
            &[&limit],
            |row| {
                Ok(Fresh {
                    id: row.get(0)?,
                    kind: row.get(1)?,
                    product: row.get(2)?,
                    created_at: row.get(3)?,
                })
            },
        )
        .await?;
    fresh.sort_by_key(|event| event.id);
    Ok(fresh)
}

/// The body of an event.
pub(super) async fn payload(conn: &mut Conn, event: i64) -> Result<String, Error> {
    let sql = "SELECT payload FROM events WHERE id = $1";
    conn.one(sql, &[&event], |row| row.get(0)).await
}

/// Which products of the events between two ids have a delivery waiting at an endpoint.
pub(super) async fn products_waiting(
    tx: &mut Tx,
    endpoint: i64,
    first: i64,
    last: i64,
) -> Result<Vec<i64>, Error> {
    // One look into the index for each product, however much waits: not a join, whose plan could read all of it.
    tx.all(
        "SELECT e.product_id
         FROM (SELECT DISTINCT product_id FROM events WHERE id BETWEEN $2 AND $3) AS e
         WHERE (SELECT d.id FROM deliveries AS d
                WHERE d.endpoint_id = $1 AND d.product_id = e.product_id AND d.state = 'waiting'
                ORDER BY d.id LIMIT 1) IS NOT NULL",
        &[&endpoint, &first, &last],
        |row| row.get(0),
    )
    .await
}

/// Deliveries on their way in.
pub(super) fn new_deliveries() -> Rows {
    Rows::new(
        "deliveries",
        &[
            ("event_id", Kind::Integer),
            ("endpoint_id", Kind::Integer),
            ("product_id", Kind::Integer),
            ("state", Kind::Text),
            ("attempts", Kind::Integer),
            ("due_at", Kind::Timestamp),
            ("created_at", Kind::Timestamp),
        ],
    )
}

/// Removes events of long ago with their deliveries, save those that still wait at an endpoint that gets events; how many.
pub(super) async fn remove_old_events(tx: &mut Tx, before: Timestamp) -> Result<u64, Error> {
    tx.execute(
        "DELETE FROM events
         WHERE id IN (SELECT e.id FROM events AS e
                      WHERE e.created_at < $1 AND e.fanned_out = TRUE
                        AND NOT EXISTS (SELECT 1 FROM deliveries AS d JOIN webhook_endpoints AS w ON w.id = d.endpoint_id
                                        WHERE d.event_id = e.id AND d.state = 'waiting' AND w.enabled = TRUE)
                      ORDER BY e.id LIMIT 500)",
        &[&before],
    )
    .await
}
