//! The shop and the orders it has made.

use std::time::Duration;

use db::Timestamp;
use serde_json::Value;

use crate::dice::Dice;
use crate::faults::Faults;
use crate::provider::member;

/// Whether and how a shop works with orders. It has its own random sequence, so that shops without
/// orders stay the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shop {
    /// Whether some purchases are orders.
    pub(crate) has_orders: bool,
    /// Whether second payments are refunded automatically.
    pub(crate) refunds_overpayment: bool,
    /// How long the provider neither notifies of a new payment nor shows it in its search. Longer
    /// than the service waits before it counts an attempt as failed. Such a shop sells only orders,
    /// since they may be paid twice.
    pub(crate) hides_payments_for: Duration,
}

/// A created order.
#[derive(Debug, Clone)]
pub(crate) struct Sale {
    pub(crate) number: usize,
    pub(crate) link: OrderLink,
    pub(crate) ends: Timestamp,
}

/// The link to an order's page.
#[derive(Debug, Clone)]
pub(crate) struct OrderLink {
    pub(crate) id: String,
    pub(crate) path: String,
}

impl Shop {
    pub(crate) fn draw(seed: u64, faults: &Faults) -> Self {
        let dice = Dice::new(!seed);
        let (has_orders, refunds_overpayment) = (dice.happens(400), dice.happens(500));
        // Without notifications, the service would never learn of hidden payments.
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
    /// The link in the service's response.
    pub(crate) fn of(order: &Value) -> Self {
        let url = text(order, "url");
        let path = url.find("/pay/").and_then(|at| url.get(at..));
        Self {
            id: text(order, "id").to_owned(),
            path: path.unwrap_or_default().to_owned(),
        }
    }
}

/// A text member of an order.
pub(crate) fn text<'a>(order: &'a Value, name: &str) -> &'a str {
    member(order, name).as_str().unwrap_or_default()
}
