//! The cells of a file: values as text, in whatever notation a spreadsheet used. Pure functions.

use std::borrow::Cow;

use db::{Money, Timestamp};
use resource::{Kind, Value};
use serde_json::value::RawValue;
use web::locale::{Locale, read_file_time};

use crate::rest::{
    Message,
    json::time_text,
    number::groups,
    spreadsheet::{escape, unescape},
};

const SECOND: i64 = 1_000_000;

/// A value as a cell of a file.
pub(super) fn written(value: Value<'_>) -> String {
    match value {
        Value::Text(text) => escape(text).into_owned(),
        Value::Time(time) => time_text(time),
        value => value.typed(),
    }
}

/// The decimal mark of a file, which its first price with decimals determines.
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

    /// A price with a decimal point, as the API parses it. Never guesses thousands separators.
    pub(super) fn read<'cell>(&mut self, cell: &'cell str) -> Result<Cow<'cell, str>, Message> {
        let mark = match (cell.contains('.'), cell.contains(',')) {
            (false, false) => return Ok(Cow::Borrowed(cell)),
            (true, true) if self.separator == b';' => {
                return Err(Message::fixed(
                    "Um preço tem um só ponto ou vírgula, antes dos centavos: escreva 1234,56.",
                    "A price has one point or one comma, before its decimals: write 1234,56.",
                ));
            }
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
        if *self.mark.get_or_insert(mark) != mark {
            return Err(Message::fixed(
                "Os preços acima usam o outro separador decimal: use um só no arquivo inteiro.",
                "The prices above use the other decimal mark: use only one in the whole file.",
            ));
        }
        Ok(match mark {
            ',' => Cow::Owned(cell.replacen(',', ".", 1)),
            _ => Cow::Borrowed(cell),
        })
    }
}

/// A whole number as the API parses it. Separated thousands are refused: to the API `1.000` is one.
pub(super) fn read_count(cell: &str) -> Result<String, Message> {
    let text = cell.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    let mut marks = ['.', ','].into_iter().filter(|mark| text.contains(*mark));
    match marks.find_map(|mark| groups(text, mark)) {
        None => Ok(cell.to_owned()),
        Some(digits) => Err(Message::new(
            format!("Escreva o número sem separador de milhar: {digits}."),
            format!("Write the number without a thousands separator: {digits}."),
        )),
    }
}

/// A code of a product, such as a barcode. Spreadsheets round long numbers: `7,89100E+12`.
pub(super) fn read_code(cell: &str) -> Result<String, Message> {
    let code = unescape(cell);
    let parts = code.trim().split_once(['E', 'e']);
    let parts = parts.and_then(|(digits, power)| Some((digits, power.strip_prefix('+')?)));
    let is_number = |text: &str, marks: &[char]| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_digit() || marks.contains(&c))
    };
    match parts {
        Some((digits, power))
            if is_number(digits, &['.', ',']) && is_number(power, &[]) && power.len() > 1 =>
        {
            Err(Message::fixed(
                "A planilha arredondou este código: formate a coluna como texto e digite-o de novo.",
                "The spreadsheet has rounded this code: format the column as text, and enter it again.",
            ))
        }
        _ => Ok(code.into_owned()),
    }
}

/// A text as a member of a request body.
pub(super) fn raw_text(text: &str) -> Result<Box<RawValue>, db::Error> {
    serde_json::value::to_raw_value(text).map_err(db::Error::other)
}

/// Whether two texts are the same value of a field.
pub(super) fn is_same_value(kind: Kind, imported: &str, stored: &str) -> bool {
    let imported = imported.trim();
    match kind {
        Kind::Price | Kind::Decimal => is_same_parsed(Money::parse, imported, stored),
        Kind::Time => is_same_time(imported, stored),
        Kind::Id | Kind::Integer { .. } | Kind::Reference => {
            is_same_parsed(str::parse::<i64>, imported, stored)
        }
        // Spreadsheets may change line endings.
        _ => imported.replace("\r\n", "\n") == stored.replace("\r\n", "\n"),
    }
}

/// Files for users have whole seconds, and spreadsheets may store whole minutes. In such a file, an
/// hour that the end of summer time repeats is read as the first of the two.
fn is_same_time(imported: &str, stored: &str) -> bool {
    let (Ok(imported), Ok(stored)) = (Timestamp::parse(imported), Timestamp::parse(stored)) else {
        return false;
    };
    let in_file = read_file_time(&Locale::default().file_time(stored)).unwrap_or(stored);
    let is_cut = |time: Timestamp, unit: i64| {
        time.micros() - time.micros().rem_euclid(unit) == imported.micros()
    };
    let is_same = |time: Timestamp| is_cut(time, SECOND) || is_cut(time, 60 * SECOND);
    imported == stored || is_same(stored) || is_same(in_file)
}

fn is_same_parsed<T: PartialEq, E>(
    read: impl Fn(&str) -> Result<T, E>,
    imported: &str,
    stored: &str,
) -> bool {
    match (read(imported), read(stored)) {
        (Ok(imported), Ok(stored)) => imported == stored,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_whole_number_with_separated_thousands_is_not_taken_for_a_small_one() {
        for thousand in ["1.000", "1,000", " 1.000 ", "+1.000"] {
            let refused = read_count(thousand).unwrap_err();
            let text = "Escreva o número sem separador de milhar: 1000.";
            assert_eq!(refused.text(Locale::PtBr), text);
        }
        for plain in ["1000", "12.0", "12.50", "0.125", "1000.000", "-1", "x"] {
            assert_eq!(read_count(plain).as_deref(), Ok(plain));
        }
    }

    #[test]
    fn a_code_that_a_spreadsheet_rounded_is_refused() {
        assert!(read_code("7,89100E+12").is_err() && read_code("7.891e+12").is_err());
        for code in ["7891000000014", "E+1", "1E+5", "AB-7E+X", "12E", "="] {
            assert_eq!(read_code(code).as_deref(), Ok(code));
        }
    }

    #[test]
    fn a_time_is_the_same_however_a_file_says_it() {
        let is_same = |imported, stored| is_same_value(Kind::Time, imported, stored);
        let stored = "2018-02-18T02:30:09.5Z";
        // In São Paulo it was 23:30 twice, and files do not say which.
        for imported in [stored, "2018-02-18T01:30:09Z", "2018-02-18T01:30:00Z"] {
            assert!(is_same(imported, stored), "{imported}");
        }
        assert!(!is_same("2018-02-18T02:30:00Z", "2018-02-18T01:30:00Z"));
        assert!(!is_same("2018-02-18T01:31:00Z", stored));
    }
}
