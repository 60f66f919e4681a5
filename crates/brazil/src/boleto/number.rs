//! Bar code and digitable line: the same boleto as 44 digits for machines and as 47 digits for
//! people.

use std::fmt;

use crate::check_digits::{digits_of, modulo_10, modulo_11};

const BARCODE_LENGTH: usize = 44;
const LINE_LENGTH: usize = 47;
const LARGEST_AMOUNT: u64 = 9_999_999_999;
/// Bank numbers start at 001. The first digit 8 marks tax and utility slips, which have another
/// format.
const OTHER_SLIPS: char = '8';
const CURRENCY_BRL: &str = "9";

/// The 44 digits of a bar code, with a valid general check digit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Barcode(String);

/// The 47 digits that people type, with four valid check digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DigitableLine(String);

/// Why digits are not a boleto.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoletoError {
    /// Not 44 digits (barcode) or 47 (digitable line), or the number of another kind of slip.
    #[error("is not the number of a boleto")]
    Shape,
    /// Bank, due date factor or free field of a new boleto does not consist of digits of the right
    /// length.
    #[error("a part has the wrong length or is not digits")]
    Part,
    /// The amount has more than ten digits of hundredths.
    #[error("amount is too large for a boleto")]
    Amount,
    /// A check digit is wrong.
    #[error("check digits do not match")]
    CheckDigit,
}

impl Barcode {
    /// Composes a barcode and computes its check digit.
    ///
    /// `bank` has 3 digits. `due_factor` is 0 (no due date) or a value of
    /// [`due_factor`](super::due_factor()). `free_field` has 25 digits, whose meaning the bank
    /// defines.
    ///
    /// # Errors
    /// When a part or the amount does not fit.
    pub fn new(
        bank: &str,
        due_factor: u16,
        amount_cents: u64,
        free_field: &str,
    ) -> Result<Self, BoletoError> {
        if bank.len() != 3 || free_field.len() != 25 || due_factor > 9999 {
            return Err(BoletoError::Part);
        }
        if !all_digits(bank) || !all_digits(free_field) || bank.starts_with(OTHER_SLIPS) {
            return Err(BoletoError::Part);
        }
        if amount_cents > LARGEST_AMOUNT {
            return Err(BoletoError::Amount);
        }
        let start = format!("{bank}{CURRENCY_BRL}");
        let end = format!("{due_factor:04}{amount_cents:010}{free_field}");
        let digit = general_digit(&start, &end);
        Ok(Self(format!("{start}{digit}{end}")))
    }

    /// Parses 44 digits.
    ///
    /// # Errors
    /// When the length, the kind of slip or the check digit is wrong.
    pub fn parse(text: &str) -> Result<Self, BoletoError> {
        let of_a_boleto = text.len() == BARCODE_LENGTH
            && all_digits(text)
            && text.get(3..4) == Some(CURRENCY_BRL)
            && !text.starts_with(OTHER_SLIPS);
        if !of_a_boleto {
            return Err(BoletoError::Shape);
        }
        let barcode = Self(text.to_owned());
        let digit = general_digit(barcode.part(0, 4), barcode.part(5, 44));
        if barcode.part(4, 5) == digit.to_string() {
            Ok(barcode)
        } else {
            Err(BoletoError::CheckDigit)
        }
    }

    /// All 44 digits.
    pub fn digits(&self) -> &str {
        &self.0
    }

    /// The three digits of the issuing bank.
    pub fn bank(&self) -> &str {
        self.part(0, 3)
    }

    /// The due date factor, see [`due_date`](super::due_date). 0 without a due date.
    pub fn due_factor(&self) -> u16 {
        self.part(5, 9).parse().unwrap_or_default()
    }

    /// The amount in hundredths of BRL. 0 when the payer learns the amount elsewhere.
    pub fn amount_cents(&self) -> u64 {
        self.part(9, 19).parse().unwrap_or_default()
    }

    /// The 25 digits whose meaning the bank defines.
    pub fn free_field(&self) -> &str {
        self.part(19, 44)
    }

    /// The digitable line of this bar code.
    pub fn digitable_line(&self) -> DigitableLine {
        let fields = [
            format!("{}{}", self.part(0, 4), self.part(19, 24)),
            self.part(24, 34).to_owned(),
            self.part(34, 44).to_owned(),
        ];
        let mut line = String::with_capacity(LINE_LENGTH);
        for field in fields {
            let digit = modulo_10(digits_of(&field));
            line.push_str(&field);
            line.push_str(&digit.to_string());
        }
        line.push_str(self.part(4, 19));
        DigitableLine(line)
    }

    /// The digits of a range. Every bar code has 44 digits, so the range always exists.
    fn part(&self, from: usize, to: usize) -> &str {
        self.0.get(from..to).unwrap_or_default()
    }
}

impl DigitableLine {
    /// Parses 47 digits, with or without dots, spaces and hyphens between them.
    ///
    /// # Errors
    /// When the length or a check digit is wrong.
    pub fn parse(text: &str) -> Result<Self, BoletoError> {
        let digits: String = text
            .chars()
            .filter(|character| !matches!(character, '.' | ' ' | '-'))
            .collect();
        if digits.len() != LINE_LENGTH || !all_digits(&digits) {
            return Err(BoletoError::Shape);
        }
        let line = Self(digits);
        let same = line.to_barcode()?.digitable_line() == line;
        same.then_some(line).ok_or(BoletoError::CheckDigit)
    }

