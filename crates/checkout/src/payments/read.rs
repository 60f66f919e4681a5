//! Reading and listing payments from the store.

use super::model::Payment;
use super::query::ListQuery;
use super::state::PaymentState;
use super::store::{self, StoredPayment};
use crate::app::State;
use crate::lists::{self, Filter, Listed};
use crate::request::MethodKind;

/// One page of a list.
#[derive(Debug)]
pub struct Page {
    /// How many payments there are in all.
    pub count: i64,
    /// Those of this page, newest first.
    pub payments: Vec<Payment>,
}

/// The payment with the provider's id.
///
/// # Errors
/// When the database fails.
pub async fn find(state: &State, id: &str) -> Result<Option<Payment>, db::Error> {
    let id = id.to_owned();
    state
        .db
        .read(async move |conn| store::find_payment(conn, &id).await)
        .await
}

/// The changeable part of the payment with the provider's id.
pub(crate) async fn find_stored(
    state: &State,
    id: &str,
) -> Result<Option<StoredPayment>, db::Error> {
    let id = id.to_owned();
    state
        .db
        .read(async move |conn| store::find_stored(conn, &id).await)
        .await
}

/// The state and the detail of the payment with the provider's id.
///
/// # Errors
/// When the database fails.
pub async fn find_status(
    state: &State,
    id: &str,
) -> Result<Option<(PaymentState, String)>, db::Error> {
    let id = id.to_owned();
    state
        .db
        .read(async move |conn| store::find_status(conn, &id).await)
        .await
}

/// As [`find_status`], of several payments in one job: one indexed read for each.
pub(crate) async fn find_statuses(
    state: &State,
    ids: Vec<String>,
) -> Result<Vec<(String, PaymentState, String)>, db::Error> {
    state
        .db
        .read(async move |conn| {
            let mut found = Vec::with_capacity(ids.len());
            for id in &ids {
                if let Some((status, detail)) = store::find_status(conn, id).await? {
                    found.push((id.clone(), status, detail));
                }
            }
            Ok(found)
        })
        .await
}

/// One page of payments, newest first.
///
/// # Errors
/// When the database fails.
pub async fn list(state: &State, query: ListQuery) -> Result<Page, db::Error> {
    let span = query.span;
    let filter = Filter {
        listed: Listed::Payments,
        status: query.status.map(PaymentState::as_str),
        method: query.method.map(MethodKind::as_str),
        reference: None,
        from: span.from,
        before: span.before,
    };
    state
        .db
        .read(async move |conn| {
            let place = lists::find_place(conn, &filter, span.offset()).await?;
            let payments = store::list_payments(conn, &filter, &place, span.page_size).await?;
            let count = place.count;
            Ok(Page { count, payments })
        })
        .await
}
