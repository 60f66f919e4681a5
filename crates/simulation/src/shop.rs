//! The shop and the orders it has made.

use std::time::Duration;

use db::Timestamp;
use serde_json::Value;

use crate::dice::Dice;
use crate::faults::Faults;
use crate::provider::member;

/// Whether a shop works with orders, and how. Drawn by dice of its own: a shop without orders is
/// the same whatever they do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shop {
    /// Are some of its purchases orders?
    pub(crate) has_orders: bool,
    /// Are second payments given back by themselves?
    pub(crate) refunds_overpayment: bool,
    /// How long nobody is told that the provider has made a payment, and its search does not show
    /// it: longer than the service waits before it is certain that there is none. Everything that
    /// such a shop sells is an order, since it may be paid twice.
    pub(crate) hides_payments_for: Duration,
}

/// An order that was made.
#[derive(Debug, Clone)]
pub(crate) struct Sale {
    pub(crate) number: usize,
    pub(crate) link: OrderLink,
    pub(crate) ends: Timestamp,
}

/// An order, as its link leads to it.
#[derive(Debug, Clone)]
pub(crate) struct OrderLink {
    pub(crate) id: String,
    pub(crate) path: String,
}

impl Shop {
    pub(crate) fn draw(seed: u64, faults: &Faults) -> Self {
        let dice = Dice::new(!seed);
        let (has_orders, refunds_overpayment) = (dice.happens(400), dice.happens(500));
        // What was hidden is never heard of where the provider tells of nothing.
        let hides_payments = has_orders && !faults.is_silent && dice.happens(200);
        let hidden = Duration::from_secs(if hides_payments { 3 * 3600 } else { 0 });
        Self {
            has_orders,
            refunds_overpayment,
            hides_payments_for: hidden,
        }
    }

    pub(crate) fn hides_payments(&self) -> bool {
        !self.hides_payments_for.is_zero()
    }
}

impl OrderLink {
    /// The link of an order as the service answers it.
    pub(crate) fn of(order: &Value) -> Self {
        let url = text(order, "url");
        let path = url.find("/pay/").and_then(|at| url.get(at..));
        Self {
            id: text(order, "id").to_owned(),
            path: path.unwrap_or_default().to_owned(),
        }
    }
}

/// A member of an order that is text.
pub(crate) fn text<'a>(order: &'a Value, name: &str) -> &'a str {
    member(order, name).as_str().unwrap_or_default()
}
