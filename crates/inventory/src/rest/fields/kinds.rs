//! Parses the values of fields by kind: texts, integers, prices and references, with the messages
//! for invalid ones.

use db::Money;

use super::{
    super::{
        message::Message,
        number::{Decimal, MAX_NUMBER_LENGTH, is_integer},
        value::{Value, is_written_as_integer},
    },
    Reference,
};

/// The parsed value, or all error messages.
pub(super) type ParseResult<T> = Result<T, Vec<Message>>;

pub(super) fn refuse<T>(message: Message) -> ParseResult<T> {
    Err(vec![message])
}

/// Trims white space as clients of the conventions expect: Unicode's, and the four ASCII
/// separators.
fn trim(text: &str) -> &str {
    text.trim_matches(|character: char| {
        character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
    })
}

pub(super) fn text(value: &Value, max: Option<usize>) -> ParseResult<String> {
    let (text, surrogate) = match value {
        Value::Text(text) | Value::Number(text) => (trim(text), None),
        Value::LoneSurrogate(unit, text) => (trim(text), Some(unit)),
        _ => {
            let message = Message::fixed("Isto não é um texto válido.", "Not a valid string.");
            return refuse(message);
        }
    };
    let mut messages = Vec::new();
    if let Some(max) = max
        && text.chars().count() > max
    {
        messages.push(Message::too_long(max));
    }
    if text.contains('\0') {
        messages.push(Message::NULL_CHARACTERS);
    }
    if let Some(unit) = surrogate {
        messages.push(Message::new(
            "Há um caractere que não é permitido.",
            format!("Surrogate characters are not allowed: U+{unit:04X}."),
        ));
    }
    if messages.is_empty() {
        Ok(text.to_owned())
    } else {
        Err(messages)
    }
}

pub(super) fn integer(value: &Value, min: i64, max: i64) -> ParseResult<i64> {
    const INVALID: Message = Message::NOT_AN_INTEGER;
    let number = match value {
        Value::Text(text) if text.chars().count() > MAX_NUMBER_LENGTH => {
            return refuse(Message::TOO_LONG_A_NUMBER);
        }
        // In a string, only zeros may follow the decimal point, and an exponent is refused. In a
        // JSON number, the exponent is part of the notation.
        Value::Text(text) if text.contains(['e', 'E']) || text.trim().starts_with('.') => {
            return refuse(INVALID);
        }
        Value::Text(text) | Value::Number(text) => Decimal::parse(text),
        _ => None,
    };
    let Some(number) = number.filter(|number| !number.is_astronomic()) else {
        return refuse(INVALID);
    };
    match number.to_integer() {
        Some(integer) if integer < i128::from(min) => refuse(Message::at_least(min)),
        Some(integer) if integer > i128::from(max) => refuse(Message::at_most(max)),
        Some(integer) => i64::try_from(integer).or_else(|_| refuse(INVALID)),
        None if number.is_whole() && number.is_negative() => refuse(Message::at_least(min)),
        None if number.is_whole() => refuse(Message::at_most(max)),
        None => refuse(INVALID),
    }
}

pub(super) fn price(value: &Value) -> ParseResult<Money> {
    const INVALID: Message = Message::NOT_A_NUMBER;
    match value {
        Value::Text(text) if text.chars().count() > MAX_NUMBER_LENGTH => {
            refuse(Message::TOO_LONG_A_NUMBER)
        }
        Value::Text(text) | Value::Number(text) => match Decimal::parse(text) {
            Some(number) => number.to_price().or_else(refuse),
            None => refuse(INVALID),
        },
        _ => refuse(INVALID),
    }
}

pub(super) fn reference(value: &Value) -> ParseResult<Reference> {
    let wrong_kind = || {
        refuse(Message::new(
            "Escolha um item da lista.",
            format!(
                "Incorrect type. Expected pk value, received {}.",
                value.kind()
            ),
        ))
    };
    let sent = match value {
        Value::Text(text) if trim(text).is_empty() => return refuse(Message::NULL),
        Value::Text(text) => trim(text),
        Value::Number(text) if is_written_as_integer(text) => text,
        _ => return wrong_kind(),
    };
    if !is_integer(sent) {
        return wrong_kind();
    }
    let shown = match value {
        Value::Text(text) => text,
        _ => sent,
    };
    // No row has the id 0, so an id out of range counts as unknown.
    Ok(Reference {
        id: sent.parse().unwrap_or(0),
        sent: shown.chars().take(MAX_NUMBER_LENGTH).collect(),
    })
}
