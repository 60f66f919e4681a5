//! Integers beyond 64 bits, for totals of units, and of units times prices in hundredths. A price
//! has up to 22 digits and a quantity 19, so the value of one product can exceed every native
//! integer type. Totals must still be exact.

use std::{
    fmt,
    ops::{Add, AddAssign, Neg, Sub},
};

use db::{Column, Error, Money, Row, Value};

/// 10^18: the two parts are the digits of a number in this base.
const BASE: i128 = 1_000_000_000_000_000_000;
const LOW_DIGITS: usize = 18;

/// An exact integer of up to 56 digits. Stored as decimal text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum {
    /// The multiple of [`BASE`].
    high: i128,
    /// The remainder, 0 to [`BASE`] - 1 also for negative numbers.
    low: i128,
}

impl Sum {
    /// Zero.
    pub const ZERO: Self = Self { high: 0, low: 0 };

    const fn of_parts(high: i128, low: i128) -> Self {
        Self {
            high: high + low.div_euclid(BASE),
            low: low.rem_euclid(BASE),
        }
    }

    /// The value of `units` units at this price, in hundredths. Fits for every price of a column
    /// and every sum of 64-bit numbers of units.
    pub fn worth(price: Money, units: impl Into<i128>) -> Self {
        let (price, units) = (
            Self::of_parts(0, price.cents()),
            Self::of_parts(0, units.into()),
        );
        let crossed = price.high * units.low + price.low * units.high;
        Self::of_parts(
            price.high * units.high * BASE + crossed,
            price.low * units.low,
        )
    }

    /// The number times a small factor.
    #[must_use]
    pub const fn times(self, factor: i64) -> Self {
        Self::of_parts(self.high * factor as i128, self.low * factor as i128)
    }

    /// An amount in hundredths with a point and two decimals: `12.30`.
    pub fn hundredths(self) -> String {
        if self < Self::ZERO {
            return format!("-{}", (-self).hundredths());
        }
        let digits = format!("{:0>3}", self.to_string());
        let (whole, cents) = digits.split_at(digits.len() - 2);
        format!("{whole}.{cents}")
    }

    /// The number, if it fits into an `i128`.
    #[cfg(test)]
    fn to_i128(self) -> Option<i128> {
        self.high.checked_mul(BASE)?.checked_add(self.low)
    }

    /// The nearest float, for charts and percentages.
    #[expect(
        clippy::cast_precision_loss,
        reason = "for pictures and rounded shares only"
    )]
    pub fn approximately(self) -> f64 {
        if self < Self::ZERO {
            return -(-self).approximately();
        }
        self.high as f64 * BASE as f64 + self.low as f64
    }

    /// Parses the output of [`Display`](fmt::Display).
    pub fn parse(text: &str) -> Option<Self> {
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (high, low) = digits.split_at(digits.len().saturating_sub(LOW_DIGITS));
        let high = if high.is_empty() {
            0
        } else {
            high.parse().ok()?
        };
        let sum = Self::of_parts(high, low.parse().ok()?);
        Some(if is_negative { -sum } else { sum })
    }
}

impl From<i64> for Sum {
    fn from(number: i64) -> Self {
        Self::of_parts(0, number.into())
    }
}

impl Add for Sum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::of_parts(self.high + other.high, self.low + other.low)
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Neg for Sum {
    type Output = Self;

    fn neg(self) -> Self {
        Self::of_parts(-self.high, -self.low)
    }
}

impl Sub for Sum {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl std::iter::Sum for Sum {
    fn sum<I: Iterator<Item = Self>>(sums: I) -> Self {
        sums.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Sum {
    /// Writes all digits, with a sign if the number is negative.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self < Self::ZERO {
            return write!(formatter, "-{}", -*self);
        }
        if self.high == 0 {
            write!(formatter, "{}", self.low)
        } else {
            write!(formatter, "{}{:0LOW_DIGITS$}", self.high, self.low)
        }
    }
}

impl Column for Sum {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        let text = String::from_value(value)?;
        Self::parse(&text).ok_or_else(|| Error::other("a total that is not a whole number"))
    }
}

/// SQL: the sum of a column of units in two columns, billions and the rest, for [`summed_units`].
/// An engine's own sum of 64-bit integers may overflow.
macro_rules! sum_of_units {
    ($column:literal) => {
        concat!(
            "CAST(COALESCE(sum(",
            $column,
            " / 1000000000), 0) AS BIGINT) AS billions, CAST(COALESCE(sum(",
            $column,
            " % 1000000000), 0) AS BIGINT) AS rest"
        )
    };
}
pub(crate) use sum_of_units;

/// Reads the two columns of [`sum_of_units`] from this index on.
pub(crate) fn summed_units(row: &Row<'_>, index: usize) -> Result<i128, Error> {
    let (billions, rest): (i64, i64) = (row.get(index)?, row.get(index + 1)?);
    Ok(i128::from(billions) * 1_000_000_000 + i128::from(rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_dearest_product_there_can_be_is_counted_to_the_cent() {
        let one = Sum::worth(Money::MAX, i64::MAX);
        assert_eq!(one.to_string(), "92233720368547758069990776627963145224193");
        assert_eq!(one.to_i128(), None);
        let all: Sum = std::iter::repeat_n(one, 1000).sum();
        assert_eq!(
            all.to_string(),
            "92233720368547758069990776627963145224193000"
        );
        assert_eq!(all - one - one, all + -(one + one));
        assert_eq!(Sum::parse(&(-all).to_string()), Some(-all));
        let units = i128::from(i64::MAX) * 1000;
        assert_eq!(Sum::worth(Money::MAX, units), all);
        assert_eq!(one.times(1000), all);
    }

    #[test]
    fn small_negative_numbers_are_drawn_as_what_they_are() {
        for number in [-100, -1, 0, 1, 100, i64::MIN / 1000] {
            let drawn = Sum::from(number).approximately();
            assert!(
                (drawn - crate::analysis::model::real(number)).abs() < 1.0,
                "{number}: {drawn}"
            );
        }
    }

    #[test]
    fn what_is_no_whole_number_is_not_read() {
        for text in ["", "-", "1.0", "+1", "1e3", " 1", "--1", &"9".repeat(80)] {
            assert_eq!(Sum::parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn it_counts_as_the_machine_does_where_the_machine_can(left in -i128::MAX / 4..i128::MAX / 4, right in -i128::MAX / 4..i128::MAX / 4, shift in 0..120_u32) {
            let sum = |number: i128| Sum::parse(&number.to_string()).unwrap();
            let (left, right) = (left >> shift, right);
            prop_assert_eq!((sum(left) + sum(right)).to_i128(), Some(left + right));
            prop_assert_eq!((sum(left) - sum(right)).to_string(), (left - right).to_string());
            prop_assert_eq!(sum(left).cmp(&sum(right)), left.cmp(&right));
        }

        #[test]
        fn prices_times_units_are_exact(cents in 0..=Money::MAX.cents(), units in -1_000_000_000_i64..1_000_000_000) {
            let worth = Sum::worth(Money::from_cents(cents), units);
            prop_assert_eq!(worth.to_i128(), Some(cents * i128::from(units)));
            prop_assert_eq!(worth.hundredths(), Money::from_cents(cents * i128::from(units)).to_string());
        }
    }
}
