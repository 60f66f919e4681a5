//! Parses a request body into the members of one JSON object. Error messages are worded as clients
//! of the conventions expect.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    charset,
    fields::Members,
    json_syntax::{self, MAX_DIGITS, SyntaxError},
    query::Parameters,
    value::Value,
};

/// The most bytes in the body of somebody who has not logged in.
pub(crate) const STRANGERS_BODY: usize = 64 * 1024;

/// Why a body could not be parsed as a JSON object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The content type is not JSON: 415.
    #[error("unsupported media type")]
    MediaType(String),
    /// Invalid JSON: 400 with this `detail`.
    #[error("malformed JSON")]
    Malformed(String),
    /// Valid JSON, but not an object: 400 with this message under `non_field_errors`.
    #[error("not an object")]
    NotAnObject(String),
}

/// Parses a body as one JSON object. An empty body is an object without members. Duplicate members
/// are refused, because parsers disagree on which value counts. The content type is checked first,
/// then the JSON, then that it is an object.
pub fn parse(content_type: Option<&str>, body: &[u8]) -> Result<Members, BodyError> {
    if body.is_empty() {
        return Ok(Members::new());
    }
    if !is_json(content_type) {
        return Err(BodyError::MediaType(
            content_type.unwrap_or_default().chars().take(200).collect(),
        ));
    }
    let text = charset::decode(content_type, body)
        .map_err(|reason| BodyError::Malformed(format!("JSON parse error - {reason}")))?;
    let text = &*text;
    if text.starts_with('\u{feff}') {
        return Err(BodyError::Malformed(with_position(
            "Unexpected UTF-8 BOM (decode using utf-8-sig)",
            text,
            0,
        )));
    }
    let raw: &RawValue = serde_json::from_str(text).map_err(|_| syntax_error(text))?;
    if text.len() > MAX_DIGITS && json_syntax::find_error(text).is_some() {
        return Err(syntax_error(text));
    }
    match Value::of(raw) {
        Value::Object => match serde_json::from_str(text).map_err(|_| syntax_error(text))? {
            Object {
                repeated: Some(name),
                ..
            } => Err(BodyError::Malformed(format!(
                "JSON parse error - Duplicate member '{}'",
                name.chars().take(200).collect::<String>()
            ))),
            Object { members, .. } => Ok(members),
        },
        Value::Null => Err(BodyError::NotAnObject("No data provided".to_owned())),
        value => Err(BodyError::NotAnObject(format!(
            "Invalid data. Expected a dictionary, but got {}.",
            value.kind()
        ))),
    }
}

/// The members of an object, and the first duplicate name.
#[derive(Default)]
struct Object {
    members: Members,
    repeated: Option<String>,
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut object = Object::default();
        while let Some((name, value)) = map.next_entry::<Box<RawValue>, Box<RawValue>>()? {
            // A name with a lone surrogate is that of no field.
            let Ok(name) = serde_json::from_str::<String>(name.get()) else {
                continue;
            };
            if object.repeated.is_none() && object.members.contains_key(&name) {
                object.repeated = Some(name.clone());
            }
            object.members.insert(name, value);
        }
        Ok(object)
    }
}

/// Parses a form's body as members that are all texts, so that [`fields`](super::fields) can check
/// forms and JSON alike. Browsers send line ends as CR LF. They are stored as LF, so that an
/// unchanged text stays equal and keeps its length.
pub fn parse_form(body: &[u8]) -> Members {
    let form = Parameters::parse(&String::from_utf8_lossy(body));
    form.iter()
        .filter_map(|(name, value)| {
            let value = serde_json::value::to_raw_value(&value.replace("\r\n", "\n")).ok()?;
            Some((name.to_owned(), value))
        })
        .collect()
}

/// Whether a content type is `application/x-www-form-urlencoded`.
pub fn is_form(content_type: Option<&str>) -> bool {
    essence(content_type).eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

fn essence(content_type: Option<&str>) -> &str {
    content_type
        .and_then(|value| value.split(';').next())
        .unwrap_or_default()
        .trim()
}

/// Whether a content type is `application/json`, in any case and with any parameters. Wildcards,
/// which some clients send, count too.
pub(crate) fn is_json(content_type: Option<&str>) -> bool {
    let essence = essence(content_type);
    ["application/json", "application/*", "*/*"]
        .iter()
        .any(|accepted| essence.eq_ignore_ascii_case(accepted))
}

/// The error for a text that the JSON parser refused.
fn syntax_error(text: &str) -> BodyError {
    BodyError::Malformed(match json_syntax::find_error(text) {
        Some(SyntaxError::Constant(name)) => {
            format!("JSON parse error - Out of range float values are not JSON compliant: '{name}'")
        }
        Some(SyntaxError::Digits(digits)) => format!(
            "JSON parse error - Exceeds the limit ({MAX_DIGITS} digits) for integer string conversion: value has {digits} digits"
        ),
        Some(SyntaxError::At(words, at)) => with_position(words, text, at),
        None => with_position("Expecting value", text, 0),
    })
}

fn with_position(words: &str, text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    format!(
        "JSON parse error - {words}: line {line} column {column} (char {})",
        before.chars().count()
    )
}

/// The value of a member, if it is a text.
pub(crate) fn text(members: &Members, name: &str) -> Option<String> {
    match Value::of(members.get(name)?) {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: Option<&str> = Some("application/json");

    #[test]
    fn only_json_is_taken() {
        for accepted in [
            "application/json",
            "APPLICATION/JSON",
            "application/json; charset=utf-8",
            "application/*",
            "*/*",
        ] {
            assert!(parse(Some(accepted), b"{}").is_ok(), "{accepted}");
        }
    }

    #[test]
    fn a_member_whose_name_is_no_text_is_ignored_as_an_unknown_one() {
        // Nested objects are not checked for duplicate members.
        let members = parse(JSON, br#"{"\ud800":1,"a":{"b":1,"b":2},"\ud800":3}"#).unwrap();
        assert_eq!(members.keys().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn an_integer_has_4300_digits_at_most() {
        let long = |digits, rest| format!("{{\"a\":[-{}{rest}]}}", "9".repeat(digits));
        assert!(parse(JSON, long(4300, "").as_bytes()).is_ok());
        assert!(parse(JSON, long(5000, ".0").as_bytes()).is_ok());
        let detail = "JSON parse error - Exceeds the limit (4300 digits) for integer string conversion: value has 4301 digits";
        let refused = parse(JSON, long(4301, "").as_bytes()).unwrap_err();
        assert_eq!(refused, BodyError::Malformed(detail.to_owned()));
    }
}
