//! Cells: texts that are kept from being run as formulas, and prices with decimal points or commas.

use std::borrow::Cow;

use resource::Value;

use crate::rest::{Message, json::time_text};

/// Where a spreadsheet may end a cell: a file that is separated by commas may be read as one that
/// is separated by semicolons, and then a quotation mark within a cell keeps neither those nor line
/// breaks together.
const ENDS: [char; 5] = [',', ';', '\t', '\n', '\r'];

/// What a spreadsheet runs a cell for.
fn is_formula(first: char) -> bool {
    matches!(first, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠')
}

/// What is escaped at the beginning of a text: blanks that a spreadsheet may pass over too, and the
/// apostrophe itself, so that reading gives back exactly what was written.
fn is_escaped(first: char) -> bool {
    is_formula(first) || matches!(first, '\t' | '\r' | '\'')
}

/// Whether what stands behind an end within a text is escaped: what would run, in quotation marks
/// or behind apostrophes too.
fn is_escaped_within(rest: &str) -> bool {
    let rest = rest.trim_start_matches('\'').trim_start_matches('"');
    rest.starts_with(is_formula)
}

/// The pieces of a text, each but the last with its end.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive(ENDS).scan(0, |at, piece| {
        let start = *at;
        *at += piece.len();
        Some((start, piece))
    })
}

/// A value as it stands in a file.
pub(crate) fn written(value: Value<'_>) -> String {
    match value {
        Value::Text(text) => escape(text).into_owned(),
        Value::Time(time) => time_text(time),
        value => value.typed(),
    }
}

/// A text as it stands in a file.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    let is_written = |at: usize| match at {
        0 => text.starts_with(is_escaped),
        at => text.get(at..).is_some_and(is_escaped_within),
    };
    if !pieces(text).any(|(at, _)| is_written(at)) {
        return Cow::Borrowed(text);
    }
    let mut cell = String::with_capacity(text.len() + 8);
    for (at, piece) in pieces(text) {
        if is_written(at) {
            cell.push('\'');
        }
        cell.push_str(piece);
    }
    Cow::Owned(cell)
}

/// The text that a cell means.
pub(super) fn unescape(cell: &str) -> Cow<'_, str> {
    let is_taken = |at: usize| {
        let rest = cell.get(at..).and_then(|rest| rest.strip_prefix('\''));
        rest.is_some_and(|rest| match at {
            0 => rest.starts_with(is_escaped),
            _ => is_escaped_within(rest),
        })
    };
    if !pieces(cell).any(|(at, _)| is_taken(at)) {
        return Cow::Borrowed(cell);
    }
    let taken = pieces(cell).map(|(at, piece)| match piece.strip_prefix('\'') {
        Some(rest) if is_taken(at) => rest,
        _ => piece,
    });
    Cow::Owned(taken.collect())
}

/// The mark between reais and centavos: which one a file has is seen at its first price that has
/// any.
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

    /// A price with a decimal point, as the API reads it. Nothing is guessed: a point among decimal
    /// commas is not taken for one of thousands.
    pub(super) fn read<'cell>(&mut self, cell: &'cell str) -> Result<Cow<'cell, str>, Message> {
        let found = match (cell.contains('.'), cell.contains(',')) {
            (false, false) => return Ok(Cow::Borrowed(cell)),
            (true, true) => {
                return Err(Message::fixed(
                    "Um preço tem um só ponto ou vírgula, antes dos centavos: escreva 1234.56.",
                    "A price has one point or one comma, before its decimals: write 1234.56.",
                ));
            }
            (true, false) => '.',
            (false, true) if self.separator == b',' => {
                return Err(Message::fixed(
                    "A vírgula decimal só é entendida em arquivos separados por ponto e vírgula: escreva 12.50.",
                    "A decimal comma is understood only in files separated by semicolons: write 12.50.",
                ));
            }
            (false, true) => ',',
        };
        if *self.mark.get_or_insert(found) != found {
            return Err(Message::fixed(
                "Os preços acima usam o outro separador decimal: use um só no arquivo inteiro.",
                "The prices above use the other decimal mark: use only one in the whole file.",
            ));
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
            ("a;=1+1", "a;'=1+1"),
            ("a,@b;-1", "a,'@b;'-1"),
            ("a;\"=1+1\"", "a;'\"=1+1\""),
            ("a;'=1", "a;''=1"),
            ("a;'b'", "a;'b'"),
            ("a\r\n+1\n\t=2", "a\r\n'+1\n\t'=2"),
            ("10, -5 ou 3; tudo", "10, -5 ou 3; tudo"),
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
        fn every_text_reads_back(text in "['=+@\\-\t\r]{0,4}.{0,10}[;,\t\r\n'\"=+a ]{0,12}") {
            let cell = escape(&text);
            prop_assert_eq!(unescape(&cell), text.as_str());
            // However it is cut, nothing of it runs. However it is cut, nothing of it runs; what
            // begins the text is in its own quotation marks.
            let runs = |(place, piece): (usize, &str)| match place {
                0 => piece.starts_with(is_formula),
                _ => piece.trim_start_matches('"').starts_with(is_formula),
            };
            prop_assert!(!cell.split(ENDS).enumerate().any(runs));
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
