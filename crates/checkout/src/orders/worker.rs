//! The worker of orders: ends those whose time is over, cancels at the provider what nobody shall pay any more, and gives overpayments
//! back where the shop wants that.

use std::time::Duration;

use db::Timestamp;

use super::change::{self, Change};
use super::model::OrderStatus;
use super::store::{self, Overpayment};
use crate::app::State;
use crate::payments::{self, CancelError, IdempotencyKey, RefundError};
use crate::provider::Purpose;
use crate::request::MethodKind;

/// The longest sleep: what another process left behind is found after it.
const SLEEP_MAX: Duration = Duration::from_secs(60);
/// The shortest: a row that another process holds must not make this one spin.
const SLEEP_MIN: Duration = Duration::from_millis(500);
/// Rows looked at in one step.
const BATCH: i64 = 50;
/// When a payment is looked at again that is to be cancelled.
const CANCEL_AGAIN: Duration = Duration::from_secs(60);
/// When a refund is tried again.
const REFUND_AGAIN: Duration = Duration::from_secs(10 * 60);

/// Works until the service stops.
pub(crate) async fn run(state: State) {
    loop {
        let sleep = match run_due(&state).await {
            Ok(Some(due)) => due.since(state.clock.now()),
            Ok(None) => SLEEP_MAX,
            Err(error) => {
                tracing::warn!(%error, "orders: looking at those that are due failed, retrying in 60 s");
                SLEEP_MAX
            }
        };
        tokio::select! {
            biased;
            () = state.shutdown.begun() => return,
            () = tokio::time::sleep(sleep.clamp(SLEEP_MIN, SLEEP_MAX)) => {}
        }
    }
}

/// Does all that is due, and says when the next is. While there is nothing to do it is one read.
///
/// # Errors
/// When the database fails.
pub async fn run_due(state: &State) -> Result<Option<Timestamp>, db::Error> {
    loop {
        let (now, next) = (state.clock.now(), next_due(state).await?);
        if next.is_none_or(|next| next > now) {
            return Ok(next);
        }
        let due = async move |conn: &mut db::Conn| {
            let orders = store::due(conn, now, BATCH).await?;
            Ok((orders, store::due_overpayments(conn, now, BATCH).await?))
        };
        // Each is put off before anything else is done about it, so that it is not found again.
        let (orders, overpayments) = state.db.read::<_, db::Error, _>(due).await?;
        for row in orders {
            process(state, row).await?;
        }
        for overpayment in overpayments {
            refund_overpayment(state, overpayment).await?;
        }
    }
}

async fn next_due(state: &State) -> Result<Option<Timestamp>, db::Error> {
    state
        .db
        .read(async |conn| {
            let order = store::next_due(conn).await?;
            let overpayment = store::next_overpayment_due(conn).await?;
            Ok([order, overpayment].into_iter().flatten().min())
        })
        .await
}

/// Ends an order whose time is over, and cancels what waits for its payer in vain.
async fn process(state: &State, row: i64) -> Result<(), db::Error> {
    let now = state.clock.now();
    let pending = state
        .db
        .write(async move |tx| {
            let mut order = super::gate::lock(tx, row).await?;
            if order.status == OrderStatus::Open {
                if order.expires_at > now {
                    store::look_at(tx, row, Some(order.expires_at)).await?;
                    return Ok(Vec::new());
                }
                change::apply(tx, &order, Change::Expired, now).await?;
                order.status = OrderStatus::Expired;
            }
            let mut pending = store::pending_of(tx, row).await?;
            // A boleto may have been paid already: banks tell of it days later.
            pending.retain(|(_, method)| {
                order.status != OrderStatus::Expired || *method == MethodKind::Pix
            });
            let again = (!pending.is_empty()).then_some(now + CANCEL_AGAIN);
            store::look_at(tx, row, again).await?;
            Ok::<_, db::Error>(pending)
        })
        .await?;
    state.wake_deliveries();
    for (payment, _) in pending {
        match payments::cancel_for(state, &payment, Purpose::Background).await {
            Ok(_) | Err(CancelError::State | CancelError::NotFound) => {}
            Err(CancelError::Provider(error)) => {
                tracing::info!(payment, %error, "orders: a payment of an order that has ended could not be cancelled, retrying in 60 s");
            }
            Err(CancelError::Database(error)) => return Err(error),
        }
    }
    Ok(())
}

/// Gives an overpayment back. Its key makes a repetition go on with the same refund.
async fn refund_overpayment(state: &State, due: Overpayment) -> Result<(), db::Error> {
    let (row, next) = (due.row, state.clock.now() + REFUND_AGAIN);
    let claim = async move |tx: &mut db::Tx| {
        store::write_refund_at(tx, row, due.refund_at, Some(next)).await
    };
    if !state.db.write(claim).await? {
        return Ok(());
    }
    let payment = due.payment;
    let key = IdempotencyKey::of_overpayment(&payment, &state.config.secret);
    match payments::refund(state, &payment, None, Some(key), state.clock.now()).await {
        Ok(_) => tracing::info!(payment, "orders: an overpayment was given back"),
        // Somebody else gave it back, or its bank has taken it.
        Err(RefundError::State | RefundError::NotFound) => {}
        // Somebody else has asked for it, and may yet be refused.
        Err(RefundError::Amount) => return Ok(()),
        Err(RefundError::Repeated { status, detail }) => tracing::error!(
            payment,
            status,
            detail,
            "orders: the provider refuses to give an overpayment back: do it there by hand"
        ),
        Err(RefundError::Database(error)) => return Err(error),
        Err(error) => {
            tracing::warn!(payment, %error, "orders: an overpayment was not given back yet, retrying in 10 min");
            return Ok(());
        }
    }
    let done = async move |tx: &mut db::Tx| store::write_refund_at(tx, row, next, None).await;
    state.db.write(done).await.map(drop)
}
