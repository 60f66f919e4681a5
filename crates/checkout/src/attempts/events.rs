//! The events of payments, and the change of their order, in the transaction of the change. A payment
//! under review has no event, nor has a state that was only passed through, except the approval. The
//! buyer's receipt is queued with the approval.

use db::{Error, Money, Timestamp, Tx};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::config::Config;
use crate::orders::{self, LockedOrder, PaymentChange};
use crate::payments::{Payment, PaymentBody, PaymentState, Transitions};
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

/// Publishes the events of a payment that was written, and updates its order. The order is paid after
/// the payment's approval, and before money that the provider has given back since.
pub(super) async fn publish_change(
    tx: &mut Tx,
    config: &Config,
    (row, payment): (i64, &Payment),
    (transitions, refunded_before): (&Transitions, Money),
    order: Option<&LockedOrder>,
    now: Timestamp,
) -> Result<(), Error> {
    let reached = (payment.state, payment.refunded);
    let (approval, others) = events(transitions, refunded_before, reached);
    publish_all(tx, config, (row, payment), order, approval, now).await?;
    if let Some(order) = order {
        let change = PaymentChange {
            payment: row,
            state: payment.state,
            transitions,
            date_approved: payment.date_approved.as_deref(),
            refunds_overpayment: config.refund_overpayment,
        };
        orders::follow(tx, order, change, now).await?;
    }
    publish_all(tx, config, (row, payment), order, others, now).await
}

async fn publish_all(
    tx: &mut Tx,
    config: &Config,
    (row, payment): (i64, &Payment),
    order: Option<&LockedOrder>,
    events: impl IntoIterator<Item = EventType>,
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
        // Whoever has the money back gets no receipt.
        if kind == EventType::PaymentApproved && payment.state == PaymentState::Approved {
            receipts::queue(tx, config, (row, payment), order, now).await?;
        }
    }
    Ok(())
}

/// The event of an approval, and the events that come after it: that of another state, and that of a
/// further part that was refunded.
fn events(
    transitions: &Transitions,
    refunded_before: Money,
    (state, refunded): (PaymentState, Money),
) -> (Option<EventType>, impl Iterator<Item = EventType>) {
    let is_approval = transitions
        .iter()
        .any(|transition| transition.to == PaymentState::Approved);
    let is_moved = !transitions.is_empty() && state != PaymentState::Approved;
    // A full refund has the event of its state instead.
    let is_part = refunded > refunded_before && state == PaymentState::Approved;
    let moved = EventType::of_state(state).filter(|_| is_moved);
    let part = is_part.then_some(EventType::PaymentRefunded);
    let approval = is_approval.then_some(EventType::PaymentApproved);
    (approval, moved.into_iter().chain(part))
}

#[cfg(test)]
mod tests {
    use super::PaymentState::{Approved, Pending};
    use super::*;

    #[test]
    fn a_state_is_told_once_and_each_part_that_is_given_back() {
        let money = |cents: &str| Money::parse(cents).unwrap();
        let (none, some, all) = (Money::ZERO, money("3.00"), money("10.00"));
        let types = |before: Option<(PaymentState, Money)>, status, refunded| {
            let (known, refunded_before) = before.unzip();
            let transitions = match known {
                Some(known) => known.apply(status),
                None => PaymentState::first(status),
            };
            let transitions = transitions.unwrap();
            let reached = (PaymentState::from_provider(status).unwrap(), refunded);
            let before = refunded_before.unwrap_or(none);
            let (approval, others) = events(&transitions, before, reached);
            let events = approval.into_iter().chain(others);
            events.map(EventType::name).collect::<Vec<_>>()
        };
        assert_eq!(types(None, "pending", none), ["payment.pending"]);
        assert_eq!(types(None, "in_process", none), [""; 0]);
        assert_eq!(types(None, "approved", none), ["payment.approved"]);
        let pending = Some((Pending, none));
        assert_eq!(types(pending, "pending", none), [""; 0]);
        assert_eq!(types(pending, "approved", none), ["payment.approved"]);
        // The payment was paid and refunded before the provider reported either.
        let both = ["payment.approved", "payment.refunded"];
        for status in ["approved", "refunded"] {
            assert_eq!(types(pending, status, some), both);
        }
        let disputed = types(pending, "charged_back", all);
        assert_eq!(disputed, ["payment.approved", "payment.charged_back"]);
        let approved = Some((Approved, none));
        for (status, refunded) in [("approved", some), ("refunded", all)] {
            assert_eq!(types(approved, status, refunded), ["payment.refunded"]);
        }
        assert_eq!(types(Some((Approved, some)), "approved", some), [""; 0]);
        let disputed = types(approved, "charged_back", all);
        assert_eq!(disputed, ["payment.charged_back"]);
    }
}
