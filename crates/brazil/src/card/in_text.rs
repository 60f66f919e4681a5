//! Finds card numbers in texts that must not contain one, as typed, pasted or auto-filled by a
//! browser.

use super::Network;
use crate::boleto::{Barcode, DigitableLine};
use crate::check_digits::{digits_of, modulo_10, modulo_11};
use crate::tax_id::TaxId;

/// The digits of the longest number that is recognised, the line of a tax slip. Bounds the work for
/// a text of many short groups.
const DIGITS_MAX: usize = 48;

/// The most characters between two digits of one number, as in `4235 - 6477`.
const SEPARATORS_MAX: usize = 3;

/// The zeros of the scripts whose digits people type: ASCII, full-width, Arabic, Persian,
/// Devanagari, and the five alphabets of mathematical digits. The other nine digits follow each
/// zero.
const ZEROS: [u32; 10] = [
    0x30, 0xff10, 0x660, 0x6f0, 0x966, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6,
];

/// Whether a text contains a card number of the six networks (prefix, length and Luhn), with any
/// separators between its digits.
///
/// Adjacent digits count as one number: 16 digits within a bar code of 44 are not a card number. A
/// valid CNPJ or EAN-13 is not one either, nor is a part of the digitable line of a boleto or a tax slip, or
/// of an invoice's access key, which people copy in groups.
pub fn holds_card_number(text: &str) -> bool {
    let mut run = Run::default();
    let mut separators = 0;
    for character in text.chars() {
        if let Some(digit) = ascii_digit(character) {
            run.push(digit, separators > 0);
            separators = 0;
        } else {
            separators += 1;
            if character.is_alphanumeric() || separators > SEPARATORS_MAX {
                if run.holds_card_number() {
                    return true;
                }
                run.clear();
            }
        }
    }
    run.holds_card_number()
}

fn ascii_digit(character: char) -> Option<char> {
    let code = u32::from(character);
    let value = ZEROS
        .iter()
        .find_map(|zero| code.checked_sub(*zero).filter(|value| *value < 10))?;
    char::from_digit(value, 10)
}

/// Groups of digits with only separators between them.
#[derive(Default)]
struct Run {
    digits: String,
    /// The start of each group.
    starts: Vec<usize>,
}

impl Run {
    fn push(&mut self, digit: char, begins_group: bool) {
        if begins_group || self.digits.is_empty() {
            self.starts.push(self.digits.len());
        }
        self.digits.push(digit);
    }

    fn clear(&mut self) {
        self.digits.clear();
        self.starts.clear();
    }

    fn holds_card_number(&self) -> bool {
        let mut behind = 0;
        for start in &self.starts {
            if *start < behind {
                continue;
            }
            if let Some(end) = self.find_from(*start, is_other_number) {
                behind = end;
            } else if self.find_from(*start, is_card_number).is_some() {
                return true;
            }
        }
        false
    }

    /// The end of consecutive whole groups that begin at `start` and together match `is_it`.
    fn find_from(&self, start: usize, is_it: fn(&str) -> bool) -> Option<usize> {
        let ends = self.starts.iter().copied().filter(|end| *end > start);
        ends.chain([self.digits.len()])
            .take_while(|end| *end - start <= DIGITS_MAX)
            .find(|end| self.digits.get(start..*end).is_some_and(is_it))
    }
}

fn is_card_number(digits: &str) -> bool {
    Network::of_number(digits).is_some() && TaxId::parse(digits).is_err() && !is_ean_13(digits)
}

/// The number of a product's bar code (EAN-13). Every tenth that begins with 4 passes for a Visa
/// number of 13 digits, and none of those has been issued for decades.
fn is_ean_13(digits: &str) -> bool {
    let weighted = digits_of(digits).zip([1, 3].into_iter().cycle());
    let sum: u32 = weighted.map(|(digit, weight)| digit * weight).sum();
    digits.len() == 13 && sum.is_multiple_of(10)
}

