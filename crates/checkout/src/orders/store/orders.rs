//! Statements about orders.

use db::{Conn, Engine, Error, Money, Param, Query, Row, Timestamp, Tx};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::idempotency::IdempotencyKey;
use crate::lists::{ListRequest, PagePosition};
use crate::orders::model::{Order, OrderStatus};
use crate::orders::request::NewOrder;
use crate::request::MethodKind;

/// An order to insert.
#[derive(Debug)]
pub(crate) struct InsertedOrder {
    pub(crate) id: String,
    pub(crate) token_digest: String,
    pub(crate) key: Option<IdempotencyKey>,
    pub(crate) fingerprint: Option<String>,
    pub(crate) new: NewOrder,
    /// Items and customer as JSON.
    pub(crate) items: String,
    pub(crate) customer: Option<String>,
    pub(crate) now: Timestamp,
}

/// The columns of a locked order that decide what may happen to it.
#[derive(Debug, Clone)]
pub(crate) struct LockedOrder {
    pub(crate) row: i64,
    pub(crate) id: String,
    /// The shop's own number.
    pub(crate) reference: Option<String>,
    pub(crate) status: OrderStatus,
    pub(crate) expires_at: Timestamp,
}

/// How an order ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderEnd {
    pub(crate) status: OrderStatus,
    /// The payment that paid the order, and whether the order had expired.
    pub(crate) paid: Option<(i64, bool)>,
    pub(crate) due_at: Option<Timestamp>,
    pub(crate) now: Timestamp,
}

/// Inserts an order. Returns `None` if another order has its reference or its idempotency key.
pub(crate) async fn insert(tx: &mut Tx, order: &InsertedOrder) -> Result<Option<i64>, Error> {
    let new = &order.new;
    let end = new.end(order.now);
    tx.optional(
        "INSERT INTO orders (public_id, token_digest, key_digest, fingerprint, reference, status, amount, description, items,
             payment_methods, max_installments, customer, success_url, cancel_url, metadata, expires_at, created_at, updated_at,
             is_late, due_at)
         VALUES ($1, $2, $3, $4, $5, 'open', $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $16, $17, $15)
         ON CONFLICT DO NOTHING
         RETURNING id",
        &[
            &order.id,
            &order.token_digest,
            &order.key.as_ref().map(IdempotencyKey::as_str),
            &order.fingerprint,
            &new.reference,
            &new.amount,
            &new.description,
            &order.items,
            &new.method_names(),
            &new.max_installments.map(i64::from),
            &order.customer,
            &new.success_url,
            &new.cancel_url,
            &new.metadata.get(),
            &end,
            &order.now,
            &false,
        ],
        |row| row.get(0),
    )
    .await
}

macro_rules! order_columns {
    ($rest:literal) => {
        concat!(
            "SELECT o.public_id, o.reference, o.status, o.amount, o.description, o.items, o.payment_methods, o.max_installments,
                 o.customer, o.success_url, o.cancel_url, o.metadata, o.expires_at, o.created_at, o.updated_at, o.paid_at,
                 p.refunded, o.id, o.fingerprint
             FROM orders o LEFT JOIN payments p ON p.id = o.paid_by ",
            $rest
        )
    };
}

/// The order with this id, and its row.
pub(crate) async fn find(conn: &mut Conn, id: &str) -> Result<Option<(i64, Order)>, Error> {
    let sql = order_columns!("WHERE o.public_id = $1");
    conn.optional(sql, &[&id], with_row).await
}

/// The order in a row.
pub(crate) async fn find_by_row(conn: &mut Conn, row: i64) -> Result<Option<Order>, Error> {
    conn.optional(order_columns!("WHERE o.id = $1"), &[&row], order)
        .await
}

/// The row and the order whose page token has this digest.
pub(crate) async fn find_by_token(
    conn: &mut Conn,
    digest: &str,
) -> Result<Option<(i64, Order)>, Error> {
    let sql = order_columns!("WHERE o.token_digest = $1");
    conn.optional(sql, &[&digest], with_row).await
}

