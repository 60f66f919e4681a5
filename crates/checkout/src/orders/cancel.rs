//! Cancelling an order. A pix or a boleto that waits for its payer is cancelled at the provider first: it may turn out to be paid.

use super::change::{self, Change};
use super::gate::{self, Obstacle};
use super::model::OrderStatus;
use super::read::{self, StoredOrder};
use super::store;
use crate::app::State;
use crate::payments::{self, CancelError};
use crate::provider::{Failure, Purpose};

/// How often a payment that waits for its payer is cancelled, while buyers make new ones.
const CANCELLATIONS_MAX: usize = 3;

/// Why an order is not canceled.
#[derive(Debug, thiserror::Error)]
pub enum CancelOrderError {
    /// There is no such order.
    #[error("there is no such order")]
    NotFound,
    /// It has ended otherwise, or perhaps has.
    #[error("{0}")]
    Conflict(&'static str),
    /// The provider failed.
    #[error(transparent)]
    Provider(#[from] Failure),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Cancels the order; one that is canceled stays so.
///
/// # Errors
/// See [`CancelOrderError`].
pub async fn cancel(state: &State, id: &str) -> Result<StoredOrder, CancelOrderError> {
    for _ in 0..CANCELLATIONS_MAX {
        match try_cancel(state, id).await? {
            None => {
                state.wake_deliveries();
                let order = read::find(state, id).await?;
                return order.ok_or(CancelOrderError::NotFound);
            }
            Some(Obstacle::Pending { payment }) => {
                match payments::cancel_for(state, &payment, Purpose::Buyer).await {
                    // It may have been paid in the meantime: the order knows by now.
                    Ok(_) | Err(CancelError::State | CancelError::NotFound) => {}
                    Err(CancelError::Provider(failure)) => return Err(failure.into()),
                    Err(CancelError::Database(error)) => return Err(error.into()),
                }
            }
            Some(obstacle) => return Err(CancelOrderError::Conflict(obstacle.detail())),
        }
    }
    Err(CancelOrderError::Conflict(Obstacle::Confirming.detail()))
}

/// Cancels it if nothing is in the way.
async fn try_cancel(state: &State, id: &str) -> Result<Option<Obstacle>, CancelOrderError> {
    let (id, now) = (id.to_owned(), state.clock.now());
    state
        .db
        .write(async move |tx| {
            let order = store::lock_by_id(tx, &id).await?;
            let order = order.ok_or(CancelOrderError::NotFound)?;
            if order.status == OrderStatus::Canceled {
                return Ok(None);
            }
            let obstacle = gate::obstacle(tx, &order, None, now).await?;
            if obstacle.is_none() {
                change::apply(tx, &order, Change::Canceled, now).await?;
            }
            Ok(obstacle)
        })
        .await
}
