//! Parses amounts as exact decimals, never as floats.

use std::borrow::Cow;

use db::Money;

use super::Refusal;
use crate::json::Value;

/// The most digits of an amount in hundredths: 999,999,999,999.99 reais.
const MAX_DIGITS: usize = 14;
/// The same limit as an amount.
pub(crate) const MAX_AMOUNT: Money = Money::from_cents(99_999_999_999_999);
/// The same limit as a float, for the OpenAPI document.
pub(crate) const MAX: f64 = 999_999_999_999.99;

/// The amount in `field`, more than zero.
///
/// Every JSON number is accepted, `1e2` included, which is 100 without decimals. Decimals are
/// counted as written (digits after the point, minus the exponent), so `10.500` and `1000e-3` have
/// three and are refused.
pub(crate) fn positive(value: Value<'_>, field: &'static str) -> Result<Money, Refusal> {
    match read(value) {
        Some(Amount::Positive(money)) => Ok(money),
        Some(Amount::Zero | Amount::Negative) => Err(Refusal::amount_not_positive(field)),
        None => Err(Refusal::invalid_amount(field)),
    }
}

/// The price in `field`, zero or more.
pub(crate) fn price(value: Value<'_>, field: Cow<'static, str>) -> Result<Money, Refusal> {
    match read(value) {
        Some(Amount::Positive(money)) => Ok(money),
        Some(Amount::Zero) => Ok(Money::ZERO),
        Some(Amount::Negative) | None => Err(Refusal::invalid_amount(field)),
    }
}

/// The amount of a refund, more than zero.
pub(super) fn refund_amount(value: Value<'_>) -> Result<Money, Refusal> {
    match read(value) {
        Some(Amount::Positive(money)) => Ok(money),
        _ => Err(Refusal::invalid_amount("amount")),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Amount {
    Positive(Money),
    Zero,
    Negative,
}

fn read(value: Value<'_>) -> Option<Amount> {
    let Value::Number(source) = value else {
        return None;
    };
    let number = Number::of(source);
    if number.decimals() > 2 {
        return None;
    }
    if number.digits().all(|digit| digit == '0') {
        return Some(Amount::Zero);
    }
    if number.negative {
        return Some(Amount::Negative);
    }
    number
        .hundredths()
        .map(|cents| Amount::Positive(Money::from_cents(cents)))
}

/// The parts of a JSON number. Nothing is computed with the exponent before it is known to be
/// small, so `1e999999999` costs no more than `1`.
struct Number<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: i64,
}

impl<'a> Number<'a> {
    /// Splits a number that the JSON parser has accepted.
    fn of(source: &'a str) -> Self {
        let (mantissa, exponent) = source.split_once(['e', 'E']).unwrap_or((source, "0"));
        let digits = mantissa.trim_start_matches('-');
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        Self {
            negative: source.starts_with('-'),
            whole,
            fraction,
            exponent: clamped(exponent),
        }
    }

    /// The number of decimals after applying the exponent. Negative if zeros follow the written
    /// digits.
    fn decimals(&self) -> i64 {
        let written = i64::try_from(self.fraction.len()).unwrap_or(i64::MAX);
        written.saturating_sub(self.exponent)
    }

    fn digits(&self) -> impl Iterator<Item = char> {
        self.whole.chars().chain(self.fraction.chars())
    }

    /// The value in hundredths. `None` above the largest amount. Expects at most two decimals.
    fn hundredths(&self) -> Option<i128> {
        let zeros = usize::try_from(2_i64.checked_sub(self.decimals())?).ok()?;
        let significant = self.digits().skip_while(|digit| *digit == '0').count();
        if significant.checked_add(zeros)? > MAX_DIGITS {
            return None;
        }
        let digits: String = self
            .digits()
            .chain(std::iter::repeat_n('0', zeros))
            .collect();
        digits.trim_start_matches('0').parse().ok()
    }
}

/// Parses an exponent, limited to a range that no valid amount reaches.
fn clamped(exponent: &str) -> i64 {
    let limit = if exponent.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    };
    exponent.parse().unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn transaction_amount(value: Value<'_>) -> Result<Money, Refusal> {
        positive(value, "transaction_amount")
    }

    fn detail(source: &str) -> String {
        transaction_amount(Value::Number(source))
            .unwrap_err()
            .detail
            .into_owned()
    }

    #[test]
    fn the_largest_amount_is_the_one_that_the_document_names() {
        let largest = transaction_amount(Value::Number("999999999999.99")).unwrap();
        assert_eq!(largest.to_string(), MAX.to_string());
        let more = transaction_amount(Value::Number("1000000000000.00"));
        assert_eq!(more, Err(Refusal::invalid_amount("transaction_amount")));
    }

    #[test]
    fn amounts_are_read_exactly() {
        for (source, cents) in [
            ("1", 100),
            ("0.01", 1),
            ("0.1", 10),
            ("100.00", 10_000),
            ("1e2", 10_000),
            ("1E+2", 10_000),
            ("1.5e1", 1_500),
            ("1e-2", 1),
            ("1.25e0", 125),
            ("99.99", 9_999),
            ("999999999999.99", 99_999_999_999_999),
            ("0.29", 29),
            ("4.35", 435),
        ] {
            assert_eq!(
                transaction_amount(Value::Number(source)),
                Ok(Money::from_cents(cents)),
                "{source}"
            );
        }
    }

    #[test]
    fn more_than_two_decimals_or_too_large_is_an_invalid_amount() {
        for source in [
            "0.001",
            "10.500",
            "1000e-3",
            "1e-3",
            "-0.001",
            "0e-3",
            "1000000000000",
            "1000000000000.00",
            "999999999999.991",
            "1e999",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "123456789012345678901234567890",
        ] {
            assert_eq!(detail(source), "Invalid amount", "{source}");
        }
        let long = format!("0.{}", "3".repeat(60_000));
        assert_eq!(detail(&long), "Invalid amount");
    }

    #[test]
    fn zero_or_less_must_be_greater_than_zero() {
        for source in [
            "0",
            "-0",
            "0.00",
            "-1",
            "-0.01",
            "0e999999999999",
            "-1e999",
            "-1000000000000",
        ] {
            assert_eq!(
                detail(source),
                "Transaction amount must be greater than zero",
                "{source}"
            );
        }
    }

    #[test]
    fn what_is_no_number_is_an_invalid_amount() {
        for value in [
            Value::Text("\"10\""),
            Value::Other("[10]"),
            Value::Other("true"),
            Value::Null,
        ] {
            assert_eq!(
                transaction_amount(value).unwrap_err().detail,
                "Invalid amount"
            );
        }
    }

    proptest! {
        #[test]
        fn every_amount_in_range_is_read_back_from_what_is_written(cents in 1_i128..=99_999_999_999_999) {
            let source = format!("{}.{:02}", cents / 100, cents % 100);
            prop_assert_eq!(transaction_amount(Value::Number(&source)), Ok(Money::from_cents(cents)));
        }

        #[test]
        fn no_number_hangs_or_panics(source in "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,40})?([eE][+-]?[0-9]{1,25})?") {
            let _ = transaction_amount(Value::Number(&source));
        }
    }
}