/// The order with a caller's idempotency key: its row, the fingerprint of its request, and the
/// order.
pub(crate) async fn find_by_key(
    conn: &mut Conn,
    key: &str,
) -> Result<Option<(i64, Option<String>, Order)>, Error> {
    let sql = order_columns!("WHERE o.key_digest = $1");
    conn.optional(sql, &[&key], |row| {
        Ok((row.get(17)?, row.get(18)?, order(row)?))
    })
    .await
}

/// The id of the order with this reference.
pub(crate) async fn find_by_reference(
    conn: &mut Conn,
    reference: &str,
) -> Result<Option<String>, Error> {
    let sql = "SELECT public_id FROM orders WHERE reference = $1";
    conn.optional(sql, &[&reference], |row| row.get(0)).await
}

/// Removes the idempotency key from an order whose key has expired.
pub(crate) async fn free_key(tx: &mut Tx, row: i64) -> Result<u64, Error> {
    let sql = "UPDATE orders SET key_digest = NULL, fingerprint = NULL WHERE id = $1";
    tx.execute(sql, &[&row]).await
}

/// Deletes the idempotency keys of orders created up to `kept_since`, at most a thousand. Returns
/// how many.
pub(crate) async fn delete_expired_keys(tx: &mut Tx, kept_since: Timestamp) -> Result<u64, Error> {
    tx.execute(
        "UPDATE orders SET key_digest = NULL, fingerprint = NULL
         WHERE id IN (SELECT id FROM orders WHERE key_digest IS NOT NULL AND created_at <= $1 ORDER BY created_at LIMIT 1000)",
        &[&kept_since],
    )
    .await
}

/// The statements that lock an order, for SQLite and for PostgreSQL. SQLite allows one write
/// transaction at a time, so a read suffices there.
macro_rules! locked {
    ($condition:literal) => {
        (locked!($condition, ""), locked!($condition, " FOR UPDATE"))
    };
    ($condition:literal, $lock:literal) => {
        concat!(
            "SELECT id, public_id, reference, status, expires_at FROM orders WHERE ",
            $condition,
            $lock
        )
    };
}

/// Locks the order in a row until the transaction ends. Other transactions that change or pay the
/// order wait.
pub(crate) async fn lock(tx: &mut Tx, row: i64) -> Result<Option<LockedOrder>, Error> {
    find_locked(tx, locked!("id = $1"), &row).await
}

/// Same as [`lock`], by the order's id.
pub(crate) async fn lock_by_id(tx: &mut Tx, id: &str) -> Result<Option<LockedOrder>, Error> {
    find_locked(tx, locked!("public_id = $1"), &id).await
}

/// Same as [`lock`], for the order of a payment. `None` if the payment has no order.
pub(crate) async fn lock_of_payment(
    tx: &mut Tx,
    payment: i64,
) -> Result<Option<LockedOrder>, Error> {
    let sql = locked!(
        "id = (SELECT order_id FROM attempts WHERE payment_id = $1 AND order_id IS NOT NULL LIMIT 1)"
    );
    find_locked(tx, sql, &payment).await
}

async fn find_locked(
    tx: &mut Tx,
    (on_sqlite, on_postgres): (&'static str, &'static str),
    which: &dyn Param,
) -> Result<Option<LockedOrder>, Error> {
    let sql = match tx.engine() {
        Engine::Sqlite => on_sqlite,
        Engine::Postgres => on_postgres,
    };
    tx.optional(sql, &[which], locked).await
}

/// Stores the end of a locked order.
pub(crate) async fn write_end(tx: &mut Tx, row: i64, end: &OrderEnd) -> Result<u64, Error> {
    let paid_at = end.paid.map(|_| end.now);
    let (paid_by, is_late) = end.paid.unzip();
    tx.execute(
        "UPDATE orders
         SET status = $2, paid_at = $3, paid_by = $4, is_late = $5, due_at = $6, updated_at = $7
         WHERE id = $1",
        &[
            &row,
            &end.status,
            &paid_at,
            &paid_by,
            &is_late.unwrap_or_default(),
            &end.due_at,
            &end.now,
        ],
    )
    .await
}

