//! Reads and lists payments.

use db::Db;

use super::model::Payment;
use super::store::{self, StoredPayment};
use crate::lists::{self, ListPage, ListRequest};

/// The payment with the provider's id.
pub(crate) async fn find(db: &Db, id: &str) -> Result<Option<Payment>, db::Error> {
    let id = id.to_owned();
    db.read(async move |conn| store::find_payment(conn, &id).await)
        .await
}

/// The changeable part of the payment with the provider's id.
pub(crate) async fn find_stored(db: &Db, id: &str) -> Result<Option<StoredPayment>, db::Error> {
    let id = id.to_owned();
    db.read(async move |conn| store::find_stored(conn, &id).await)
        .await
}

/// Same as [`find_stored`] for several payments in one database job, with one indexed read each.
pub(crate) async fn find_all_stored(
    db: &Db,
    ids: Vec<String>,
) -> Result<Vec<StoredPayment>, db::Error> {
    db.read(async move |conn| {
        let mut found = Vec::with_capacity(ids.len());
        for id in &ids {
            found.extend(store::find_stored(conn, id).await?);
        }
        Ok(found)
    })
    .await
}

/// One page of payments, newest first.
pub(crate) async fn list(db: &Db, request: ListRequest) -> Result<ListPage<Payment>, db::Error> {
    db.read(async move |conn| {
        let position = lists::find_page(conn, &request.filter, request.offset()).await?;
        let rows = store::list_payments(conn, &request, &position).await?;
        let count = position.count;
        Ok(ListPage { count, rows })
    })
    .await
}
