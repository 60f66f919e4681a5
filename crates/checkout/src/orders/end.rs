//! Ends unpaid orders: canceled by the shop, or expired. `closing` cancels their payments.

use db::{Db, Error, Timestamp, Tx};

use super::change::{self, Change};
use super::gate::{self, Obstacle};
use super::model::OrderStatus;
use super::store::{self, LockedOrder};
use crate::provider::Failure;
use crate::request::MethodKind;

/// Why an order is not canceled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CancelOrderError {
    #[error("there is no such order")]
    NotFound,
    /// The order has ended in another way, or a payment may be about to end it.
    #[error("{0}")]
    Conflict(&'static str),
    #[error(transparent)]
    Provider(#[from] Failure),
    #[error(transparent)]
    Database(#[from] Error),
}

/// Cancels the order, or returns the obstacle. Cancelling a canceled order succeeds.
pub(crate) async fn try_cancel(
    db: &Db,
    id: &str,
    now: Timestamp,
) -> Result<Option<Obstacle>, CancelOrderError> {
    let id = id.to_owned();
    db.write(async move |tx| {
        let order = store::lock_by_id(tx, &id).await?;
        let order = order.ok_or(CancelOrderError::NotFound)?;
        Ok(cancel_locked(tx, &order, now).await?)
    })
    .await
}

/// Same as [`try_cancel`], for a locked order.
pub(crate) async fn cancel_locked(
    tx: &mut Tx,
    order: &LockedOrder,
    now: Timestamp,
) -> Result<Option<Obstacle>, Error> {
    if order.status == OrderStatus::Canceled {
        return Ok(None);
    }
    let obstacle = gate::obstacle(tx, order, None, now).await?;
    if obstacle.is_none() {
        change::apply(tx, order, Change::Canceled, now).await?;
    }
    Ok(obstacle)
}

/// Ends the order in a row if it has expired. Returns the provider's ids of payments that must be
/// cancelled. While there are any, the order is due again at `again`.
pub(crate) async fn expire(
    db: &Db,
    row: i64,
    again: Timestamp,
    now: Timestamp,
) -> Result<Vec<String>, Error> {
    db.write(async move |tx| {
        let mut order = gate::lock(tx, row).await?;
        if order.status == OrderStatus::Open {
            if order.expires_at > now {
                store::write_due_at(tx, row, Some(order.expires_at)).await?;
                return Ok(Vec::new());
            }
            change::apply(tx, &order, Change::Expired, now).await?;
            order.status = OrderStatus::Expired;
        }
        let pending = store::pending_of(tx, row).await?.into_iter();
        // A boleto may have been paid before the expiry: banks report it days later.
        let unwanted = pending.filter(|(_, method)| {
            order.status != OrderStatus::Expired || *method != MethodKind::Boleto
        });
        let unwanted: Vec<_> = unwanted.map(|(payment, _)| payment).collect();
        let due_at = (!unwanted.is_empty()).then_some(again);
        store::write_due_at(tx, row, due_at).await?;
        Ok(unwanted)
    })
    .await
}

/// When the next order or the next refund of an overpayment is due.
pub(crate) async fn next_due(db: &Db) -> Result<Option<Timestamp>, Error> {
    db.read(async |conn| {
        let order = store::next_due(conn).await?;
        let overpayment = store::next_overpayment_due(conn).await?;
        Ok([order, overpayment].into_iter().flatten().min())
    })
    .await
}

/// The rows of orders, and the overpayments, that are due by `now`.
pub(crate) async fn due(
    db: &Db,
    now: Timestamp,
    limit: i64,
) -> Result<(Vec<i64>, Vec<store::Overpayment>), Error> {
    db.read(async move |conn| {
        let orders = store::due(conn, now, limit).await?;
        Ok((orders, store::due_overpayments(conn, now, limit).await?))
    })
    .await
}

/// Claims the refund of an overpayment, seen due at `seen`, by moving its due time. Returns false
/// if another process did.
pub(crate) async fn postpone_refund(
    db: &Db,
    payment: i64,
    seen: Timestamp,
    next: Option<Timestamp>,
) -> Result<bool, Error> {
    db.write(async move |tx| store::write_refund_at(tx, payment, seen, next).await)
        .await
}