/// Longer numbers with their own check digits.
fn is_other_number(digits: &str) -> bool {
    match digits.len() {
        44 => Barcode::parse(digits).is_ok() || is_invoice_key(digits),
        47 => DigitableLine::parse(digits).is_ok(),
        48 => is_collection_line(digits),
        _ => false,
    }
}

/// The line of a tax or utility slip (Febraban, "arrecadação"). It begins with 8, and every twelfth
/// digit checks the eleven before it.
fn is_collection_line(digits: &str) -> bool {
    let is_checked = |place: usize| {
        let block = digits.get(place..place + 11).unwrap_or_default();
        let check = digits
            .get(place + 11..place + 12)
            .and_then(|digit| digit.parse().ok());
        check == Some(modulo_10(digits_of(block))) || check == Some(check_digit_11(block))
    };
    digits.starts_with('8') && [0, 12, 24, 36].into_iter().all(is_checked)
}

/// The access key of an electronic invoice (NF-e, "chave de acesso"): state, year and month, …,
/// check digit.
fn is_invoice_key(digits: &str) -> bool {
    let part = |from: usize, to: usize| {
        digits
            .get(from..to)
            .and_then(|part| part.parse::<u32>().ok())
    };
    part(0, 2).is_some_and(|state| (11..=53).contains(&state))
        && part(4, 6).is_some_and(|month| (1..=12).contains(&month))
        && part(43, 44) == digits.get(..43).map(check_digit_11)
}

