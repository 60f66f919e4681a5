//! Reads the service's orders from its tables.

use std::collections::BTreeMap;

use db::{Conn, Error, Row, Timestamp};

use super::order_events::Event;

/// A stored order.
pub(super) struct Order {
    pub(super) id: String,
    pub(super) description: String,
    pub(super) status: String,
    /// The payment that paid it.
    pub(super) paid_by: Option<u64>,
}

/// The service's records of orders.
pub(super) struct Books {
    pub(super) orders: Vec<Order>,
    /// Overpayments, and whether each is still to be refunded.
    pub(super) overpayments: BTreeMap<u64, bool>,
    /// The events of each order and its payments, by the order's id.
    pub(super) events: BTreeMap<String, Vec<Event>>,
    /// Day counts that differ from the real numbers.
    pub(super) miscounted: Vec<String>,
}

/// Orders that are still open although they expired by `then`, and pending payments of orders that
/// have ended.
pub(super) async fn late(conn: &mut Conn, then: Timestamp) -> Result<Vec<String>, Error> {
    let sql = "SELECT description || ' is still open' FROM orders
               WHERE status = 'open' AND expires_at <= $1
               UNION ALL
               SELECT o.description || ' is ' || o.status || ', and ' || p.provider_id || ' still pending'
               FROM orders o JOIN attempts a ON a.order_id = o.id JOIN payments p ON p.id = a.payment_id
               WHERE p.state = 'pending' AND p.created_at <= $1 AND o.updated_at <= $1
                 AND o.status <> 'open' AND (o.status <> 'expired' OR p.method = 'pix')";
    conn.all(sql, &[&then], |row| row.get(0)).await
}

pub(super) async fn books(conn: &mut Conn) -> Result<Books, Error> {
    let overpayments = conn
        .all(
            "SELECT p.provider_id, o.refund_at IS NOT NULL
             FROM overpayments o JOIN payments p ON p.id = o.payment_id",
            &[],
            |row| Ok((number(&row.get::<String>(0)?), row.get(1)?)),
        )
        .await?;
    Ok(Books {
        orders: orders(conn).await?,
        overpayments: overpayments.into_iter().collect(),
        events: events(conn).await?,
        miscounted: miscounted(conn).await?,
    })
}

/// The list, day, status and method whose count differs from the real number of rows.
async fn miscounted(conn: &mut Conn) -> Result<Vec<String>, Error> {
    let sql = "SELECT list || ' ' || status || ' ' || method || ' are miscounted by ' || sum(counted) FROM (
                   SELECT list, day, status, method, counted FROM day_counts
                   UNION ALL SELECT list, day, status, method, counted FROM day_count_changes
                   UNION ALL SELECT 'payments', created_at / 86400000000, state, method, -1 FROM payments
                   UNION ALL SELECT 'orders', created_at / 86400000000, status, '', -1 FROM orders
               ) AS counts GROUP BY list, day, status, method HAVING sum(counted) <> 0";
    conn.all(sql, &[], |row| row.get(0)).await
}

async fn orders(conn: &mut Conn) -> Result<Vec<Order>, Error> {
    let sql = "SELECT o.public_id, o.description, o.status, p.provider_id
               FROM orders o LEFT JOIN payments p ON p.id = o.paid_by ORDER BY o.id";
    let order = |row: &Row<'_>| {
        Ok(Order {
            id: row.get(0)?,
            description: row.get(1)?,
            status: row.get(2)?,
            paid_by: row.get::<Option<String>>(3)?.as_deref().map(number),
        })
    };
    conn.all(sql, &[], order).await
}

/// The events of each order and its payments, in order.
async fn events(conn: &mut Conn) -> Result<BTreeMap<String, Vec<Event>>, Error> {
    let sql = "SELECT o.public_id, e.type, e.payload
               FROM events e JOIN orders o ON e.subject_id = -o.id ORDER BY e.id";
    let event = |row: &Row<'_>| {
        let payload = row.get::<String>(2)?;
        Ok((row.get(0)?, Event::read(row.get(1)?, &payload)))
    };
    let mut events: BTreeMap<String, Vec<Event>> = BTreeMap::new();
    for (order, event) in conn.all(sql, &[], event).await? {
        events.entry(order).or_default().push(event);
    }
    Ok(events)
}

fn number(id: &str) -> u64 {
    id.parse().unwrap_or_default()
}
