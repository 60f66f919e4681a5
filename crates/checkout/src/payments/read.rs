//! Reading and listing payments from the store.

use db::Timestamp;

use super::model::Payment;
use super::state::PaymentState;
use super::store::{self, StoredPayment};
use crate::app::State;
use crate::request::MethodKind;

/// Which payments a list shows, and which page of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListQuery {
    /// Only those in this state.
    pub status: Option<PaymentState>,
    /// Only those of this method.
    pub payment_method: Option<MethodKind>,
    /// Only those made at this moment or later.
    pub created_from: Option<Timestamp>,
    /// Only those made before this moment.
    pub created_before: Option<Timestamp>,
    /// The page, from 1.
    pub page: i64,
    /// How many a page holds.
    pub page_size: i64,
}

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

/// One page of payments, newest first. Two statements, whatever the page.
///
/// # Errors
/// When the database fails.
pub async fn list(state: &State, query: ListQuery) -> Result<Page, db::Error> {
    let filter = store::Filter {
        status: query.status,
        method: query.payment_method,
        from: query.created_from.unwrap_or(EARLIEST),
        before: query.created_before.unwrap_or(LATEST),
    };
    let offset = query.page.saturating_sub(1).saturating_mul(query.page_size);
    state
        .db
        .read(async move |conn| {
            let count = store::count_payments(conn, &filter).await?;
            let payments = store::list_payments(conn, &filter, query.page_size, offset).await?;
            Ok(Page { count, payments })
        })
        .await
}

/// 0001-01-01 and 9999-12-31, in microseconds since 1970: what both engines can hold.
pub(crate) const EARLIEST: Timestamp = Timestamp::from_micros(-62_135_596_800_000_000);
pub(crate) const LATEST: Timestamp = Timestamp::from_micros(253_402_214_400_000_000);
