//! The end of orders that are not paid: canceled by the shop, or expired. An unpaid pix or boleto
//! of it is cancelled at the provider, which may find it paid. Second payments are refunded if the
//! shop wants that.

mod worker;

use crate::attempts::{CancelError, cancel_for};
use crate::orders::{self, CancelOrderError, Obstacle, StoredOrder};
use crate::provider::Purpose;
use crate::state::State;

pub(crate) use worker::run;
pub use worker::run_due;

/// How often a payment that waits for its payer is cancelled, while buyers make new ones.
const CANCELLATIONS_MAX: usize = 3;

/// Cancels the order; one that is canceled stays so.
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

/// Cancels a payment that waits for its payer. If it was paid in the meantime, its order knows by
/// now.
async fn cancel_pending(
    state: &State,
    payment: &str,
    purpose: Purpose,
) -> Result<(), CancelOrderError> {
    match cancel_for(state, payment, purpose).await {
        Ok(_) | Err(CancelError::State | CancelError::NotFound) => Ok(()),
        Err(CancelError::Provider(failure)) => Err(failure.into()),
        Err(CancelError::Database(error)) => Err(error.into()),
    }
}
