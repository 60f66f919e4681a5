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

impl Default for Terms {
    /// The terms of a shop that has set none.
    fn default() -> Self {
        Self {
            lead_time: 7.0,
            lead_time_deviation: 0.0,
            service_level: 95.0,
            review_interval: 7.0,
            pack_multiple: 1,
        }
    }
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

/// The stock that lasts `days` days: `d · L + SS` for the lead time is the reorder point, and
/// `d · (L + R) + SS(L + R)` for lead time and review interval is the order-up-to level.
pub fn level(per_day: f64, days: f64, safety: f64) -> f64 {
    per_day.mul_add(days, safety)
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
