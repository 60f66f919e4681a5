//! Reading and listing orders, with their payments.

use std::collections::HashMap;

use db::{Db, Timestamp};

use super::gate::LivePayment;
use super::model::{Order, OrderPayment};
use super::store;
use crate::digest;
use crate::lists::{self, ListPage, ListRequest};

/// An order with what its page shows.
#[derive(Debug, Clone)]
pub(crate) struct LinkedOrder {
    pub(crate) order: Order,
    pub(crate) live: LivePayment,
}

/// The order with this id.
pub(crate) async fn find(db: &Db, id: &str) -> Result<Option<Order>, db::Error> {
    let id = id.to_owned();
    db.read(async move |conn| {
        let found = store::find(conn, &id).await?;
        Ok(with_payments(conn, found.into_iter().collect())
            .await?
            .pop())
    })
    .await
}

/// The row and the order whose page has this token.
pub(crate) async fn find_by_token(db: &Db, token: &str) -> Result<Option<(i64, Order)>, db::Error> {
    let digest = digest::sha256(token);
    db.read(async move |conn| store::find_by_token(conn, &digest).await)
        .await
}

/// Same as [`find_by_token`], with the order's live payment.
pub(crate) async fn find_linked(
    db: &Db,
    token: &str,
    now: Timestamp,
) -> Result<Option<LinkedOrder>, db::Error> {
    let digest = digest::sha256(token);
    db.read(async move |conn| {
        let Some((row, order)) = store::find_by_token(conn, &digest).await? else {
            return Ok(None);
        };
        let attempts = store::attempts_of(conn, row, now).await?;
        let live = LivePayment::of(&attempts);
        Ok(Some(LinkedOrder { order, live }))
    })
    .await
}

/// One page of orders, newest first.
pub(crate) async fn list(db: &Db, request: ListRequest) -> Result<ListPage<Order>, db::Error> {
    db.read(async move |conn| {
        let position = lists::find_page(conn, &request.filter, request.offset()).await?;
        let found = store::list(conn, &request, &position).await?;
        let (count, rows) = (position.count, with_payments(conn, found).await?);
        Ok(ListPage { count, rows })
    })
    .await
}

/// Adds the payments to these orders, which are given by row.
pub(super) async fn with_payments(
    conn: &mut db::Conn,
    found: Vec<(i64, Order)>,
) -> Result<Vec<Order>, db::Error> {
    let rows = found.iter().map(|(row, _)| *row);
    let mut payments: HashMap<i64, Vec<OrderPayment>> = HashMap::new();
    for (row, payment) in store::payments_of(conn, rows).await? {
        payments.entry(row).or_default().push(payment);
    }
    let with_theirs = |(row, order)| Order {
        payments: payments.remove(&row).unwrap_or_default(),
        ..order
    };
    Ok(found.into_iter().map(with_theirs).collect())
}
