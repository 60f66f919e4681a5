//! Key figures of a whole shop: ABC classes by turnover, dead stock, overstock.

use db::Money;
use serde::Serialize;

use super::real;

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

    /// The letter of the class.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
        }
    }
}

/// The smallest yearly usage of the classes A and B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AbcThresholds {
    least_a: i128,
    least_b: i128,
}

impl AbcThresholds {
    /// The thresholds for these values of yearly usage; sorts `values`. Products of the same value
    /// share a class, and the greatest is always in A.
    pub fn of(values: &mut [i128]) -> Self {
        values.sort_unstable_by(|left, right| right.cmp(left));
        let total: i128 = values.iter().sum();
        let greatest = values.first().copied().unwrap_or(0);
        let (mut least_a, mut least_b, mut sum) = (greatest, greatest, 0_i128);
        for value in values.iter().take_while(|value| **value > 0) {
            sum += value;
            if sum * 100 <= total * 80 {
                least_a = *value;
            }
            if sum * 100 <= total * 95 {
                least_b = *value;
            }
        }
        Self {
            least_a,
            least_b: least_b.min(least_a),
        }
    }

    /// The class of a product with this yearly usage.
    pub fn class(self, value: i128) -> Abc {
        if value <= 0 {
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
/// stock.
pub fn turnover(usage: Money, opening: Money, closing: Money) -> Option<f64> {
    let average = f64::midpoint(cents(opening), cents(closing));
    (average > 0.0).then(|| cents(usage) / average)
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

/// For ratios only. Amounts are never stored or added up as floats.
#[expect(
    clippy::cast_precision_loss,
    reason = "a ratio of amounts is a statistic"
)]
fn cents(amount: Money) -> f64 {
    amount.cents() as f64
}

#[cfg(test)]
mod tests {
    use super::{
        Abc::{A, B, C, D},
        *,
    };

    #[test]
    fn classes_follow_the_cumulated_share_of_value() {
        let mut values = vec![50, 30, 10, 5, 3, 2, 0];
        let cuts = AbcThresholds::of(&mut values);
        let classes: Vec<Abc> = values.iter().map(|value| cuts.class(*value)).collect();
        assert_eq!(classes, [A, A, B, B, C, C, D]);
    }

    #[test]
    fn the_greatest_is_in_a_even_alone_and_equals_share_their_class() {
        assert_eq!(AbcThresholds::of(&mut [100]).class(100), Abc::A);
        assert_eq!(AbcThresholds::of(&mut [96, 4]).class(4), Abc::C);
        let equal = AbcThresholds::of(&mut [10; 10]);
        assert_eq!(equal.class(10), Abc::A);
        assert_eq!(AbcThresholds::of(&mut []).class(0), Abc::D);
    }

    #[test]
    fn measures_of_stock_are_those_of_the_books() {
        let money = Money::from_cents;
        assert_eq!(turnover(money(1200), money(100), money(500)), Some(4.0));
        assert_eq!(turnover(money(1200), money(0), money(0)), None);
        assert!(is_dead(1, Some(90), 400, 90) && !is_dead(0, Some(90), 400, 90));
        assert!(is_dead(1, None, 200, 90) && !is_dead(1, None, 20, 90));
        assert!(is_slow(Some(181.0), 180) && !is_slow(None, 180));
        assert_eq!((excess(60, 50.3), excess(40, 50.3)), (9, 0));
    }
}
