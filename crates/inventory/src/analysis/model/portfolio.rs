//! Key figures of a whole shop: ABC classes by turnover, dead stock, overstock.

use serde::Serialize;

use super::real;
use crate::aggregates::Sum;

/// The ABC class of a product, by its share of the yearly usage at cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Abc {
    /// The products that make up the first 80 % of the usage.
    A,
    /// The products from there up to 95 %.
    B,
    /// The rest of the products with usage.
    C,
    /// The products without usage.
    D,
}

impl Abc {
    /// All classes.
    pub const ALL: [Self; 4] = [Self::A, Self::B, Self::C, Self::D];
}

/// The smallest yearly usage of the classes A and B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AbcThresholds {
    least_a: Sum,
    least_b: Sum,
}

impl AbcThresholds {
    /// The thresholds for these values of yearly usage; sorts `values`. Products of the same value
    /// share a class, and the greatest is always in A.
    pub fn of(values: &mut [Sum]) -> Self {
        values.sort_unstable_by(|left, right| right.cmp(left));
        let total: Sum = values.iter().copied().sum();
        let greatest = values.first().copied().unwrap_or_default();
        let (mut least_a, mut least_b, mut sum) = (greatest, greatest, Sum::ZERO);
        for value in values.iter().take_while(|value| **value > Sum::ZERO) {
            sum += *value;
            if sum.times(5) <= total.times(4) {
                least_a = *value;
            }
            if sum.times(20) <= total.times(19) {
                least_b = *value;
            }
        }
        Self {
            least_a,
            least_b: least_b.min(least_a),
        }
    }

    /// The class of a product with this yearly usage.
    pub fn class(self, value: Sum) -> Abc {
        if value <= Sum::ZERO {
            Abc::D
        } else if value >= self.least_a {
            Abc::A
        } else if value >= self.least_b {
            Abc::B
        } else {
            Abc::C
        }
    }
}

/// The inventory turnover of a year: usage at cost over the average stock at cost. `None` without
/// stock a year ago, as in a shop's first year: half of today's would be no average.
pub fn turnover(usage: Sum, opening: Sum, closing: Sum) -> Option<f64> {
    let average = (opening + closing).approximately() / 2.0;
    (opening > Sum::ZERO).then(|| usage.approximately() / average)
}

/// Whether stock is dead: there is some, and nothing went out for `limit` days. For a product
/// without outflows its age counts.
pub fn is_dead(quantity: i64, days_since_outflow: Option<i64>, age: i64, limit: i64) -> bool {
    quantity > 0 && days_since_outflow.unwrap_or(age) >= limit
}

/// Whether the stock lasts longer than `limit` days.
pub fn is_slow(days_of_cover: Option<f64>, limit: i64) -> bool {
    days_of_cover.is_some_and(|days| days > real(limit))
}

/// Units above the order-up-to level.
pub fn excess(quantity: i64, order_up_to: f64) -> i64 {
    quantity.saturating_sub(super::round_up(order_up_to)).max(0)
}

#[cfg(test)]
mod tests {
    use super::{
        Abc::{A, B, C, D},
        *,
    };

    #[test]
    fn classes_follow_the_cumulated_share_of_value() {
        let mut values = [50, 30, 10, 5, 3, 2, 0].map(Sum::from);
        let cuts = AbcThresholds::of(&mut values);
        let classes: Vec<Abc> = values.iter().map(|value| cuts.class(*value)).collect();
        assert_eq!(classes, [A, A, B, B, C, C, D]);
    }

    #[test]
    fn the_greatest_is_in_a_even_alone_and_equals_share_their_class() {
        let class = |values: &[i64], value: Sum| {
            let mut values: Vec<Sum> = values.iter().copied().map(Sum::from).collect();
            AbcThresholds::of(&mut values).class(value)
        };
        assert_eq!(class(&[100], 100.into()), Abc::A);
        assert_eq!(class(&[96, 4], 4.into()), Abc::C);
        assert_eq!(class(&[10; 10], 10.into()), Abc::A);
        assert_eq!(class(&[], Sum::ZERO), Abc::D);
    }

    #[test]
    fn measures_of_stock_are_those_of_the_books() {
        let money = Sum::from;
        assert_eq!(turnover(money(1200), money(100), money(500)), Some(4.0));
        assert_eq!(turnover(money(1200), money(0), money(500)), None);
        assert!(is_dead(1, Some(90), 400, 90) && !is_dead(0, Some(90), 400, 90));
        assert!(is_dead(1, None, 200, 90) && !is_dead(1, None, 20, 90));
        assert!(is_slow(Some(181.0), 180) && !is_slow(None, 180));
        assert_eq!((excess(60, 50.3), excess(40, 50.3)), (9, 0));
    }
}