/// Records that something of the order changed, in its row or in its payments.
pub(crate) async fn touch(tx: &mut Tx, row: i64, now: Timestamp) -> Result<u64, Error> {
    let sql = "UPDATE orders SET updated_at = $2 WHERE id = $1";
    tx.execute(sql, &[&row, &now]).await
}

/// Sets when the order is due for the worker next.
pub(crate) async fn write_due_at(
    tx: &mut Tx,
    row: i64,
    at: Option<Timestamp>,
) -> Result<u64, Error> {
    tx.execute("UPDATE orders SET due_at = $2 WHERE id = $1", &[&row, &at])
        .await
}

/// Orders that are due for the worker by `now`, the longest overdue first.
pub(crate) async fn due(conn: &mut Conn, now: Timestamp, limit: i64) -> Result<Vec<i64>, Error> {
    let sql = "SELECT id FROM orders WHERE due_at <= $1 ORDER BY due_at, id LIMIT $2";
    conn.all(sql, &[&now, &limit], |row| row.get(0)).await
}

/// When the next order is due for the worker.
pub(crate) async fn next_due(conn: &mut Conn) -> Result<Option<Timestamp>, Error> {
    let sql = "SELECT due_at FROM orders WHERE due_at IS NOT NULL ORDER BY due_at, id LIMIT 1";
    conn.optional(sql, &[], |row| row.get(0)).await
}

/// A page of orders with their rows, newest first.
pub(crate) async fn list(
    conn: &mut Conn,
    request: &ListRequest,
    position: &PagePosition,
) -> Result<Vec<(i64, Order)>, Error> {
    let mut query = Query::new(order_columns!(
        "WHERE o.id IN (SELECT id FROM orders WHERE TRUE"
    ));
    position.push_page(&mut query, request);
    query.push(") ORDER BY o.created_at DESC, o.id DESC");
    conn.all_of(&query, with_row).await
}

fn locked(row: &Row<'_>) -> Result<LockedOrder, Error> {
    Ok(LockedOrder {
        row: row.get(0)?,
        id: row.get(1)?,
        reference: row.get(2)?,
        status: row.get(3)?,
        expires_at: row.get(4)?,
    })
}

fn with_row(row: &Row<'_>) -> Result<(i64, Order), Error> {
    Ok((row.get(17)?, order(row)?))
}

fn order(row: &Row<'_>) -> Result<Order, Error> {
    let methods = row.get::<String>(6)?;
    let methods: Option<Vec<_>> = methods.split(',').map(MethodKind::of).collect();
    let most = row.get::<Option<i64>>(7)?;
    Ok(Order {
        id: row.get(0)?,
        reference: row.get(1)?,
        status: row.get(2)?,
        amount: row.get(3)?,
        description: row.get(4)?,
        items: json(&row.get::<String>(5)?)?,
        payment_methods: methods
            .ok_or_else(|| Error::other("orders.payment_methods holds no methods"))?,
        max_installments: most.and_then(|most| u8::try_from(most).ok()),
        customer: row
            .get::<Option<String>>(8)?
            .as_deref()
            .map(json)
            .transpose()?,
        success_url: row.get(9)?,
        cancel_url: row.get(10)?,
        metadata: json::<Box<RawValue>>(&row.get::<String>(11)?)?,
        expires_at: row.get(12)?,
        created_at: row.get(13)?,
        updated_at: row.get(14)?,
        paid_at: row.get(15)?,
        refunded_amount: row.get::<Option<Money>>(16)?.unwrap_or(Money::ZERO),
        payments: Vec::new(),
        url: None,
    })
}

fn json<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|_| Error::other("orders holds what is not our JSON"))
}
