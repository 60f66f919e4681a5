//! The events of payments, written in the transaction of the change and before the events of the
//! order. A payment under review has no event, nor has a state that was only passed through. The
//! buyer's receipt is queued with the approval.

use db::{Error, Money, Timestamp, Tx};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::config::Config;
use crate::orders::LockedOrder;
use crate::payments::{self, Payment, PaymentBody, PaymentState, StatusSnapshot, StoredPayment};
use crate::receipts;
use crate::webhooks::{EventType, Subject, publish};

/// `data` of an event: the payment as the API shows it.
#[derive(Serialize)]
struct PaymentPayload<'a> {
    #[serde(flatten)]
    payment: PaymentBody<'a>,
    /// The total refunded amount. Present in refund events only.
    #[serde(skip_serializing_if = "Option::is_none")]
    refunded_amount: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<OrderRefBody<'a>>,
}

/// What identifies the order in the event.
#[derive(Serialize)]
struct OrderRefBody<'a> {
    id: &'a str,
    reference: Option<&'a str>,
}

/// Publishes the events of a payment that is recorded for the first time.
pub(super) async fn publish_new(
    tx: &mut Tx,
    config: &Config,
    (row, payment): (i64, &Payment),
    order: Option<&LockedOrder>,
    now: Timestamp,
) -> Result<(), Error> {
    let events = events(None, (payment.state, payment.refunded)).collect();
    publish_all(tx, config, (row, payment), order, events, now).await
}

/// Publishes the events of a stored payment that has changed.
pub(super) async fn publish_change(
    tx: &mut Tx,
    config: &Config,
    stored: &StoredPayment,
    after: &StatusSnapshot,
    order: Option<&LockedOrder>,
    now: Timestamp,
) -> Result<(), Error> {
    let before = Some((stored.snapshot.state, stored.snapshot.refunded));
    let events: Vec<_> = events(before, (after.state, after.refunded)).collect();
    if events.is_empty() {
        return Ok(());
    }
    let payment = payments::find_by_row(tx, stored.row).await?;
    let payment = payment.ok_or_else(|| Error::other("a payment vanished"))?;
    publish_all(tx, config, (stored.row, &payment), order, events, now).await
}

async fn publish_all(
    tx: &mut Tx,
    config: &Config,
    (row, payment): (i64, &Payment),
    order: Option<&LockedOrder>,
    events: Vec<EventType>,
    now: Timestamp,
) -> Result<(), Error> {
    let subject = order.map_or(Subject::Payment(row), |order| Subject::Order(order.row));
    for kind in events {
        let is_refund = kind == EventType::PaymentRefunded;
        let payload = PaymentPayload {
            payment: PaymentBody::new(payment),
            refunded_amount: is_refund.then(|| payment.refunded.to_json()),
            order: order.map(|order| OrderRefBody {
                id: &order.id,
                reference: order.reference.as_deref(),
            }),
        };
        publish(tx, kind, subject, &payload, now).await?;
        if kind == EventType::PaymentApproved {
            receipts::queue(tx, config, (row, payment), order, now).await?;
        }
    }
    Ok(())
}

/// The events of a change from one state and refunded amount to another. The event of the state
/// comes first.
fn events(
    before: Option<(PaymentState, Money)>,
    (state, refunded): (PaymentState, Money),
) -> impl Iterator<Item = EventType> {
    let (known, refunded_before) = before.unzip();
    let is_moved = known != Some(state);
    let is_more = refunded > refunded_before.unwrap_or(Money::ZERO);
    // A full refund has the event of its state instead.
    let is_part = is_more && state == PaymentState::Approved;
    let moved = EventType::of_state(state).filter(|_| is_moved);
    moved
        .into_iter()
        .chain(is_part.then_some(EventType::PaymentRefunded))
}

#[cfg(test)]
mod tests {
    use super::PaymentState::{Approved, ChargedBack, InProcess, Pending, Refunded};
    use super::*;

    #[test]
    fn a_state_is_told_once_and_each_part_that_is_given_back() {
        let money = |cents: &str| Money::parse(cents).unwrap();
        let (none, some, all) = (Money::ZERO, money("3.00"), money("10.00"));
        let types = |before, after| {
            events(before, after)
                .map(EventType::name)
                .collect::<Vec<_>>()
        };
        assert_eq!(types(None, (Pending, none)), ["payment.pending"]);
        assert_eq!(types(None, (InProcess, none)), [""; 0]);
        let pending = Some((Pending, none));
        assert_eq!(types(pending, (Pending, none)), [""; 0]);
        assert_eq!(types(pending, (Approved, none)), ["payment.approved"]);
        // The payment was paid and partly refunded before the provider reported either.
        let both = ["payment.approved", "payment.refunded"];
        assert_eq!(types(pending, (Approved, some)), both);
        let approved = Some((Approved, none));
        assert_eq!(types(approved, (Approved, some)), ["payment.refunded"]);
        assert_eq!(types(approved, (Refunded, all)), ["payment.refunded"]);
        assert_eq!(types(Some((Approved, some)), (Approved, some)), [""; 0]);
        let disputed = types(approved, (ChargedBack, all));
        assert_eq!(disputed, ["payment.charged_back"]);
    }
}
