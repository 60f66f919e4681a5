//! Parses a request body field by field into typed values and collects the errors of all fields.
//! The messages are those of the conventions. The fields are defined with their resource.

mod draft;
mod imported;
mod kinds;
mod source;

use std::collections::HashMap;

use db::Timestamp;
use serde_json::value::RawValue;

use super::{message::Message, value::Value};
pub use draft::Draft;
use kinds::{ParseResult, refuse};
pub use resource::Reference;
use resource::{Field, Kind, Source as _, Submitted};

/// The longest description, in characters.
pub const MAX_DESCRIPTION: usize = 65_536;

/// The parsed members of a request body.
pub type Members = HashMap<String, Box<RawValue>>;

/// Error messages by field, in the order of the resource's fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldErrors(Vec<(&'static str, Vec<Message>)>);

impl FieldErrors {
    /// One message of one field.
    pub fn of(field: &'static str, message: Message) -> Self {
        let mut errors = Self::default();
        errors.add(field, message);
        errors
    }

    /// Adds a message. A field's position is that of its first message.
    pub fn add(&mut self, field: &'static str, message: Message) {
        match self.0.iter_mut().find(|(name, _)| *name == field) {
            Some((_, messages)) => messages.push(message),
            None => self.0.push((field, vec![message])),
        }
    }

    /// Whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `Ok` if there are no messages, otherwise the messages.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }

    /// Whether there is a message of this field.
    pub fn has(&self, field: &str) -> bool {
        self.0.iter().any(|(name, _)| *name == field)
    }

    /// Drops the messages of the fields that `is_left_out` accepts.
    #[must_use]
    pub(crate) fn without(mut self, is_left_out: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|(name, _)| !is_left_out(name));
        self
    }

    /// Sorts by the resource's field order. Needed because the checks against the database come
    /// last.
    #[must_use]
    pub fn in_order(mut self, fields: &[&'static Field]) -> Self {
        self.0.sort_by_key(|(name, _)| {
            fields
                .iter()
                .position(|field| field.name == *name)
                .unwrap_or(usize::MAX)
        });
        self
    }

    pub(crate) fn first(&self) -> Option<(&'static str, &Message)> {
        let (name, messages) = self.0.first()?;
        Some((name, messages.first()?))
    }

    /// Every field with its messages.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &[Message])> {
        self.0
            .iter()
            .map(|(name, messages)| (*name, messages.as_slice()))
    }
}

/// How an absent member is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// POST and PUT: required fields must be present.
    Whole,
    /// PATCH: absent fields keep their value.
    Partial,
}

/// Reads the described fields of one body. Call it once a field, in the resource's order.
#[derive(Debug)]
pub struct Reader<'body> {
    members: &'body Members,
    mode: Mode,
    errors: FieldErrors,
    /// The fields to read, if the others are to be left alone.
    fields: Option<&'body [&'static Field]>,
    /// The time of the import, which may set ids and times. `None` for a body or a form.
    imported_at: Option<Timestamp>,
}

/// The errors of these fields that can be found without the database.
pub(crate) fn problems(
    fields: impl IntoIterator<Item = &'static Field>,
    members: &Members,
    mode: Mode,
) -> FieldErrors {
    let mut reader = Reader::new(members, mode);
    for field in fields {
        match field.kind {
            Kind::Reference => drop(reader.reference(field)),
            _ => drop(reader.field(field)),
        }
    }
    reader.finish()
}

impl<'body> Reader<'body> {
    /// A reader of one body.
    pub fn new(members: &'body Members, mode: Mode) -> Self {
        Self {
            members,
            mode,
            errors: FieldErrors::default(),
            fields: None,
            imported_at: None,
        }
    }

    /// The value of a field; `None` if it is absent. An invalid one is an error, and the value does
    /// not matter.
    pub fn read<T: Submitted>(&mut self, field: &'static Field) -> Option<T> {
        T::read(self, field)
    }

    /// The errors of all fields.
    pub fn finish(self) -> FieldErrors {
        self.errors
    }

    fn required<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&Value) -> ParseResult<T>,
    ) -> Option<T> {
        let Some(raw) = self.members.get(field) else {
            if self.mode == Mode::Whole {
                self.errors.add(field, Message::REQUIRED);
            }
            return None;
        };
        match Value::of(raw) {
            Value::Null => self.report(field, refuse(Message::NULL)),
            value => self.report(field, read(&value)),
        }
    }

    #[expect(clippy::option_option, reason = "a member may be absent, or null")]
    fn optional<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&Value) -> ParseResult<T>,
    ) -> Option<Option<T>> {
        match Value::of(self.members.get(field)?) {
            Value::Null => Some(None),
            // An invalid value is reported as an error, so the value does not matter.
            value => Some(self.report(field, read(&value))),
        }
    }

    fn report<T>(&mut self, field: &'static str, read: ParseResult<T>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(messages) => {
                for message in messages {
                    self.errors.add(field, message);
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use resource::{Named, integer, reference, text};
    use serde_json::value::to_raw_value;

    use super::*;

    const TEXT: &Field = &text::<String>("Texto", "Text", 500).named("field");
    const NAME: &Field = &text::<String>("Nome", "Name", 500).name().named("field");
    const INTEGER: &Field = &integer::<i64>("Inteiro", "Integer", 1, 9).named("field");
    const REFERENCE: &Field = &reference::<Named>("Marca", "Brand", "brands").named("field");

    /// A member's value without errors.
    fn accepted<T: Submitted>(json: &str, field: &'static Field) -> T {
        let members = serde_json::from_str(&format!("{{\"field\":{json}}}")).unwrap();
        let mut reader = Reader::new(&members, Mode::Whole);
        let value = reader.read(field);
        assert!(reader.finish().is_empty(), "{json}");
        value.unwrap()
    }

    #[test]
    fn values_are_read_in_every_accepted_spelling() {
        let longest = "é".repeat(500);
        for (json, text) in [
            ("\"\u{a0} Café\u{3000}\"", "Café"),
            ("\"\u{200b}a\"", "\u{200b}a"),
            ("12", "12"),
            ("1.50", "1.50"),
            (&format!("\"{longest}\""), &longest),
        ] {
            assert_eq!(accepted::<String>(json, TEXT), text);
        }
        for json in [
            "5", "\"5\"", "\" 5 \"", "\"+5\"", "\"005\"", "5.0", "\"5.0\"", "\"5.\"", "0.5e1",
        ] {
            assert_eq!(accepted::<i64>(json, INTEGER), 5, "{json}");
        }
        assert_eq!(accepted::<Reference>("\" 07 \"", REFERENCE).id, 7);
    }

    #[test]
    fn a_name_of_which_nothing_can_be_seen_is_blank() {
        let read = |text: &str| {
            let members: Members = [("field".to_owned(), to_raw_value(text).unwrap())].into();
            let mut reader = Reader::new(&members, Mode::Whole);
            (reader.read::<String>(NAME), reader.finish())
        };
        for text in [
            "\u{200b}",
            "\u{200b} \u{feff}",
            "\u{2060}\u{ad}",
            "\u{3164}",
            "\u{e0020}\u{fe0f}",
        ] {
            assert_eq!(
                read(text),
                (None, FieldErrors::of("field", Message::BLANK)),
                "{text:?}"
            );
        }
        // Between letters these characters matter: they join emoji and shape scripts.
        for text in ["👩\u{200d}🍳", "می\u{200c}خواهم", "\u{200b}a"] {
            assert_eq!(read(text), (Some(text.to_owned()), FieldErrors::default()));
        }
    }
}
