//! When and how much to order: the supply terms of a product, and the formulas that use them with a
//! forecast.

use serde::{Deserialize, Serialize};

use super::{normal, round_up};

/// Supply terms. They are assumptions: purchase orders are not recorded, so nothing can be
/// measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// The lead time `L`: days from an order to its arrival in stock.
    pub lead_time: f64,
    /// The standard deviation of the lead time `σL`, in days.
    pub lead_time_deviation: f64,
    /// The share of replenishment cycles that should have no stock-out, in percent.
    pub service_level: f64,
    /// The review interval `R`: days between two reviews of the stock.
    pub review_interval: f64,
    /// Units per purchase pack. Orders are multiples of it.
    pub pack_multiple: i64,
}

impl Terms {
    /// The factor `z` for the service level.
    pub fn service_factor(&self) -> f64 {
        normal::quantile(self.service_level / 100.0)
    }
}

/// The safety stock over `days` days: `z · √(L σd² + d² σL²)`. Demand is `per_day` units a day on
/// average, with the standard deviation `deviation`. The number of days has the standard deviation
/// `days_deviation`; if that is 0, the formula is `z · σd · √L`.
pub fn safety_stock(
    factor: f64,
    deviation: f64,
    per_day: f64,
    days: f64,
    days_deviation: f64,
) -> f64 {
    let variance = days.mul_add(deviation.powi(2), (per_day * days_deviation).powi(2));
    factor * variance.sqrt()
}

/// The reorder point: `d · L + SS`.
pub fn reorder_point(per_day: f64, days: f64, safety: f64) -> f64 {
    per_day.mul_add(days, safety)
}

/// The order-up-to level: `d · (L + R) + SS(L + R)`. `days` is `L + R`, and `safety` its safety
/// stock.
pub fn order_up_to(per_day: f64, days: f64, safety: f64) -> f64 {
    reorder_point(per_day, days, safety)
}

/// The units missing to a level, rounded up to whole packs. 0 if none are missing.
pub fn order_quantity(level: f64, quantity: i64, pack: i64) -> i64 {
    let missing = round_up(level).saturating_sub(quantity).max(0);
    let pack = pack.max(1);
    match missing % pack {
        0 => missing,
        odd => missing.saturating_add(pack - odd),
    }
}

/// The economic order quantity `√(2 D S / H)`, from the yearly demand, the cost of an order, and
/// the yearly cost of holding a unit.
pub fn economic_quantity(yearly: f64, order_cost: f64, holding_cost: f64) -> f64 {
    (2.0 * yearly * order_cost / holding_cost).sqrt()
}

/// How many days a quantity lasts. `None` when nothing sells.
pub fn days_of_cover(quantity: i64, per_day: f64) -> Option<f64> {
    (per_day > 0.0).then(|| super::real(quantity) / per_day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_whole_packs() {
        assert_eq!(order_quantity(50.372, 9, 1), 42);
        assert_eq!(order_quantity(50.372, 9, 12), 48);
        assert_eq!(order_quantity(50.0, 2, 12), 48);
        assert_eq!(order_quantity(50.0, 50, 12), 0);
        assert_eq!(order_quantity(50.0, 80, 12), 0);
        assert_eq!(order_quantity(10.5, 0, 0), 11);
        assert_eq!(order_quantity(f64::MAX, 0, 12), i64::MAX);
    }

    #[test]
    fn what_does_not_sell_lasts_for_ever() {
        assert_eq!(days_of_cover(5, 0.0), None);
    }
}
