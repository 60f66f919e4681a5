//! Changes of an order, in the transaction that stores their cause: a payment's new state, a
//! cancellation, or the expiry.

use db::{Timestamp, Tx};

use super::events;
use super::model::OrderStatus;
use super::store::{self, LockedOrder, OrderEnd};
use crate::payments::{PaymentState, Transition, Transitions, approved_at};
use crate::webhooks::EventType;

/// A change of an order's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Paid {
        /// The payment's row.
        by: i64,
        /// Whether the buyer paid after the order's expiry.
        is_late: bool,
    },
    Canceled,
    Expired,
    /// A payment was approved for an order that needs none. It is refunded from `refund_at` on.
    /// Without `refund_at` the shop must decide.
    Overpaid {
        /// The payment's row.
        by: i64,
        refund_at: Option<Timestamp>,
    },
}

/// A change of a payment of an order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PaymentChange<'a> {
    /// The payment's row.
    pub(crate) payment: i64,
    pub(crate) state: PaymentState,
    /// The transitions that led to this state.
    pub(crate) transitions: &'a Transitions,
    /// When it was approved, as the provider sent it.
    pub(crate) date_approved: Option<&'a str>,
    /// Whether second payments are refunded automatically.
    pub(crate) refunds_overpayment: bool,
}

/// Changes an order that this transaction has locked, and publishes the event. Nothing else writes
/// an order's status. The caller must call `State::wake_deliveries` after the commit.
pub(super) async fn apply(
    tx: &mut Tx,
    order: &LockedOrder,
    change: Change,
    now: Timestamp,
) -> Result<(), db::Error> {
    let (status, kind, paid) = match change {
        Change::Paid { by, is_late } => {
            let paid = Some((by, is_late));
            (OrderStatus::Paid, EventType::OrderPaid, paid)
        }
        Change::Canceled => (OrderStatus::Canceled, EventType::OrderCanceled, None),
        Change::Expired => (OrderStatus::Expired, EventType::OrderExpired, None),
        Change::Overpaid { by, refund_at } => {
            if store::insert_overpayment(tx, by, order.row, refund_at, now).await? {
                events::publish_overpayment(tx, order.row, by, now).await?;
                tracing::warn!(
                    order = order.id,
                    status = order.status.name(),
                    is_refunded = refund_at.is_some(),
                    "orders: a payment was approved that its order does not need; unless is_refunded is true, decide whether to refund it: look at the order's payments"
                );
            }
            return Ok(());
        }
    };
    // Pending payments are cancelled at the provider later, outside of any transaction.
    let pending = store::pending_of(tx, order.row).await?;
    let end = OrderEnd {
        status,
        paid,
        due_at: (!pending.is_empty()).then_some(now),
        now,
    };
    store::write_end(tx, order.row, &end).await?;
    let is_late = paid.is_some_and(|(_, is_late)| is_late);
    events::publish_end(tx, order.row, kind, is_late, now).await
}

/// Updates a locked order after a change of one of its payments, in the same transaction.
pub(crate) async fn follow(
    tx: &mut Tx,
    order: &LockedOrder,
    payment: PaymentChange<'_>,
    now: Timestamp,
) -> Result<(), db::Error> {
    let is_approval = |transition: &Transition| transition.to == PaymentState::Approved;
    // The order shows its payments and what was refunded of them.
    store::touch(tx, order.row, now).await?;
    if payment.transitions.iter().any(is_approval) {
        return apply(tx, order, approval(order, payment, now), now).await;
    }
    let is_new = !payment.transitions.is_empty();
    if is_new && payment.state == PaymentState::Pending && order.status != OrderStatus::Open {
        // The payment was made after the order had ended, so it must be cancelled.
        store::write_due_at(tx, order.row, Some(now)).await?;
    }
    Ok(())
}

/// Handles the approval of a payment that is cancelled here. The payment's state stays, and the
/// shop must look at it.
pub(crate) async fn follow_refused_approval(
    tx: &mut Tx,
    payment: i64,
    now: Timestamp,
) -> Result<(), db::Error> {
    let Some(order) = store::lock_of_payment(tx, payment).await? else {
        return Ok(());
    };
    let change = Change::Overpaid {
        by: payment,
        refund_at: None,
    };
    apply(tx, &order, change, now).await
}

/// The effect of an approval on an order.
fn approval(order: &LockedOrder, payment: PaymentChange<'_>, now: Timestamp) -> Change {
    let by = payment.payment;
    match order.status {
        // The report may come long after the buyer paid, so the provider's time counts.
        OrderStatus::Open | OrderStatus::Expired => Change::Paid {
            by,
            is_late: order.expires_at <= approved_at(payment.date_approved, now),
        },
        // No automatic refund: the shop decides whether the buyer still gets the goods.
        OrderStatus::Canceled => Change::Overpaid {
            by,
            refund_at: None,
        },
        OrderStatus::Paid => Change::Overpaid {
            by,
            refund_at: payment.refunds_overpayment.then_some(now),
        },
    }
}
