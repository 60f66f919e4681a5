//! The worker of orders: expires orders, cancels their open payments at the provider, and refunds
//! second payments if the shop wants that.

use std::time::Duration;

use db::Timestamp;
use tokio::time::timeout;

use super::cancel_pending;
use crate::attempts::{self, RefundError, RunError};
use crate::idempotency::IdempotencyKey;
use crate::orders::{self, CancelOrderError, Overpayment};
use crate::provider::Purpose;
use crate::state::State;

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
        match cancel_pending(state, &payment, Purpose::Background).await {
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
