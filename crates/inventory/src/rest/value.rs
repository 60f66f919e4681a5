//! One member of a request body, by its JSON type, with numbers kept as they were written.
//! What a field accepts is decided in `fields`.

use serde_json::value::RawValue;

/// A JSON value as far as a field needs to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, exactly as written.
    Number(String),
    /// A string, decoded.
    Text(String),
    /// A string with a surrogate that has no partner, which is no text: the first such unit.
    LoneSurrogate(u16),
    /// An array.
    List,
    /// An object.
    Object,
}

impl Value {
    /// Looks at one value of a body that has been parsed already.
    pub fn of(raw: &RawValue) -> Self {
        let text = raw.get();
        match text.as_bytes().first() {
            Some(b'n') => Self::Null,
            Some(b't' | b'f') => Self::Bool,
            Some(b'"') => match serde_json::from_str(text) {
                Ok(decoded) => Self::Text(decoded),
                Err(_) => Self::LoneSurrogate(first_lone_surrogate(text)),
            },
            Some(b'[') => Self::List,
            Some(b'{') => Self::Object,
            _ => Self::Number(text.to_owned()),
        }
    }

    /// The name of the kind that messages to clients use.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "NoneType",
            Self::Bool => "bool",
            Self::Number(text) if is_written_as_integer(text) => "int",
            Self::Number(_) => "float",
            Self::Text(_) | Self::LoneSurrogate(_) => "str",
            Self::List => "list",
            Self::Object => "dict",
        }
    }
}

/// Whether a JSON number has neither a fraction nor an exponent.
pub fn is_written_as_integer(number: &str) -> bool {
    !number.contains(['.', 'e', 'E'])
}

/// The first `\uD800`–`\uDFFF` escape without its partner. A string that does not decode although
/// the parser accepted its grammar has one.
fn first_lone_surrogate(json: &str) -> u16 {
    let mut escapes = escapes(json).into_iter().peekable();
    while let Some((at, unit)) = escapes.next() {
        let is_pair = matches!(unit, 0xD800..=0xDBFF)
            && escapes
                .next_if(|(next, low)| *next == at + 6 && matches!(low, 0xDC00..=0xDFFF))
                .is_some();
        if !is_pair && matches!(unit, 0xD800..=0xDFFF) {
            return unit;
        }
    }
    0xD800
}

/// Every `\uXXXX` of a JSON string: where it begins, and its unit.
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
        // Past the backslash and what it escapes, so that an escaped backslash begins nothing.
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
    fn every_kind_has_the_name_that_clients_know() {
        let kinds =
            ["null", "true", "1", "1.0", "1e3", "\"a\"", "[]", "{}"].map(|json| value(json).kind());
        assert_eq!(
            kinds,
            [
                "NoneType", "bool", "int", "float", "float", "str", "list", "dict"
            ]
        );
    }

    #[test]
    fn a_surrogate_without_partner_is_found() {
        assert_eq!(value(r#""a\ud800b""#), Value::LoneSurrogate(0xD800));
        assert_eq!(
            value(r#""\ud83d\ude00\udc01""#),
            Value::LoneSurrogate(0xDC01)
        );
        assert_eq!(value(r#""\ud83d\ude00""#), Value::Text("😀".to_owned()));
    }
}
