//! Ends unpaid orders: canceled by the shop, or expired. Their pending pix and boleto payments are
//! cancelled at the provider, which may report that one was paid. Second payments are refunded if
//! the shop wants that.

mod worker;

use crate::attempts::{self, CancelError};
use crate::orders::{self, CancelOrderError, Obstacle, StoredOrder};
use crate::provider::Purpose;
use crate::state::State;

pub(crate) use worker::run;
pub use worker::run_due;

/// How many pending payments are cancelled for one request while buyers create new ones.
const CANCELLATIONS_MAX: usize = 3;

/// Cancels the order. Cancelling a canceled order succeeds and changes nothing.
pub(crate) async fn cancel(state: &State, id: &str) -> Result<StoredOrder, CancelOrderError> {
    for _ in 0..CANCELLATIONS_MAX {
        match orders::try_cancel(&state.db, id, state.clock.now()).await? {
            None => {
                state.wake_deliveries();
                let order = orders::find(&state.db, id).await?;
                return order.ok_or(CancelOrderError::NotFound);
            }
            Some(Obstacle::Pending { payment }) => {
                cancel_pending(state, &payment, Purpose::Buyer).await?;
            }
            Some(obstacle) => return Err(CancelOrderError::Conflict(obstacle.detail())),
        }
    }
    Err(CancelOrderError::Conflict(Obstacle::Confirming.detail()))
}

/// Cancels a pending payment. If the payment was paid in the meantime, its order is paid by now.
async fn cancel_pending(
    state: &State,
    payment: &str,
    purpose: Purpose,
) -> Result<(), CancelOrderError> {
    match attempts::cancel(state, payment, purpose).await {
        Ok(_) | Err(CancelError::State | CancelError::NotFound) => Ok(()),
        Err(CancelError::Provider(failure)) => Err(failure.into()),
        Err(CancelError::Database(error)) => Err(error.into()),
    }
}
