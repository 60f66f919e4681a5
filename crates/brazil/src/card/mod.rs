//! The check digit and the network of a card number.
//!
//! Card numbers are not stored here: functions borrow the digits and return none of them.
//! Implements the specification's six networks and their installment limits.

mod in_text;
mod networks;

pub use in_text::holds_card_number;
pub use networks::{NETWORKS, Network, NetworkRules, PrefixRange};

use crate::check_digits::{digits_of, doubled_sum};

/// Whether a text of digits passes the Luhn check (ISO/IEC 7812-1, annex B). False for an empty
/// text or one with other characters.
pub fn is_luhn_valid(digits: &str) -> bool {
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && doubled_sum(digits_of(digits), 1).is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::check_digits::modulo_10;

    #[test]
    fn the_providers_test_cards_pass() {
        for number in [
            "5031433215406351",
            "5480832801033311",
            "4235647728025682",
            "375365153556885",
            "5067766783888311",
        ] {
            assert!(is_luhn_valid(number), "{number}");
        }
    }

    #[test]
    fn anything_but_digits_fails() {
        for text in ["", "4235 6477 2802 5682", "423564772802568a", "٤٢٣٥"] {
            assert!(!is_luhn_valid(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn exactly_one_last_digit_completes_a_number(body in "[0-9]{12,18}") {
            let right = modulo_10(digits_of(&body));
            for digit in 0..10 {
                prop_assert_eq!(is_luhn_valid(&format!("{body}{digit}")), digit == right);
            }
        }

        #[test]
        fn one_mistyped_digit_is_noticed(body in "[0-9]{12,18}", place in 0_usize..12, shift in 1_u8..10) {
            let mut number = format!("{body}{}", modulo_10(digits_of(&body))).into_bytes();
            number[place] = b'0' + (number[place] - b'0' + shift) % 10;
            prop_assert!(!is_luhn_valid(&String::from_utf8(number).unwrap()));
        }
    }
}