    /// All 47 digits.
    pub fn digits(&self) -> &str {
        &self.0
    }

    /// The bar code of this line.
    ///
    /// # Errors
    /// Never for a line that was parsed or created here, since its bar code was validated then.
    pub fn to_barcode(&self) -> Result<Barcode, BoletoError> {
        let part = |from: usize, to: usize| self.0.get(from..to).unwrap_or_default();
        Barcode::parse(&format!(
            "{}{}{}{}{}",
            part(0, 4),
            part(32, 47),
            part(4, 9),
            part(10, 20),
            part(21, 31)
        ))
    }
}

/// Prints the digits in their usual groups:
/// `34195.00008 01233.203189 64221.470004 5 84410000002000`.
impl fmt::Display for DigitableLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, digit) in self.0.chars().enumerate() {
            match place {
                5 | 15 | 26 => formatter.write_str(".")?,
                10 | 21 | 32 | 33 => formatter.write_str(" ")?,
                _ => {}
            }
            write!(formatter, "{digit}")?;
        }
        Ok(())
    }
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The general check digit: modulo 11 of the other 43 digits, weights 2 to 9 from the right. If the
/// result is not one of 1 to 9, it is 1.
fn general_digit(start: &str, end: &str) -> u32 {
    let others = digits_of(start).chain(digits_of(end));
    match 11 - modulo_11(others, 9) {
        10 | 11 => 1,
        digit => digit,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BARCODE: &str = "34195844100000020005000001233203186422147000";
    const LINE: &str = "34195.00008 01233.203189 64221.470004 5 84410000002000";

    #[test]
    fn the_known_boleto_reads_both_ways() {
        let barcode = Barcode::parse(BARCODE).unwrap();
        let line = DigitableLine::parse(LINE).unwrap();
        assert_eq!(barcode.digitable_line(), line);
        assert_eq!(line.to_barcode().unwrap(), barcode);
        assert_eq!(line.to_string(), LINE);
        assert_eq!(line.digits(), LINE.replace(['.', ' '], ""));
    }

    #[test]
    fn its_parts_are_found_and_put_together_again() {
        let barcode = Barcode::parse(BARCODE).unwrap();
        assert_eq!(barcode.bank(), "341");
        assert_eq!(barcode.due_factor(), 8441);
        assert_eq!(barcode.amount_cents(), 2_000);
        assert_eq!(barcode.free_field(), "5000001233203186422147000");
        let again = Barcode::new("341", 8441, 2_000, "5000001233203186422147000");
        assert_eq!(again, Ok(barcode));
    }

    #[test]
    fn other_shapes_are_refused() {
        for text in [
            "",
            "3419584410000002000500000123320318642214700",
            "8419584410000002000500000123320318642214700a",
        ] {
            assert_eq!(Barcode::parse(text), Err(BoletoError::Shape));
            assert_eq!(DigitableLine::parse(text), Err(BoletoError::Shape));
        }
        let tax_slip = BARCODE.replacen('3', "8", 1);
        assert_eq!(Barcode::parse(&tax_slip), Err(BoletoError::Shape));
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let free_field = "5000001233203186422147000";
        let new = |bank, factor, cents, free| Barcode::new(bank, factor, cents, free).unwrap_err();
        assert_eq!(new("34", 0, 1, free_field), BoletoError::Part);
        assert_eq!(new("34x", 0, 1, free_field), BoletoError::Part);
        assert_eq!(new("841", 0, 1, free_field), BoletoError::Part);
        assert_eq!(new("341", 10_000, 1, free_field), BoletoError::Part);
        assert_eq!(new("341", 0, 1, "1"), BoletoError::Part);
        assert_eq!(
            new("341", 0, LARGEST_AMOUNT + 1, free_field),
            BoletoError::Amount
        );
    }

    fn barcode() -> impl Strategy<Value = Barcode> {
        (
            "[0-79][0-9]{2}",
            0_u16..10_000,
            0..=LARGEST_AMOUNT,
            "[0-9]{25}",
        )
            .prop_map(|(bank, factor, cents, free)| {
                Barcode::new(&bank, factor, cents, &free).unwrap()
            })
    }

    proptest! {
        #[test]
        fn barcode_and_line_are_each_others_inverse(barcode in barcode()) {
            prop_assert_eq!(&Barcode::parse(barcode.digits()).unwrap(), &barcode);
            let line = DigitableLine::parse(&barcode.digitable_line().to_string()).unwrap();
            prop_assert_eq!(line.to_barcode().unwrap(), barcode);
        }

        #[test]
        fn one_mistyped_digit_of_the_line_is_noticed(barcode in barcode(), place in 0_usize..32, shift in 1_u8..10) {
            let mut line = barcode.digitable_line().digits().to_owned().into_bytes();
            line[place] = b'0' + (line[place] - b'0' + shift) % 10;
            prop_assert!(DigitableLine::parse(&String::from_utf8(line).unwrap()).is_err());
        }

        #[test]
        fn any_text_is_answered_without_a_panic(text in ".{0,60}") {
            let _ = (Barcode::parse(&text), DigitableLine::parse(&text));
        }
    }
}
