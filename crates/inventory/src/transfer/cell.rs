//! Cells: texts kept from being run as formulas, and prices with decimal points or commas.

use std::borrow::Cow;

/// What a spreadsheet would run a cell for, and the apostrophe itself, so that reading gives back exactly what was written.
fn is_escaped(first: char) -> bool {
    matches!(
        first,
        '=' | '+' | '-' | '@' | '\t' | '\r' | '\'' | '＝' | '＋' | '－' | '＠'
    )
}

/// A text as it stands in a file.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if text.starts_with(is_escaped) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text that a cell means.
pub(super) fn unescape(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(text) if text.starts_with(is_escaped) => text,
        _ => cell,
    }
}

/// The mark between reais and centavos: which one a file has is seen at its first price that has any.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimals {
    separator: u8,
    mark: Option<char>,
}

impl Decimals {
    pub(super) const fn new(separator: u8) -> Self {
        Self {
            separator,
            mark: None,
        }
    }

    /// A price with a decimal point, as the API reads it. Nothing is guessed: a point among decimal commas is not taken for one of thousands.
    pub(super) fn read<'cell>(
        &mut self,
        cell: &'cell str,
    ) -> Result<Cow<'cell, str>, &'static str> {
        let found = match (cell.contains('.'), cell.contains(',')) {
            (false, false) => return Ok(Cow::Borrowed(cell)),
            (true, true) => {
                return Err(
                    "A price has one point or one comma, before its decimals: write 1234.56.",
                );
            }
            (true, false) => '.',
            (false, true) if self.separator == b',' => {
                return Err(
                    "A decimal comma is understood only in files separated by semicolons: write 12.50.",
                );
            }
            (false, true) => ',',
        };
        if *self.mark.get_or_insert(found) != found {
            return Err(
                "Prices before this one are written with the other decimal mark: use one in the whole file.",
            );
        }
        Ok(match found {
            ',' => Cow::Owned(cell.replacen(',', ".", 1)),
            _ => Cow::Borrowed(cell),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_are_escaped() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-5 °C", "'-5 °C"),
            ("'=x", "''=x"),
            ("'s-Hertogenbosch", "''s-Hertogenbosch"),
            ("Café", "Café"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(escape(text), cell);
            assert_eq!(unescape(cell), text);
        }
    }

    #[test]
    fn an_apostrophe_of_a_person_stays() {
        assert_eq!(unescape("'Ana'"), "'Ana'");
    }

    proptest! {
        #[test]
        fn every_text_reads_back(text in "['=+@\\-\t\r]{0,4}.{0,10}") {
            let cell = escape(&text);
            prop_assert_eq!(unescape(&cell), text.as_str());
        }
    }

    #[test]
    fn a_decimal_comma_is_never_guessed() {
        let mut commas = Decimals::new(b',');
        assert!(commas.read("12,50").is_err());
        assert_eq!(commas.read("12.50").as_deref(), Ok("12.50"));
        let mut semicolons = Decimals::new(b';');
        assert_eq!(semicolons.read("12").as_deref(), Ok("12"));
        assert_eq!(semicolons.read("12,50").as_deref(), Ok("12.50"));
        assert!(semicolons.read("12.50").is_err());
        assert!(semicolons.read("1.234,56").is_err());
    }
}
