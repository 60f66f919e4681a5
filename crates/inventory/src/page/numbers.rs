//! Converts numbers as people type them to the notation of the API. Nothing is guessed: an
//! ambiguous number is refused, and the message names both readings. No I/O.
//!
//! **Amounts.** `1.234,56` and `1,234.56` are accepted in both languages: of two different marks,
//! the last is the decimal one. A single mark before one or two digits is the decimal one (`19,90`,
//! `19.90`). Several equal marks separate thousands (`1.234.567`). A single mark before exactly
//! three digits (`1.234`) is ambiguous and refused.
//!
//! **Counts** have no decimals. They are digits, with or without the thousands separator of the
//! user's language.

use web::locale::Locale;

use crate::rest::number::groups;

/// Why a text is not accepted as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotNumber {
    /// Not a number. The API's own message says so.
    Malformed,
    /// Two readings are possible.
    Ambiguous,
}

/// An amount in the API's notation: digits with a decimal point.
pub(crate) fn amount(typed: &str) -> Result<String, NotNumber> {
    let text = typed.trim();
    let text = text.strip_prefix("R$").unwrap_or(text).trim_start();
    let marks: Vec<(usize, char)> = text
        .char_indices()
        .filter(|(_, character)| matches!(character, '.' | ','))
        .collect();
    let (Some(&(last, decimal)), Some(&(_, first))) = (marks.last(), marks.first()) else {
        return Ok(text.to_owned());
    };
    let (whole, fraction) = (
        text.get(..last).unwrap_or_default(),
        text.get(last + 1..).unwrap_or_default(),
    );
    if first != decimal {
        let is_grouped = !whole.contains(decimal) && groups(whole, first).is_some();
        return match groups(whole, first) {
            Some(digits) if is_grouped => Ok(format!("{digits}.{fraction}")),
            _ => Err(NotNumber::Malformed),
        };
    }
    if marks.len() > 1 {
        return groups(text, decimal).ok_or(NotNumber::Malformed);
    }
    if fraction.len() == 3 && groups(text, decimal).is_some() {
        return Err(NotNumber::Ambiguous);
    }
    Ok(format!("{whole}.{fraction}"))
}

/// A count in the API's notation: digits.
pub(crate) fn count(typed: &str, locale: Locale) -> Result<String, NotNumber> {
    let text = typed.trim();
    if !text.contains(['.', ',']) {
        return Ok(text.to_owned());
    }
    let mark = if locale == Locale::PtBr { '.' } else { ',' };
    groups(text, mark).ok_or(NotNumber::Malformed)
}

/// The error message for a number, in the user's language.
pub(crate) fn message(problem: NotNumber, typed: &str, locale: Locale) -> String {
    match problem {
        NotNumber::Malformed => locale
            .text("Digite um número.", "A valid number is required.")
            .to_owned(),
        NotNumber::Ambiguous => {
            let digits: String = typed.chars().filter(char::is_ascii_digit).collect();
            // Up to three digits before the mark and three after it.
            let thousandths = digits.parse::<u32>().unwrap_or_default();
            let cents = thousandths.saturating_add(5) / 10;
            let mark = locale.text(",", ".");
            format!(
                "{} {digits}{mark}00 {} {}{mark}{:02}.",
                locale.text(
                    "Este valor pode ser lido de duas formas. Escreva",
                    "This amount can be read in two ways. Write"
                ),
                locale.text("ou", "or"),
                cents / 100,
                cents % 100,
            )
        }
    }
}

/// An amount as a form field holds it: with the user's decimal mark, without thousands separators.
pub(crate) fn amount_text(amount: db::Money, locale: Locale) -> String {
    let text = amount.to_string();
    match locale {
        Locale::PtBr => text.replace('.', ","),
        Locale::En => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_in_both_notations_and_never_guessed() {
        for (typed, read) in [
            ("1234.56", Ok("1234.56")),
            ("1234,56", Ok("1234.56")),
            ("1.234,56", Ok("1234.56")),
            ("1,234.56", Ok("1234.56")),
            ("1.234.567,8", Ok("1234567.8")),
            ("1.234.567", Ok("1234567")),
            ("R$ 19,90", Ok("19.90")),
            ("R$\u{a0}19,90", Ok("19.90")),
            (" 20 ", Ok("20")),
            ("0,5", Ok("0.5")),
            ("0.125", Ok("0.125")),
            ("1234.567", Ok("1234.567")),
            ("", Ok("")),
            ("abc", Ok("abc")),
            ("1.234", Err(NotNumber::Ambiguous)),
            ("1,234", Err(NotNumber::Ambiguous)),
            ("1.23,45,6", Err(NotNumber::Malformed)),
            ("12.34,56", Err(NotNumber::Malformed)),
            ("1,2,3", Err(NotNumber::Malformed)),
        ] {
            assert_eq!(amount(typed), read.map(str::to_owned), "{typed}");
        }
    }

    #[test]
    fn counts_take_the_readers_thousands_mark_and_no_decimals() {
        for (locale, typed, read) in [
            (Locale::PtBr, "1.234", Ok("1234")),
            (Locale::En, "1,234", Ok("1234")),
            (Locale::En, "12", Ok("12")),
            (Locale::En, "1.234", Err(NotNumber::Malformed)),
            (Locale::PtBr, "1,234", Err(NotNumber::Malformed)),
            (Locale::PtBr, "2,5", Err(NotNumber::Malformed)),
            (Locale::PtBr, "0.123", Err(NotNumber::Malformed)),
            (Locale::PtBr, "1.23", Err(NotNumber::Malformed)),
        ] {
            assert_eq!(count(typed, locale), read.map(str::to_owned), "{typed}");
        }
    }

    #[test]
    fn an_ambiguous_amount_is_told_with_both_ways_out() {
        assert_eq!(
            message(NotNumber::Ambiguous, "1.234", Locale::PtBr),
            "Este valor pode ser lido de duas formas. Escreva 1234,00 ou 1,23."
        );
    }
}
