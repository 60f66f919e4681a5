//! Reads the values of the provider's responses.

use db::{Money, Timestamp};

use super::Failure;
use super::message::{SHORT_RUN, clean};
use crate::json::{Object, Value};

pub(super) fn object(status: u16, body: &[u8]) -> Result<Object<'_>, Failure> {
    let text = std::str::from_utf8(body).map_err(|_| Failure::unreadable(status, "not UTF-8"))?;
    Object::parse(text).map_err(|_| Failure::unreadable(status, "not a JSON object"))
}

/// A string or a number as text. `None` if it is blank, of another type, or has control characters,
/// which the database cannot store.
pub(super) fn text(value: Value<'_>) -> Option<String> {
    let is_text = |text: &String| !text.trim().is_empty() && !text.chars().any(char::is_control);
    value.scalar().filter(is_text)
}

/// One of the provider's words. None of them has more than a single digit (`3ds`), but a card's
/// number, security code and expiry have.
pub(super) fn word(value: Value<'_>) -> Option<String> {
    let word = value.scalar().filter(|word| !word.trim().is_empty());
    word.map(|word| clean(&word, SHORT_RUN))
}

/// A valid date, unchanged.
pub(super) fn date(value: Value<'_>) -> Option<String> {
    text(value).filter(|date| Timestamp::parse(date).is_ok())
}

/// Parses a number or a numeric string. Zeros after the second decimal are ignored.
pub(super) fn money(value: Value<'_>) -> Option<Money> {
    let source = text(value)?;
    let source = source.trim();
    let plain = match source.split_once('.') {
        Some((_, fraction)) if fraction.len() > 2 => {
            source.trim_end_matches('0').trim_end_matches('.')
        }
        _ => source,
    };
    Money::parse(plain).ok()
}
