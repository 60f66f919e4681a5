//! Money in SQLite: text that any tool can read, and that compares and sorts as bytes exactly as
//! the amounts do.

use rusqlite::functions::{Aggregate, Context, FunctionFlags};

use crate::Money;

/// Digits, a point and two digits: what a column of money holds, checked there by
/// `CHECK (length(x) = 23)`.
const STORED_LENGTH: usize = 23;
/// Digits of the largest `u128`.
const WIDE_DIGITS: usize = 39;
/// Above every digit in ASCII: before an amount too large for a column.
const LARGER: char = '~';
/// Below every digit in ASCII: before an amount below zero.
const BELOW_ZERO: char = '-';

/// The text of an amount.
///
/// `0.00` to [`Money::MAX`] are padded with zeros to 23 characters. What a column cannot hold still
/// needs a text, for comparisons (`price >= $1`) and totals: larger amounts are `~` and 39 digits
/// of hundredths, negative ones `-` and their distance from the lowest, so that order holds among
/// all of them. Both are 40 characters long and therefore refused by a column's check.
pub(crate) fn encode(money: Money) -> String {
    let cents = money.cents();
    if cents < 0 {
        let distance = u128::MAX - cents.unsigned_abs();
        format!("{BELOW_ZERO}{distance:0WIDE_DIGITS$}")
    } else if money > Money::MAX {
        format!("{LARGER}{cents:0WIDE_DIGITS$}")
    } else {
        format!("{:020}.{:02}", cents / 100, cents % 100)
    }
}

/// Reads what [`encode`] wrote.
pub(crate) fn decode(text: &str) -> Option<Money> {
    let digits = |text: &str| {
        let plain = text.len() == WIDE_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse::<u128>().ok()).flatten()
    };
    if let Some(distance) = text.strip_prefix(BELOW_ZERO) {
        let cents = i128::try_from(u128::MAX - digits(distance)?).ok()?;
        Some(Money::from_cents(-cents))
    } else if let Some(cents) = text.strip_prefix(LARGER) {
        i128::try_from(digits(cents)?).ok().map(Money::from_cents)
    } else if text.len() == STORED_LENGTH && text.as_bytes().first().is_some_and(u8::is_ascii_digit)
    {
        Money::parse(text).ok()
    } else {
        None
    }
}

/// Makes `money_sum(amount)` and `money_times(amount, integer)` known to a connection.
pub(crate) fn register(connection: &rusqlite::Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_aggregate_function("money_sum", 1, flags, MoneySum)?;
    connection.create_scalar_function("money_times", 2, flags, |context| {
        let (Some(amount), Some(factor)) = (argument(context)?, context.get::<Option<i64>>(1)?)
        else {
            return Ok(None);
        };
        let product = amount.checked_mul(factor).ok_or_else(too_large)?;
        Ok(Some(encode(product)))
    })
}

/// Exact where SQLite's `sum` goes through a float. Nothing sums to 0.00, as on PostgreSQL.
struct MoneySum;

impl Aggregate<Money, String> for MoneySum {
    fn init(&self, _context: &mut Context<'_>) -> rusqlite::Result<Money> {
        Ok(Money::ZERO)
    }

    fn step(&self, context: &mut Context<'_>, sum: &mut Money) -> rusqlite::Result<()> {
        if let Some(amount) = argument(context)? {
            *sum = sum.checked_add(amount).ok_or_else(too_large)?;
        }
        Ok(())
    }

    fn finalize(&self, _context: &mut Context<'_>, sum: Option<Money>) -> rusqlite::Result<String> {
        Ok(encode(sum.unwrap_or_default()))
    }
}

/// The amount in the first argument; `None` for NULL.
fn argument(context: &Context<'_>) -> rusqlite::Result<Option<Money>> {
    let value = context.get_raw(0);
    let Some(text) = value.as_str_or_null()? else {
        return Ok(None);
    };
    let amount = decode(text).ok_or_else(|| failure("not an amount of money"))?;
    Ok(Some(amount))
}

fn too_large() -> rusqlite::Error {
    failure("a total of money has more than 36 digits")
}

fn failure(text: &str) -> rusqlite::Error {
    rusqlite::Error::UserFunctionError(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_amount_is_readable_text_of_23_characters() {
        let stored = |cents| encode(Money::from_cents(cents));
        assert_eq!(stored(999), "00000000000000000009.99");
        assert_eq!(stored(0), "00000000000000000000.00");
        assert_eq!(encode(Money::MAX), "99999999999999999999.99");
        assert_ne!(stored(-1).len(), STORED_LENGTH);
        assert_ne!(stored(Money::MAX.cents() + 1).len(), STORED_LENGTH);
    }

    #[test]
    fn what_was_not_written_here_is_not_read() {
        for text in [
            "",
            "9.99",
            "1e3",
            "-1.00",
            "~1",
            "+0000000000000000009.99",
            "0000000000000000000009.9",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn amounts_read_back_and_sort_as_text(left: i128, right: i128) {
            for (left, right) in [(left, right), (left >> 50, right >> 50), (left >> 90, right >> 90)] {
                let (left, right) = (Money::from_cents(left), Money::from_cents(right));
                proptest::prop_assert_eq!(decode(&encode(left)), Some(left));
                proptest::prop_assert_eq!(left.cmp(&right), encode(left).cmp(&encode(right)));
            }
        }
    }
}
