//! Ends unpaid orders: canceled by the shop, or expired. Their pending payments are cancelled at
//! the provider, which may report that one was paid. Second payments are refunded if the shop wants
//! that.

use std::time::Duration;

use db::Timestamp;
use tokio::time::timeout;

use crate::attempts::{self, CancelError, RefundError, RunError};
use crate::idempotency::IdempotencyKey;
use crate::orders::{self, CancelOrderError, Obstacle, Order, Overpayment};
use crate::payments::Source;
use crate::provider::Purpose;
use crate::state::State;

/// How many pending payments are cancelled for one request while buyers create new ones.
const CANCELLATIONS_MAX: usize = 3;
/// The longest sleep. Work that another process leaves behind is found after it.
const SLEEP_MAX: Duration = Duration::from_secs(60);
/// The shortest sleep. Otherwise a row that another process has claimed would make this one spin.
const SLEEP_MIN: Duration = Duration::from_millis(500);
/// Rows of one batch.
const BATCH: i64 = 50;
/// How long until a failed cancellation is tried again.
const CANCEL_AGAIN: Duration = Duration::from_secs(60);
/// How long until a failed refund is tried again.
const REFUND_AGAIN: Duration = Duration::from_secs(10 * 60);

/// Cancels the order. Cancelling a canceled order succeeds and changes nothing.
pub(crate) async fn cancel(state: &State, id: &str) -> Result<Order, CancelOrderError> {
    for _ in 0..CANCELLATIONS_MAX {
        match orders::try_cancel(&state.db, id, state.clock.now()).await? {
            None => {
                state.wake_deliveries();
                let order = orders::find(&state.db, id).await?;
                return order.ok_or(CancelOrderError::NotFound);
            }
            Some(Obstacle::Pending { payment, .. }) => {
                let source = Source::OrderCancellation;
                cancel_pending(state, &payment, Purpose::Buyer, source).await?;
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
    source: Source,
) -> Result<(), CancelOrderError> {
    match attempts::cancel(state, payment, purpose, source).await {
        Ok(_) | Err(CancelError::State | CancelError::NotFound) => Ok(()),
        Err(CancelError::Provider(failure)) => Err(failure.into()),
        Err(CancelError::Database(error)) => Err(error.into()),
    }
}

/// Runs the worker until the service stops.
pub(crate) async fn run(state: State) {
    loop {
        let sleep = match run_due(&state).await {
            Ok(Some(due)) => due.since(state.clock.now()),
            Ok(None) => SLEEP_MAX,
            Err(error) => {
                tracing::warn!(%error, "orders: a database error interrupted the worker of expiries and refunds, retrying in 60 s");
                SLEEP_MAX
            }
        };
        let sleep = sleep.clamp(SLEEP_MIN, SLEEP_MAX);
        if timeout(sleep, state.shutdown.begun()).await.is_ok() {
            return;
        }
    }
}

/// Handles everything that is due, and returns when the next row is due. Without due rows it costs
/// one read.
pub async fn run_due(state: &State) -> Result<Option<Timestamp>, db::Error> {
    loop {
        let (now, next) = (state.clock.now(), orders::next_due(&state.db).await?);
        if next.is_none_or(|next| next > now) {
            return Ok(next);
        }
        // Each row is claimed by moving its due time before anything else is done, so it is not
        // found again.
        let (orders, overpayments) = orders::due(&state.db, now, BATCH).await?;
        for row in orders {
            expire(state, row).await?;
        }
        for overpayment in overpayments {
            refund_overpayment(state, overpayment).await?;
        }
    }
}

/// Ends an expired order, and cancels those of its payments that must no longer be paid.
async fn expire(state: &State, row: i64) -> Result<(), db::Error> {
    let now = state.clock.now();
    let unwanted = orders::expire(&state.db, row, now + CANCEL_AGAIN, now).await?;
    state.wake_deliveries();
    for payment in unwanted {
        let (purpose, source) = (Purpose::Background, Source::Cancellation);
        match cancel_pending(state, &payment, purpose, source).await {
            Ok(()) => {}
            Err(CancelOrderError::Database(error)) => return Err(error),
            Err(error) => {
                tracing::info!(payment, %error, "orders: cancelling a payment of an order that has ended failed, retrying in 60 s");
            }
        }
    }
    Ok(())
}

/// Refunds an overpayment. The idempotency key makes a retry go on with the same refund.
async fn refund_overpayment(state: &State, due: Overpayment) -> Result<(), db::Error> {
    let (db, row, next) = (&state.db, due.row, state.clock.now() + REFUND_AGAIN);
    if !orders::postpone_refund(db, row, due.refund_at, Some(next)).await? {
        return Ok(());
    }
    let payment = due.payment;
    let key = IdempotencyKey::of_overpayment(&payment, &state.config.secret);
    match attempts::refund(state, &payment, None, Some(key), state.clock.now()).await {
        Ok(refund) if refund.is_refused() => tracing::error!(
            payment,
            "orders: the provider refused to refund an overpayment: refund it there by hand"
        ),
        // The provider may still refuse it, so its refund is looked at again.
        Ok(refund) if refund.is_open() => return Ok(()),
        Ok(_) => tracing::info!(payment, "orders: an overpayment was refunded"),
        // The payment was refunded in another way, or charged back.
        Err(RefundError::State | RefundError::NotFound) => {}
        // Another refund of the payment is unfinished and may still be refused, so this one is
        // tried again.
        Err(RefundError::Amount) => return Ok(()),
        Err(RefundError::Run(RunError::Repeated { status, detail })) => tracing::error!(
            payment,
            status,
            detail,
            "orders: the provider refused to refund an overpayment: refund it there by hand"
        ),
        Err(RefundError::Database(error)) => return Err(error),
        Err(error) => {
            tracing::warn!(payment, %error, "orders: refunding an overpayment failed, retrying in 10 min");
            return Ok(());
        }
    }
    orders::postpone_refund(db, row, next, None).await.map(drop)
}
