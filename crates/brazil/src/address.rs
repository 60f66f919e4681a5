//! Postal codes (CEP) and the 27 federal units, for the address of a boleto's payer. Does not check
//! whether a code exists.

use std::fmt;

/// A CEP: eight digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PostalCode(String);

/// The text is not eight digits, with or without a hyphen after the fifth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must have 8 digits")]
pub struct PostalCodeError;

impl PostalCode {
    /// Parses `01310-100` or `01310100`.
    ///
    /// # Errors
    /// When the text has another form.
    pub fn parse(text: &str) -> Result<Self, PostalCodeError> {
        let text = text.trim();
        let digits = match text.split_once('-') {
            Some((region, rest)) if region.len() == 5 => format!("{region}{rest}"),
            Some(_) => return Err(PostalCodeError),
            None => text.to_owned(),
        };
        if digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Self(digits))
        } else {
            Err(PostalCodeError)
        }
    }

    /// The eight digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One of the 26 states or the Federal District, by its two capital letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FederalUnit(&'static str);

/// The text is not one of the 27 abbreviations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the two letters of a Brazilian state")]
pub struct FederalUnitError;

impl FederalUnit {
    /// All 27, in alphabetical order.
    pub const ALL: [FederalUnit; 27] = [
        FederalUnit("AC"),
        FederalUnit("AL"),
        FederalUnit("AM"),
        FederalUnit("AP"),
        FederalUnit("BA"),
        FederalUnit("CE"),
        FederalUnit("DF"),
        FederalUnit("ES"),
        FederalUnit("GO"),
        FederalUnit("MA"),
        FederalUnit("MG"),
        FederalUnit("MS"),
        FederalUnit("MT"),
        FederalUnit("PA"),
        FederalUnit("PB"),
        FederalUnit("PE"),
        FederalUnit("PI"),
        FederalUnit("PR"),
        FederalUnit("RJ"),
        FederalUnit("RN"),
        FederalUnit("RO"),
        FederalUnit("RR"),
        FederalUnit("RS"),
        FederalUnit("SC"),
        FederalUnit("SE"),
        FederalUnit("SP"),
        FederalUnit("TO"),
    ];

    /// Parses two letters in any case.
    ///
    /// # Errors
    /// When the text is not a federal unit.
    pub fn parse(text: &str) -> Result<Self, FederalUnitError> {
        let text = text.trim();
        Self::ALL
            .into_iter()
            .find(|unit| unit.0.eq_ignore_ascii_case(text))
            .ok_or(FederalUnitError)
    }

    /// Two capital letters.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for FederalUnit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_postal_code_keeps_its_eight_digits() {
        for text in ["01310-100", "01310100", " 01310-100 "] {
            assert_eq!(PostalCode::parse(text).unwrap().as_str(), "01310100");
        }
        for text in [
            "",
            "0131010",
            "013101000",
            "0131-0100",
            "01310-1 0",
            "0131a100",
            "01310--100",
            "０1310100",
        ] {
            assert_eq!(PostalCode::parse(text), Err(PostalCodeError), "{text}");
        }
    }

    #[test]
    fn the_27_federal_units_are_read_in_any_case() {
        assert_eq!(FederalUnit::ALL.len(), 27);
        for unit in FederalUnit::ALL {
            let lower = unit.as_str().to_lowercase();
            assert_eq!(FederalUnit::parse(&lower), Ok(unit));
        }
        for text in ["", "S", "XX", "SPO", "S P", "são"] {
            assert_eq!(FederalUnit::parse(text), Err(FederalUnitError), "{text}");
        }
    }
}
