//! SQL for paid orders and their lines. `movements` writes their outflows.

use db::{Conn, Error, Query, Row, Timestamp, Tx};
use resource::FieldType as _;

use super::{
    event::NewOrder,
    model::{OrderLine, OrderState, PaidOrder, WaitingOrders},
};
use crate::rest::json::Titled;

/// Selects orders without their lines, as [`order_of`] reads them.
macro_rules! orders {
    ($rest:literal) => {
        concat!(
            "SELECT o.id, o.order_id, o.reference, o.state, o.received_at FROM paid_orders AS o ",
            $rest
        )
    };
}

/// Inserts an order with its lines. Returns its id, or `None` if the order exists already.
pub(super) async fn insert(
    tx: &mut Tx,
    order: &NewOrder,
    now: Timestamp,
) -> Result<Option<i64>, Error> {
    let id: Option<i64> = tx
        .optional(
            "INSERT INTO paid_orders (order_id, reference, state, received_at) VALUES ($1, $2, 'waiting', $3)
             ON CONFLICT (order_id) DO NOTHING RETURNING id",
            &[&order.id, &order.reference, &now],
            |row| row.get(0),
        )
        .await?;
    let Some(id) = id else {
        return Ok(None);
    };
    for line in &order.lines {
        tx.execute(
            "INSERT INTO paid_order_lines (paid_order_id, sku, title, quantity) VALUES ($1, $2, $3, $4)",
            &[&id, &line.sku, &line.title, &line.quantity],
        )
        .await?;
    }
    Ok(Some(id))
}

pub(super) async fn state_of(conn: &mut Conn, order_id: &str) -> Result<OrderState, Error> {
    let sql = "SELECT state FROM paid_orders WHERE order_id = $1";
    conn.one(sql, &[&order_id], |row| row.get(0)).await
}

/// Locks an order until the transaction ends. Returns false if it is not waiting.
pub(super) async fn lock_waiting(tx: &mut Tx, id: i64) -> Result<bool, Error> {
    let sql = "UPDATE paid_orders SET state = state WHERE id = $1 AND state = 'waiting'";
    tx.execute_one(sql, &[&id]).await
}

pub(super) async fn set_state(tx: &mut Tx, id: i64, state: OrderState) -> Result<(), Error> {
    let sql = "UPDATE paid_orders SET state = $2 WHERE id = $1";
    tx.execute(sql, &[&id, &state.name()]).await.map(drop)
}

pub(super) async fn set_outflow(tx: &mut Tx, line: i64, outflow: i64) -> Result<(), Error> {
    let sql = "UPDATE paid_order_lines SET outflow_id = $2 WHERE id = $1";
    tx.execute(sql, &[&line, &outflow]).await.map(drop)
}

pub(super) async fn find(conn: &mut Conn, id: i64) -> Result<Option<PaidOrder>, Error> {
    let sql = orders!("WHERE o.id = $1");
    let mut found = conn.optional(sql, &[&id], order_of).await?;
    fill(conn, found.as_mut_slice()).await?;
    Ok(found)
}

/// The order that an outflow belongs to, without its lines.
pub(super) async fn of_outflow(conn: &mut Conn, outflow: i64) -> Result<Option<PaidOrder>, Error> {
    let sql = orders!(
        "WHERE o.id = (SELECT l.paid_order_id FROM paid_order_lines AS l WHERE l.outflow_id = $1)"
    );
    conn.optional(sql, &[&outflow], order_of).await
}

pub(super) async fn of_checkout(conn: &mut Conn, order: &str) -> Result<Option<PaidOrder>, Error> {
    let sql = orders!("WHERE o.order_id = $1");
    conn.optional(sql, &[&order], order_of).await
}

/// The oldest waiting orders, at most `limit`, and the number of all.
pub(super) async fn waiting(conn: &mut Conn, limit: i64) -> Result<WaitingOrders, Error> {
    let found: Vec<(PaidOrder, i64)> = conn
        .all(
            "SELECT o.id, o.order_id, o.reference, o.state, o.received_at, (SELECT count(*) FROM paid_orders WHERE state = 'waiting')
             FROM paid_orders AS o WHERE o.state = 'waiting' ORDER BY o.id LIMIT $1",
            &[&limit],
            |row| Ok((order_of(row)?, row.get(5)?)),
        )
        .await?;
    let count = found.first().map_or(0, |(_, count)| *count);
    let mut first: Vec<PaidOrder> = found.into_iter().map(|(order, _)| order).collect();
    fill(conn, &mut first).await?;
    Ok(WaitingOrders { count, first })
}

/// Adds the lines to orders. The product of a booked line is that of its outflow, if it still exists.
/// The product of another line is the one that has its serie number now.
async fn fill(conn: &mut Conn, orders: &mut [PaidOrder]) -> Result<(), Error> {
    if orders.is_empty() {
        return Ok(());
    }
    let mut query = Query::new(
        "SELECT l.paid_order_id, l.id, l.sku, l.title, l.quantity, l.outflow_id, p.id, p.title, s.quantity, s.archived_at
         FROM paid_order_lines AS l LEFT JOIN products AS p ON p.id = CASE WHEN l.outflow_id IS NULL
             THEN (SELECT n.id FROM products AS n WHERE n.serie_number = l.sku)
             ELSE (SELECT m.product_id FROM outflows AS m WHERE m.id = l.outflow_id) END
         LEFT JOIN product_stock AS s ON s.product_id = p.id WHERE l.paid_order_id",
    );
    query.any_of(orders.iter().map(|order| order.id));
    query.push(" ORDER BY l.id");
    let lines = conn.all_of(&query, line_of).await?;
    for (of, line) in lines {
        if let Some(order) = orders.iter_mut().find(|order| order.id == of) {
            order.lines.push(line);
        }
    }
    Ok(())
}

fn order_of(row: &Row<'_>) -> Result<PaidOrder, Error> {
    Ok(PaidOrder {
        id: row.get(0)?,
        order_id: row.get(1)?,
        reference: row.get(2)?,
        state: row.get(3)?,
        received_at: row.get(4)?,
        lines: Vec::new(),
    })
}

fn line_of(row: &Row<'_>) -> Result<(i64, OrderLine), Error> {
    let product = Option::<Titled>::from_row(row, &mut 6)?;
    let (available, archived_at): (Option<i64>, Option<Timestamp>) = (row.get(8)?, row.get(9)?);
    let line = OrderLine {
        id: row.get(1)?,
        sku: row.get(2)?,
        title: row.get(3)?,
        quantity: row.get(4)?,
        product: product.zip(available),
        is_archived: archived_at.is_some(),
        outflow: row.get(5)?,
    };
    Ok((row.get(0)?, line))
}
