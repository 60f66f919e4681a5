//! Exact amounts of money. Arithmetic, reading and writing. How each engine stores them is in
//! `value`.

use std::fmt;

use serde_json::value::RawValue;

/// An exact amount in hundredths of the currency's unit (cents for BRL). Never goes through a
/// float.
///
/// A column of money holds 0.00 to [`Money::MAX`]; totals may be larger (36 digits before the
/// point) and differences may be negative, in Rust and in the results of `money_sum` and
/// `money_times`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(i128);

/// The text is not an amount: digits, at most one point followed by one or two digits, perhaps a
/// sign before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an amount of money with at most two decimals")]
pub struct NotMoney;

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The largest amount that a column holds: 99999999999999999999.99.
    pub const MAX: Self = Self(9_999_999_999_999_999_999_999);

    /// An amount from hundredths.
    pub const fn from_cents(cents: i128) -> Self {
        Self(cents)
    }

    /// The amount in hundredths.
    pub const fn cents(self) -> i128 {
        self.0
    }

    /// Reads plain digits with an optional sign and at most two decimals: `12`, `12.3`, `12.30`,
    /// `-0.05`.
    ///
    /// # Errors
    /// For anything else: exponents, more than two decimals (zeros too), separators, blanks, a bare
    /// point.
    pub fn parse(text: &str) -> Result<Self, NotMoney> {
        let (negative, digits) = match text.as_bytes().first() {
            Some(b'-') => (true, text.get(1..).unwrap_or_default()),
            Some(b'+') => (false, text.get(1..).unwrap_or_default()),
            _ => (false, text),
        };
        let (whole, decimals) = match digits.split_once('.') {
            Some((whole, decimals)) if (1..=2).contains(&decimals.len()) => (whole, decimals),
            Some(_) => return Err(NotMoney),
            None => (digits, ""),
        };
        if whole.is_empty() {
            return Err(NotMoney);
        }
        let places = if decimals.len() == 1 { 10 } else { 1 };
        let hundredths = number(decimals).ok_or(NotMoney)? * places;
        let cents = number(whole)
            .and_then(|whole| whole.checked_mul(100)?.checked_add(hundredths))
            .ok_or(NotMoney)?;
        Ok(Self(if negative { -cents } else { cents }))
    }

    /// The sum, or `None` beyond 36 digits.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The difference, or `None` beyond 36 digits.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// The amount times a whole number (price × quantity), or `None` beyond 36 digits.
    #[must_use]
    pub fn checked_mul(self, factor: i64) -> Option<Self> {
        self.0.checked_mul(i128::from(factor)).map(Self)
    }

    /// A JSON number with two places, every digit written: `12.30`.
    ///
    /// # Panics
    /// Never: what an amount is written as is JSON.
    #[expect(
        clippy::expect_used,
        reason = "digits with a point between them are JSON by its grammar"
    )]
    pub fn to_json(self) -> Box<RawValue> {
        RawValue::from_string(self.to_string()).expect("an amount is a JSON number")
    }
}

/// The number that digits make, if nothing else is among them.
fn number(digits: &str) -> Option<i128> {
    // Nearly every amount fits a narrow number, which is read several times as fast as a wide one.
    let (first, rest) = digits.as_bytes().split_at(digits.len().min(19));
    let mut narrow: u64 = 0;
    for byte in first {
        narrow = narrow * 10 + u64::from(digit(*byte)?);
    }
    rest.iter().try_fold(i128::from(narrow), |number, byte| {
        number.checked_mul(10)?.checked_add(digit(*byte)?.into())
    })
}

fn digit(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte - b'0')
}

impl fmt::Display for Money {
    /// `12.30`, `-0.05`: always two places, no separators.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, cents) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        // Nearly every amount is short, and written several times as fast from a narrow number.
        match u64::try_from(cents) {
            Ok(cents) => write!(formatter, "{sign}{}.{:02}", cents / 100, cents % 100),
            Err(_) => write!(formatter, "{sign}{}.{:02}", cents / 100, cents % 100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_written() {
        let cases = [
            ("0", 0),
            ("12", 1_200),
            ("12.3", 1_230),
            ("+12.30", 1_230),
            ("-0.05", -5),
            ("0007.10", 710),
            ("99999999999999999999.99", Money::MAX.cents()),
        ];
        for (text, cents) in cases {
            assert_eq!(Money::parse(text), Ok(Money::from_cents(cents)), "{text}");
        }
    }

    #[test]
    fn what_is_no_plain_amount_is_refused() {
        let long = "9".repeat(40);
        for text in [
            "", "-", "+", ".", "1.", ".5", "1.234", "1.230", "1e3", "1,00", " 1", "1 ", "--1",
            "1.-1", "1_000", "٣", "NaN", "inf", "1.2.3", &long,
        ] {
            assert_eq!(Money::parse(text), Err(NotMoney), "{text:?}");
        }
    }

    #[test]
    fn amounts_are_written_with_two_places() {
        assert_eq!(Money::from_cents(1_230).to_string(), "12.30");
        assert_eq!(Money::from_cents(-5).to_string(), "-0.05");
        assert_eq!(Money::MAX.to_string(), "99999999999999999999.99");
        assert_eq!(Money::from_cents(7).to_json().get(), "0.07");
        assert_eq!(Money::from_cents(-120).to_json().get(), "-1.20");
    }

    #[test]
    fn arithmetic_says_when_it_does_not_fit() {
        let largest = Money::from_cents(i128::MAX);
        assert_eq!(largest.checked_add(Money::from_cents(1)), None);
        assert_eq!(largest.checked_mul(2), None);
        assert_eq!(
            Money::MAX.checked_mul(1_000),
            Some(Money::from_cents(9_999_999_999_999_999_999_999_000))
        );
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_reads_back(cents in -Money::MAX.cents() * 1_000..Money::MAX.cents() * 1_000) {
            let money = Money::from_cents(cents);
            proptest::prop_assert_eq!(Money::parse(&money.to_string()), Ok(money));
        }
    }
}
