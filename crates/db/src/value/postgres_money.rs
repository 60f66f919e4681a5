//! Money as PostgreSQL's binary NUMERIC: a count of digits to base 10000, the weight of the first,
//! a sign, the number of decimals shown, and the digits (`src/backend/utils/adt/numeric.c`,
//! `numeric_send`).

use std::error::Error as StdError;

use bytes::{Buf, BufMut, BytesMut};

use crate::Money;

/// The error type of `tokio_postgres` for values.
pub(super) type BoxError = Box<dyn StdError + Sync + Send>;

const BASE: u128 = 10_000;
const POSITIVE: u16 = 0x0000;
const NEGATIVE: u16 = 0x4000;
const DECIMALS: u16 = 2;

/// Writes an amount.
pub(super) fn encode(money: Money, out: &mut BytesMut) -> Result<(), BoxError> {
    let cents = money.cents().unsigned_abs();
    // From the last digit to the first: hundredths stand in the first two places of the digit after
    // the point.
    let mut digits = vec![u16::try_from(cents % 100 * 100)?];
    let mut whole = cents / 100;
    while whole > 0 {
        digits.push(u16::try_from(whole % BASE)?);
        whole /= BASE;
    }
    let count = i16::try_from(digits.len())?;
    out.put_i16(count);
    out.put_i16(count - 2);
    out.put_u16(if money < Money::ZERO {
        NEGATIVE
    } else {
        POSITIVE
    });
    out.put_u16(DECIMALS);
    for digit in digits.into_iter().rev() {
        out.put_u16(digit);
    }
    Ok(())
}

/// Reads an amount of at most 36 digits before the point. More than two decimals are an error
/// unless they are zeros.
pub(super) fn decode(mut raw: &[u8]) -> Result<Money, BoxError> {
    let count = raw.try_get_i16()?;
    let weight = raw.try_get_i16()?;
    let sign = raw.try_get_u16()?;
    let _decimals_shown = raw.try_get_u16()?;
    if sign != POSITIVE && sign != NEGATIVE {
        return Err("an amount that is not a number".into());
    }
    let mut cents: i128 = 0;
    for index in 0..count {
        let digit = i128::from(raw.try_get_u16()?);
        let place = i32::from(weight) - i32::from(index);
        let part = match place {
            0.. => power(place).and_then(|power| digit.checked_mul(power)),
            -1 if digit % 100 == 0 => Some(digit / 100),
            _ if digit == 0 => Some(0),
            _ => return Err("an amount with more than two decimals".into()),
        };
        cents = part
            .and_then(|part| cents.checked_add(part))
            .ok_or("an amount of more than 36 digits")?;
    }
    Ok(Money::from_cents(if sign == NEGATIVE {
        -cents
    } else {
        cents
    }))
}

/// Hundredths in one unit of the digit at `place`.
fn power(place: i32) -> Option<i128> {
    10_000_i128
        .checked_pow(u32::try_from(place).ok()?)?
        .checked_mul(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn what_is_no_exact_amount_is_refused() {
        let minus_one = u16::MAX;
        for words in [
            // NaN, infinity, 0.001, 0.0001, 1e-8, 2 × 10000^9, cut short
            &[0, 0, 0xC000, 0][..],
            &[0, 0, 0xD000, 0],
            &[1, minus_one, 0, 3, 10],
            &[1, minus_one, 0, 4, 1],
            &[1, minus_one - 1, 0, 8, 1],
            &[1, 9, 0, 0, 2],
            &[2, 0, 0, 0, 1],
            &[],
        ] {
            assert!(decode(&bytes(words)).is_err(), "{words:?}");
        }
    }

    #[test]
    fn shown_zeros_do_not_matter() {
        assert_eq!(
            decode(&bytes(&[1, 0, 0, 6, 12])).unwrap(),
            Money::from_cents(1_200)
        );
        assert_eq!(decode(&bytes(&[0, 0, 0, 0])).unwrap(), Money::ZERO);
    }

    proptest::proptest! {
        #[test]
        fn amounts_read_back(cents in -i128::MAX / 20_000..i128::MAX / 20_000, shift in 0..100_u32) {
            let money = Money::from_cents(cents >> shift);
            let mut out = BytesMut::new();
            encode(money, &mut out).unwrap();
            proptest::prop_assert_eq!(decode(&out).unwrap(), money);
        }
    }
}
