//! When to order and how much: the assumptions about a product's supply, and what follows from them
//! and a forecast.

use serde::{Deserialize, Serialize};

use super::{normal, round_up};

/// What is assumed of a product's supply. No purchase order is recorded anywhere, so it cannot be
/// measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Days from an order to its goods on the shelf, `L`.
    pub lead_time: f64,
    /// The standard deviation of those days, `σL`.
    pub lead_time_deviation: f64,
    /// The share of replenishment cycles without a stock-out that is aimed for, in percent.
    pub service_level: f64,
    /// Days from one look at the shelf to the next, `R`.
    pub review_interval: f64,
    /// Units that can only be ordered together.
    pub pack_multiple: i64,
}

impl Terms {
    /// The factor `z` of the service level.
    pub fn service_factor(&self) -> f64 {
        normal::quantile(self.service_level / 100.0)
    }
}

/// Stock against chance over `days` of demand that varies by `deviation` a day and is `per_day` on
/// average, when the days themselves vary by `days_deviation`: `z · √(L σd² + d² σL²)`, which with
/// constant days is `z · σd · √L`.
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

/// The stock at which to order: `d · L + SS`.
pub fn reorder_point(per_day: f64, days: f64, safety: f64) -> f64 {
    per_day.mul_add(days, safety)
}

/// The stock to order up to: `d · (L + R) + SS(L + R)`; `safety` is that of `days = L + R`.
pub fn order_up_to(per_day: f64, days: f64, safety: f64) -> f64 {
    reorder_point(per_day, days, safety)
}

/// What is missing up to a level, rounded up to whole packs; 0 when nothing is.
pub fn order_quantity(level: f64, quantity: i64, pack: i64) -> i64 {
    let missing = round_up(level).saturating_sub(quantity).max(0);
    let pack = pack.max(1);
    match missing % pack {
        0 => missing,
        odd => missing.saturating_add(pack - odd),
    }
}

/// The quantity that costs least to order and keep: `√(2 D S / H)` of a year's demand, the cost of
/// an order, and of keeping a unit for a year.
pub fn economic_quantity(yearly: f64, order_cost: f64, holding_cost: f64) -> f64 {
    (2.0 * yearly * order_cost / holding_cost).sqrt()
}

/// How many days a quantity lasts; none when nothing is sold.
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
