//! Decimal numbers as clients write them, in JSON or in strings. They are parsed digit by digit,
//! never through a float.

use db::Money;

use super::message::Message;

/// A parsed decimal number: `sign digits × 10^exponent`, digits without leading zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

/// The most digits of a price before the decimal point.
pub const WHOLE_DIGITS: i64 = 20;
/// The most digits of a price after the decimal point.
pub const PLACES: i64 = 2;
/// The longest string that is parsed as a number, in characters.
pub const MAX_NUMBER_LENGTH: usize = 1000;

/// The digits of a number with separated thousands: `1.234.567`.
pub(crate) fn groups(text: &str, mark: char) -> Option<String> {
    let mut groups = text.split(mark);
    let first = groups.next()?;
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let is_first = (1..=3).contains(&first.len()) && is_digits(first) && !first.starts_with('0');
    let mut digits = first.to_owned();
    for group in groups {
        if group.len() != 3 || !is_digits(group) {
            return None;
        }
        digits.push_str(group);
    }
    is_first.then_some(digits)
}

impl Decimal {
    /// Parses `12`, `+1.50`, `.5`, `5.`, `1e3`, with white space around it. `None` for anything
    /// else, including notations of programming languages (`1_000`, `NaN`) and digits of other
    /// scripts.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, text.get(1..)?),
            b'+' => (false, text.get(1..)?),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.len() + fraction.len() == 0
            || ![whole, fraction].iter().all(|part| is_digits(part))
        {
            return None;
        }
        let digits = format!("{whole}{fraction}")
            .trim_start_matches('0')
            .to_owned();
        Some(Self {
            negative,
            digits,
            exponent: exponent - i64::try_from(fraction.len()).ok()?,
        })
    }

    /// The number as a price. The error is the message for the first check that fails: at most 22
    /// digits in total, 2 places, 20 digits before the point, not negative.
    pub fn to_price(&self) -> Result<Money, Message> {
        let digits = self.length();
        let (total, whole, places) = match self.exponent {
            0.. if digits == 0 => (0, 0, 0),
            exponent @ 0.. => {
                let whole = digits.saturating_add(exponent);
                (whole, whole, 0)
            }
            exponent if digits > -exponent => (digits, digits + exponent, -exponent),
            exponent => (-exponent, 0, -exponent),
        };
        if total > WHOLE_DIGITS + PLACES {
            return Err(Message::fixed(
                "O valor pode ter no máximo 22 algarismos.",
                "Ensure that there are no more than 22 digits in total.",
            ));
        }
        if places > PLACES {
            return Err(Message::fixed(
                "O valor pode ter no máximo 2 casas decimais.",
                "Ensure that there are no more than 2 decimal places.",
            ));
        }
        if whole > WHOLE_DIGITS {
            return Err(Message::fixed(
                "O valor pode ter no máximo 20 algarismos antes da vírgula.",
                "Ensure that there are no more than 20 digits before the decimal point.",
            ));
        }
        let cents = self.scaled(PLACES).ok_or(Message::NOT_A_NUMBER)?;
        if self.negative && cents != 0 {
            return Err(Message::at_least(0));
        }
        Ok(Money::from_cents(cents))
    }

    /// The least price that is not below this number. A number above all prices gives more than the
    /// greatest price.
    pub fn to_bound_above(&self) -> Money {
        let (cents, exact) = self.truncated_cents();
        Money::from_cents(if exact || self.negative {
            cents
        } else {
            cents + 1
        })
    }

    /// The greatest price that is not above this number. A negative number gives less than any
    /// price.
    pub fn to_bound_below(&self) -> Money {
        let (cents, exact) = self.truncated_cents();
        Money::from_cents(if exact || !self.negative {
            cents
        } else {
            cents - 1
        })
    }

    /// The number in hundredths, truncated, and whether that is exact. A number above all prices is
    /// reduced to the greatest price plus one.
    fn truncated_cents(&self) -> (i128, bool) {
        let beyond = Money::MAX.cents() + 1;
        if let Some(cents) = self.scaled(PLACES) {
            let cents = cents.min(beyond);
            return (if self.negative { -cents } else { cents }, true);
        }
        let keep = self.length().saturating_add(self.exponent + PLACES);
        let kept = usize::try_from(keep).ok();
        let kept = kept.and_then(|keep| self.digits.get(..keep));
        let cents = if keep > 36 {
            beyond
        } else {
            kept.and_then(|kept| kept.parse().ok())
                .unwrap_or(0)
                .min(beyond)
        };
        (if self.negative { -cents } else { cents }, keep > 36)
    }

    /// The number as an integer. `None` if it has a fraction or more than 38 digits.
    pub fn to_integer(&self) -> Option<i128> {
        let magnitude = self.scaled(0)?;
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// Whether the number has an exponent or trailing zeros that take it beyond 16 digits. No count
    /// is that large.
    pub fn is_astronomic(&self) -> bool {
        self.exponent > 0 && self.length().saturating_add(self.exponent) > 16
    }

    /// Whether the number is greater than ten to this power.
    pub fn is_above_power_of_ten(&self, power: i64) -> bool {
        let magnitude = self.length().saturating_add(self.exponent) - 1;
        let is_power = self.digits.trim_end_matches('0') == "1";
        !self.negative
            && !self.digits.is_empty()
            && (magnitude > power || (magnitude == power && !is_power))
    }

    /// Whether the number has no fraction.
    pub fn is_whole(&self) -> bool {
        self.exponent >= 0
    }

    /// Whether the number has a minus sign.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// The number of digits.
    fn length(&self) -> i64 {
        i64::try_from(self.digits.len()).unwrap_or(i64::MAX)
    }

    /// The magnitude times `10^places`. `None` unless that is an integer of at most 38 digits.
    fn scaled(&self, places: i64) -> Option<i128> {
        if self.digits.is_empty() {
            return Some(0);
        }
        let shift = self.exponent.checked_add(places)?;
        if shift >= 0 {
            if self.length().checked_add(shift)? > 38 {
                return None;
            }
            let power = 10_i128.checked_pow(u32::try_from(shift).ok()?)?;
            return self.digits.parse::<i128>().ok()?.checked_mul(power);
        }
        let keep = usize::try_from(self.length() + shift).ok()?;
        let (kept, dropped) = self.digits.split_at_checked(keep)?;
        if dropped.bytes().any(|digit| digit != b'0') {
            return None;
        }
        if kept.is_empty() {
            Some(0)
        } else {
            kept.parse().ok()
        }
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is an integer: digits, with an optional sign.
pub fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && is_digits(digits)
}

fn parse_exponent(text: &str) -> Option<i64> {
    if !is_integer(text) {
        return None;
    }
    // A greater exponent is capped: the number is out of range anyway.
    let digits = text.trim_start_matches(['+', '-']);
    let magnitude = digits.parse().unwrap_or(i64::MAX).min(999_999_999);
    Some(if text.starts_with('-') {
        -magnitude
    } else {
        magnitude
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_as_written() {
        for (written, read) in [
            ("10", "10.00"),
            (" 10.5 ", "10.50"),
            ("+5", "5.00"),
            (".5", "0.50"),
            ("5.", "5.00"),
            ("00012.50", "12.50"),
            ("1e3", "1000.00"),
            ("1E+19", "10000000000000000000.00"),
            ("99999999999999999999.99", "99999999999999999999.99"),
            ("12345678901234567890.12", "12345678901234567890.12"),
            ("-0", "0.00"),
            ("-0.0", "0.00"),
            ("0e999999999999", "0.00"),
        ] {
            let price = Decimal::parse(written).unwrap().to_price();
            assert_eq!(price.unwrap().to_string(), read, "{written}");
        }
    }

    #[test]
    fn a_number_is_compared_with_a_power_of_ten_however_it_is_written() {
        let is_above =
            |text: &str| Decimal::parse(text).map(|number| number.is_above_power_of_ten(3));
        for text in ["1000.01", "1001", "2e3", "1e4", "1e999999999"] {
            assert_eq!(is_above(text), Some(true), "{text}");
        }
        for text in [
            "1000", "1e3", "100e1", "1000.00", "999.99", "0", "0e9", "-1e9", "1e-9",
        ] {
            assert_eq!(is_above(text), Some(false), "{text}");
        }
    }
}
