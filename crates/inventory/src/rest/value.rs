//! One member of a request body by its JSON type. Numbers keep their notation. `fields` decides
//! which values a field accepts.

use serde_json::value::RawValue;

/// The parts of a JSON value that matter to fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, as written.
    Number(String),
    /// A string, decoded.
    Text(String),
    /// A string with unpaired surrogates, which is no valid text: the first such code unit, and the
    /// string with U+FFFD in their places.
    LoneSurrogate(u16, String),
    /// An array.
    List,
    /// An object.
    Object,
}

impl Value {
    /// Classifies a value of a body that the parser has accepted.
    pub fn of(raw: &RawValue) -> Self {
        let text = raw.get();
        match text.as_bytes().first() {
            Some(b'n') => Self::Null,
            Some(b't' | b'f') => Self::Bool,
            Some(b'"') => match serde_json::from_str(text) {
                Ok(decoded) => Self::Text(decoded),
                Err(_) => without_lone_surrogates(text),
            },
            Some(b'[') => Self::List,
            Some(b'{') => Self::Object,
            _ => Self::Number(text.to_owned()),
        }
    }

    /// The type's name in messages to clients (those of Python).
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "NoneType",
            Self::Bool => "bool",
            Self::Number(text) if is_written_as_integer(text) => "int",
            Self::Number(_) => "float",
            Self::Text(_) | Self::LoneSurrogate(..) => "str",
            Self::List => "list",
            Self::Object => "dict",
        }
    }
}

/// Whether a JSON number has neither a fraction nor an exponent.
pub fn is_written_as_integer(number: &str) -> bool {
    !number.contains(['.', 'e', 'E'])
}

/// Replaces the unpaired `\uD800`–`\uDFFF` escapes. A string that the parser accepts but cannot
/// decode has one.
fn without_lone_surrogates(json: &str) -> Value {
    let mut escapes = escapes(json).into_iter().peekable();
    let (mut first, mut replaced) = (None, json.to_owned());
    while let Some((at, unit)) = escapes.next() {
        let is_pair = matches!(unit, 0xD800..=0xDBFF)
            && escapes
                .next_if(|(next, low)| *next == at + 6 && matches!(low, 0xDC00..=0xDFFF))
                .is_some();
        if !is_pair && matches!(unit, 0xD800..=0xDFFF) {
            first.get_or_insert(unit);
            replaced.replace_range(at..at + 6, "\\ufffd");
        }
    }
    let text = serde_json::from_str(&replaced).unwrap_or_default();
    Value::LoneSurrogate(first.unwrap_or(0xD800), text)
}

/// Every `\uXXXX` escape of a JSON string: its offset and its code unit.
fn escapes(json: &str) -> Vec<(usize, u16)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = json.get(at..).and_then(|rest| rest.find('\\')) {
        at += offset;
        let digits = json
            .get(at + 1..at + 6)
            .and_then(|escape| escape.strip_prefix('u'));
        if let Some(unit) = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            found.push((at, unit));
        }
        // Skips the backslash and the next character, so that `\\` does not begin an escape.
        at += 2;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Value {
        Value::of(&RawValue::from_string(json.to_owned()).expect("valid JSON"))
    }

    #[test]
    fn numbers_stay_as_written() {
        assert_eq!(value("10.990"), Value::Number("10.990".to_owned()));
        assert_eq!(value("1e30"), Value::Number("1e30".to_owned()));
    }

    #[test]
    fn a_surrogate_without_partner_is_found() {
        for (json, unit, text) in [
            (r#""a\ud800b""#, 0xD800, "a\u{fffd}b"),
            (
                r#""\ud83d\ude00\udc01\ud800\"""#,
                0xDC01,
                "😀\u{fffd}\u{fffd}\"",
            ),
        ] {
            assert_eq!(value(json), Value::LoneSurrogate(unit, text.to_owned()));
        }
        assert_eq!(value(r#""\ud83d\ude00""#), Value::Text("😀".to_owned()));
    }
}
