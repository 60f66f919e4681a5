//! Invariants of order events: each end and each overpayment is published once, after the event of
//! its payment.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::provider::member;
use crate::world::World;

/// An event about an order or one of its payments.
pub(super) struct Event {
    kind: String,
    /// The payment that it is about, if any.
    payment: Option<u64>,
}

/// The facts that an order's events are checked against.
pub(super) struct OrderFacts<'a> {
    pub(super) name: &'a str,
    pub(super) status: &'a str,
    pub(super) paid_by: Option<u64>,
    pub(super) overpayments: BTreeSet<u64>,
}

/// Checks the events of an order, which are given in order.
pub(super) fn check(world: &World, order: &OrderFacts<'_>, events: &[Event]) {
    let ends: Vec<&Event> = events
        .iter()
        .filter(|event| event.kind.starts_with("order.") && event.kind != "order.overpaid")
        .collect();
    let kinds: Vec<&str> = ends.iter().map(|event| event.kind.as_str()).collect();
    let is_told = match order.status {
        "paid" => matches!(*kinds, ["order.paid"] | ["order.expired", "order.paid"]),
        "canceled" => *kinds == ["order.canceled"],
        "expired" => *kinds == ["order.expired"],
        _ => kinds.is_empty(),
    };
    // A payment may become known after the order's end, but no order expires after it was paid.
    if !is_told {
        world.violated(format!(
            "{} is {}, and has the events {kinds:?}",
            order.name, order.status
        ));
    }
    let overpaid: Vec<u64> = events
        .iter()
        .filter(|event| event.kind == "order.overpaid")
        .filter_map(|event| event.payment)
        .collect();
    let overpaid_once: BTreeSet<u64> = overpaid.iter().copied().collect();
    if overpaid_once != order.overpayments || overpaid.len() != overpaid_once.len() {
        world.violated(format!(
            "{} is overpaid by {:?}, and told so of {overpaid:?}",
            order.name, order.overpayments
        ));
    }
    if !is_payment_told_first(order, events) {
        world.violated(format!(
            "{} was told to be paid before its payment was",
            order.name
        ));
    }
}

/// Whether the approval of the payment that paid the order comes first.
fn is_payment_told_first(order: &OrderFacts<'_>, events: &[Event]) -> bool {
    let mut before = events.iter().take_while(|event| event.kind != "order.paid");
    order.paid_by.is_none()
        || before.any(|event| event.payment == order.paid_by && event.kind == "payment.approved")
}

impl Event {
    /// Parses an event of the outbox.
    pub(super) fn read(kind: String, payload: &str) -> Self {
        let payload: Value = serde_json::from_str(payload).unwrap_or_default();
        let data = member(&payload, "data");
        let payment = match kind.strip_prefix("payment.") {
            Some(_) => data,
            None => member(data, "payment"),
        };
        let id = member(payment, "id").as_str();
        Self {
            kind,
            payment: id.and_then(|id| id.parse().ok()),
        }
    }
}