/// 11 minus the remainder, or 0 for 10 and 11.
fn check_digit_11(digits: &str) -> u32 {
    match modulo_11(digits_of(digits), 9) {
        0 | 1 => 0,
        remainder => 11 - remainder,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::card::NETWORKS;

    /// Each pair of prefix and length in the table.
    fn kinds() -> Vec<(&'static str, usize)> {
        let rules = NETWORKS.iter();
        rules
            .flat_map(|rules| {
                let lengths = rules.lengths.iter();
                lengths
                    .flat_map(|length| rules.prefixes.iter().map(move |prefix| (prefix.0, *length)))
            })
            .collect()
    }

    /// A random card number that is not a valid CNPJ by chance.
    fn card() -> impl Strategy<Value = String> {
        let number = (select(kinds()), "[0-9]{19}").prop_map(|((prefix, length), digits)| {
            let body = format!("{prefix}{}", &digits[..length - prefix.len() - 1]);
            format!("{body}{}", modulo_10(digits_of(&body)))
        });
        number.prop_filter("no CNPJ, and the prefix is the longest", |number| {
            is_card_number(number)
        })
    }

    fn separators() -> impl Strategy<Value = Vec<&'static str>> {
        let one = select(vec![
            "", "", " ", "-", ".", "/", "_", ",", " - ", "\u{a0}", "\u{2013}", "\u{200b}", "...",
        ]);
        proptest::collection::vec(one, 18)
    }

    fn set_apart(number: &str, separators: &[&str]) -> String {
        let parts = number
            .chars()
            .zip(separators.iter().chain(std::iter::repeat(&"")));
        let text: String = parts
            .flat_map(|(digit, after)| [digit].into_iter().chain(after.chars()))
            .collect();
        text.trim_end_matches(|character: char| !character.is_ascii_digit())
            .to_owned()
    }

    fn in_script(text: &str, zero: u32) -> String {
        let changed = text.chars().map(|character| match character.to_digit(10) {
            Some(value) => char::from_u32(zero + value).unwrap(),
            None => character,
        });
        changed.collect()
    }

    #[test]
    fn a_card_number_is_found_in_what_people_write_around_it() {
        for text in [
            "4235647728025682",
            "4235 6477 2802 5682",
            "cartao 4235-6477-2802-5682 val 12/30 cvv 123",
            "4235.6477.2802.5682 12/30 123",
            "4 2 3 5 6 4 7 7 2 8 0 2 5 6 8 2",
            "4235_6477_2802_5682",
            "4235 - 6477 - 2802 - 5682",
            "４２３５６４７７２８０２５６８２",
            "MARIA SILVA 4235647728025682",
            "4235647728025682@example.com",
            "pedido4235647728025682",
            "3753-651535-56885",
            "1x 5031 4332 1540 6351",
            "4235647728025682 4235647728025682 4235647728025682",
        ] {
            assert!(holds_card_number(text), "{text}");
        }
    }

    #[test]
    fn other_numbers_of_a_shop_are_none() {
        for text in [
            "",
            "Pedido 1042",
            "4235 6477 2802 5683",
            "123.456.789-09",
            "12.345.678/0001-95",
            "(11) 98888-7777 / (11) 3333-4444",
            "7891000315507",
            "4684847513501",
            "EAN 4006381333320",
            "23793.38128 60007.827136 95000.063305 9 75520000370000",
            "34191.79001 10104.351001 91020.150008 3 84340000019990",
            "84670000001-7 43590024020-9 02405000243-5 84221010811-9",
            "3519 0942 3564 7728 0256 5500 1000 0000 0110 0000 0010",
            "2026-11-20T12:00:00Z",
            "550e8400-e29b-41d4-a716-446655440000",
        ] {
            assert!(!holds_card_number(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_card_number_is_found_however_it_is_set_apart(
            number in card(),
            separators in separators(),
            zero in select(ZEROS.to_vec()),
            before in "([a-z]{0,5} |[0-9]{1,3} )?",
            after in "( [a-z]{0,5}| [0-9]{2}/[0-9]{2})?",
        ) {
            let written = in_script(&set_apart(&number, &separators), zero);
            let text = format!("{before}{written}{after}");
            prop_assert!(holds_card_number(&text), "{}", text);
        }

        #[test]
        fn one_wrong_digit_is_no_card_number(number in card(), shift in 1_u32..10) {
            let (body, last) = number.split_at(number.len() - 1);
            let last = (last.parse::<u32>().unwrap() + shift) % 10;
            let wrong = format!("{body}{last}");
            prop_assert!(!holds_card_number(&wrong));
        }

        #[test]
        fn digits_that_stand_together_are_taken_whole(digits in "[0-9]{20,60}") {
            prop_assert!(!holds_card_number(&digits));
        }

        #[test]
        fn no_boleto_is_mistaken(bank in "[0-7][0-9]{2}", factor in 0_u16..=9999, cents in 0_u64..=9_999_999_999, free in "[0-9]{25}") {
            let barcode = Barcode::new(&bank, factor, cents, &free).unwrap();
            let line = barcode.digitable_line();
            let digits = line.digits();
            let places = [(0, 5), (5, 10), (10, 15), (15, 21), (21, 26), (26, 32), (32, 33), (33, 47)];
            let groups: Vec<_> = places.iter().map(|(from, to)| &digits[*from..*to]).collect();
            prop_assert!(!holds_card_number(barcode.digits()));
            prop_assert!(!holds_card_number(digits));
            prop_assert!(!holds_card_number(&groups.join(" ")));
            prop_assert!(!holds_card_number(&groups.join(".")));
        }

        #[test]
        fn no_slip_of_a_tax_or_a_utility_is_mistaken(blocks in ("8[0-9]{10}", "[0-9]{11}", "[0-9]{11}", "[0-9]{11}")) {
            let checked = |block: &String| format!("{block}-{}", modulo_10(digits_of(block)));
            let line = [&blocks.0, &blocks.1, &blocks.2, &blocks.3].map(checked).join(" ");
            prop_assert!(!holds_card_number(&line), "{}", line);
        }

        #[test]
        fn no_cnpj_is_mistaken(number in "[0-9]{12}") {
            let digit = |number: &str| check_digit_11(number).to_string();
            let first = format!("{number}{}", digit(&number));
            let number = format!("{first}{}", digit(&first));
            prop_assume!(TaxId::parse(&number).is_ok());
            prop_assert!(!holds_card_number(&number));
            let parts = [(0, 2), (2, 5), (5, 8), (8, 12), (12, 14)].map(|(from, to)| &number[from..to]);
            prop_assert!(!holds_card_number(&parts.join(".")));
        }

        #[test]
        fn no_text_hangs_or_panics(text in any::<String>()) {
            let _ = holds_card_number(&text);
        }
    }
}
