//! JSON objects, split into the source texts of their members. Each member is parsed on its own.
//! Used for requests and for the provider's responses.
//!
//! A member of a wrong type must not make the whole object unreadable, and no amount may become a
//! float. `request` and `provider` interpret the members.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A JSON object whose members are unparsed source texts.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

/// Why a text cannot be parsed as an [`Object`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAnObject {
    Malformed,
    /// The text is JSON, or begins like JSON, but is not an object.
    OtherType,
}

/// The value of a member by its JSON type. `true`, `false`, arrays and objects are all
/// [`Value::Other`], since most callers want a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Null,
    /// A string with its quotes and escapes; [`unescape`] decodes it.
    Text(&'a str),
    Number(&'a str),
    /// The source text of any other value.
    Other(&'a str),
}

impl<'a> Object<'a> {
    /// Splits `text` into members. Values are skipped without recursion, so deep nesting needs no
    /// stack.
    pub(crate) fn parse(text: &'a str) -> Result<Self, NotAnObject> {
        serde_json::from_str(text).map_err(|error| {
            if error.is_data() {
                NotAnObject::OtherType
            } else {
                NotAnObject::Malformed
            }
        })
    }

    /// The value of the member `name`. If the name occurs several times, the last value counts, as
    /// in most JSON parsers. A missing member is `null`.
    pub(crate) fn get(&self, name: &str) -> Value<'a> {
        self.members
            .iter()
            .rev()
            .find(|(member, _)| member == name)
            .map_or(Value::Null, |(_, value)| Value::of(value))
    }

    /// The names of the members, including duplicates.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(name, _)| name.as_ref())
    }

    /// The object in the member `name`. `None` if the value has another type.
    pub(crate) fn object(&self, name: &str) -> Option<Object<'a>> {
        self.get(name).object()
    }

    /// The elements of the array in the member `name`. Empty if the value has another type.
    pub(crate) fn array(&self, name: &str) -> Vec<Value<'a>> {
        elements(self.get(name))
    }

    /// Whether two members have the same name after decoding escapes.
    pub(crate) fn repeats_a_member(&self) -> bool {
        let mut names: Vec<&str> = self.members.iter().map(|(name, _)| name.as_ref()).collect();
        names.sort_unstable();
        names.windows(2).any(|pair| pair.first() == pair.last())
    }
}

/// The elements of an array. Empty if the value has another type.
pub(crate) fn elements(value: Value<'_>) -> Vec<Value<'_>> {
    let Value::Other(text) = value else {
        return Vec::new();
    };
    let elements: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
    elements.into_iter().map(Value::of).collect()
}

impl<'a> Value<'a> {
    fn of(raw: &'a RawValue) -> Self {
        let text = raw.get();
        match text.as_bytes().first() {
            Some(b'"') => Value::Text(text),
            Some(b'-' | b'0'..=b'9') => Value::Number(text),
            Some(b'n') => Value::Null,
            _ => Value::Other(text),
        }
    }

    /// The object. `None` if the value has another type.
    pub(crate) fn object(self) -> Option<Object<'a>> {
        match self {
            Value::Other(text) => Object::parse(text).ok(),
            _ => None,
        }
    }

    /// A string or a number as text. `None` if the value has another type.
    pub(crate) fn scalar(self) -> Option<String> {
        match self {
            Value::Text(source) => unescape(source),
            Value::Number(source) => Some(source.to_owned()),
            Value::Null | Value::Other(_) => None,
        }
    }
}

/// A value of ours as JSON. It never fails in practice, since all of them can be serialised.
pub(crate) fn to_text(value: &impl Serialize) -> Result<String, db::Error> {
    serde_json::to_string(value).map_err(db::Error::other)
}

/// Decodes a JSON string with its quotes. `None` if it contains an unpaired surrogate.
pub(crate) fn unescape(source: &str) -> Option<String> {
    serde_json::from_str(source).ok()
}

/// A member's name, borrowed from the source text unless it contains escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((Name(name), value)) = map.next_entry()? {
            members.push((name, value));
        }
        Ok(Object { members })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_the_text_they_were_written_with() {
        let object =
            Object::parse(r#"{"a": 1.50, "b":"x\n", "c": null, "d":[1], "e":{"f":2}}"#).unwrap();
        assert_eq!(object.get("a"), Value::Number("1.50"));
        assert_eq!(object.get("b"), Value::Text(r#""x\n""#));
        assert_eq!(object.get("c"), Value::Null);
        assert_eq!(object.get("missing"), Value::Null);
        assert_eq!(object.array("d"), vec![Value::Number("1")]);
        assert_eq!(object.object("e").unwrap().get("f"), Value::Number("2"));
    }

    #[test]
    fn a_name_written_with_escapes_is_the_same_name() {
        let object = Object::parse(r#"{"\u0061":1,"a":2}"#).unwrap();
        assert!(object.repeats_a_member());
        assert_eq!(object.get("a"), Value::Number("2"));
        assert!(
            !Object::parse(r#"{"a":1,"b":1}"#)
                .unwrap()
                .repeats_a_member()
        );
    }

    #[test]
    fn escapes_are_read_and_half_surrogates_refused() {
        assert_eq!(
            unescape(r#""\"\\\/\b\f\n\r\t\u0041\uD83D\uDE00é""#).as_deref(),
            Some("\"\\/\u{8}\u{c}\n\r\tA😀é")
        );
        for lone in [
            r#""\ud800""#,
            r#""\udc00""#,
            r#""\ud800\u0041""#,
            r#""\ud800x""#,
        ] {
            assert_eq!(unescape(lone), None, "{lone}");
        }
    }
}
