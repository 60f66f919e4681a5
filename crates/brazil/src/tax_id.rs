//! Tax ids: CPF for people, CNPJ for companies. The length tells them apart.
//!
//! Since July 2026 the first twelve characters of a CNPJ may be letters (IN RFB 2.229/2024). Its
//! check digits are still digits.

use std::fmt;

use crate::check_digits::modulo_11;

const CPF_LENGTH: usize = 11;
const CNPJ_LENGTH: usize = 14;

/// The kind of a tax id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaxIdKind {
    /// The tax id of a person: eleven digits.
    Cpf,
    /// The tax id of a company: fourteen characters.
    Cnpj,
}

impl TaxIdKind {
    /// The name in requests and responses, `CPF` or `CNPJ`.
    pub const fn as_str(self) -> &'static str {
        match self {
            TaxIdKind::Cpf => "CPF",
            TaxIdKind::Cnpj => "CNPJ",
        }
    }
}

/// A tax id with valid check digits, without punctuation, letters in upper case.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TaxId {
    kind: TaxIdKind,
    characters: String,
}

/// Why a text is not a tax id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaxIdError {
    /// The text has neither 11 nor 14 characters without its punctuation.
    #[error("must have 11 digits (CPF) or 14 characters (CNPJ)")]
    Length,
    /// A character is not allowed at its position.
    #[error("has a character that is not allowed")]
    Character,
    /// The check digits are wrong, or all characters are the same.
    #[error("check digits do not match")]
    CheckDigits,
}

impl TaxId {
    /// Parses a CPF or CNPJ, with or without `.`, `-`, `/` and spaces, letters in any case.
    ///
    /// # Errors
    /// Whether the length, a character or the check digits are wrong.
    pub fn parse(text: &str) -> Result<Self, TaxIdError> {
        let characters: String = text
            .chars()
            .filter(|character| !matches!(character, '.' | '-' | '/' | ' '))
            .map(|character| character.to_ascii_uppercase())
            .collect();
        if !characters.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err(TaxIdError::Character);
        }
        let kind = match characters.len() {
            CPF_LENGTH => TaxIdKind::Cpf,
            CNPJ_LENGTH => TaxIdKind::Cnpj,
            _ => return Err(TaxIdError::Length),
        };
        check(kind, &characters)?;
        Ok(Self { kind, characters })
    }

    /// CPF or CNPJ.
    pub const fn kind(&self) -> TaxIdKind {
        self.kind
    }

    /// Eleven digits, or fourteen characters of which the last two are digits. Leading zeros are
    /// kept.
    pub fn as_str(&self) -> &str {
        &self.characters
    }
}

/// `Debug` output is logged, and a person's number must not be.
impl fmt::Debug for TaxId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TaxId({} ****)", self.kind.as_str())
    }
}

fn check(kind: TaxIdKind, characters: &str) -> Result<(), TaxIdError> {
    let (body, digits) = characters.split_at(characters.len() - 2);
    let numeric = match kind {
        TaxIdKind::Cpf => characters,
        TaxIdKind::Cnpj => digits,
    };
    if !numeric.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(TaxIdError::Character);
    }
    let first = characters.chars().next();
    let all_equal = characters.chars().all(|c| Some(c) == first);
    if all_equal || digits != check_digits(kind, body) {
        return Err(TaxIdError::CheckDigits);
    }
    Ok(())
}

/// The two check digits of a body of 9 (CPF) or 12 (CNPJ) characters.
fn check_digits(kind: TaxIdKind, body: &str) -> String {
    // A CPF is so short that its weights do not repeat.
    let last_weight = match kind {
        TaxIdKind::Cpf => 11,
        TaxIdKind::Cnpj => 9,
    };
    // A character's value is its ASCII code minus 48: digits stand for themselves, A for 17.
    let values = body
        .bytes()
        .map(|byte| u32::from(byte.saturating_sub(b'0')));
    let digit = |remainder: u32| if remainder < 2 { 0 } else { 11 - remainder };
    let first = digit(modulo_11(values.clone(), last_weight));
    let with_first: Vec<u32> = values.chain([first]).collect();
    let second = digit(modulo_11(with_first.into_iter(), last_weight));
    format!("{first}{second}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_cpfs_are_read_with_and_without_punctuation() {
        for number in [
            "12345678909",
            "19119119100",
            "52998224725",
            "95749019047",
            "70383868084",
            "01234567890",
            "25524893033",
        ] {
            let id = TaxId::parse(number).unwrap();
            assert_eq!((id.kind(), id.as_str()), (TaxIdKind::Cpf, number));
        }
        assert_eq!(
            TaxId::parse(" 529.982.247-25").unwrap().as_str(),
            "52998224725"
        );
    }

    #[test]
    fn known_cnpjs_are_read_letters_included() {
        for number in [
            "12ABC34501DE35",
            "36002518000101",
            "11222333000181",
            "00000000000191",
        ] {
            let id = TaxId::parse(number).unwrap();
            assert_eq!((id.kind(), id.as_str()), (TaxIdKind::Cnpj, number));
        }
        assert_eq!(
            TaxId::parse("12.abc.345/01de-35").unwrap().as_str(),
            "12ABC34501DE35"
        );
    }

    #[test]
    fn each_fault_has_its_error() {
        let error = |text| TaxId::parse(text).unwrap_err();
        assert_eq!(error(""), TaxIdError::Length);
        assert_eq!(error("1234567890"), TaxIdError::Length);
        assert_eq!(error("12345678900"), TaxIdError::CheckDigits);
        assert_eq!(error("11111111111"), TaxIdError::CheckDigits);
        assert_eq!(error("00000000000000"), TaxIdError::CheckDigits);
        assert_eq!(error("1234567890A"), TaxIdError::Character);
        assert_eq!(error("12ABC34501DEA5"), TaxIdError::Character);
        assert_eq!(error("12345678９09"), TaxIdError::Character);
    }

    #[test]
    fn debug_does_not_show_the_number() {
        let id = TaxId::parse("52998224725").unwrap();
        assert_eq!(format!("{id:?}"), "TaxId(CPF ****)");
    }

    proptest! {
        #[test]
        fn a_completed_cpf_is_valid_and_no_other_last_digit_is(body in "[0-9]{9}", wrong in 1_u32..10) {
            prop_assume!(body.bytes().any(|byte| Some(&byte) != body.as_bytes().first()));
            let digits = check_digits(TaxIdKind::Cpf, &body);
            let number = format!("{body}{digits}");
            prop_assert!(TaxId::parse(&number).is_ok());
            let last: u32 = digits[1..].parse().unwrap();
            let other = format!("{}{}", &number[..10], (last + wrong) % 10);
            prop_assert_eq!(TaxId::parse(&other), Err(TaxIdError::CheckDigits));
        }

        #[test]
        fn a_completed_cnpj_is_valid(body in "[0-9A-Z]{12}") {
            prop_assume!(body != "000000000000");
            let number = format!("{body}{}", check_digits(TaxIdKind::Cnpj, &body));
            let lower = number.to_lowercase();
            let id = TaxId::parse(&lower).unwrap();
            prop_assert_eq!(id.as_str(), number);
        }

        #[test]
        fn any_text_is_answered_without_a_panic(text in ".*") {
            let _ = TaxId::parse(&text);
        }
    }
}
