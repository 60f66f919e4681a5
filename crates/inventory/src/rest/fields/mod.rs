//! Parses a request body field by field into typed values and collects the errors of all fields.
//! The messages are those of the conventions. The fields are defined with their resource.

mod draft;
mod imported;
mod kinds;
mod source;

use std::collections::HashMap;

use db::{Money, Timestamp};
use serde_json::value::RawValue;

use super::{message::Message, value::Value};
pub use draft::Draft;
use kinds::{ParseResult, integer, is_invisible, price, reference, refuse, text};
use resource::Field;
pub use resource::{Reference, Setting};

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
    pub fn in_order(mut self, fields: &[&str]) -> Self {
        self.0.sort_by_key(|(name, _)| {
            fields
                .iter()
                .position(|field| field == name)
                .unwrap_or(usize::MAX)
        });
        self
    }

    /// The first field, with its first message.
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

/// Reads the fields of one body. Call it once a field, in the resource's order.
#[derive(Debug)]
pub struct Reader<'body> {
    members: &'body Members,
    mode: Mode,
    errors: FieldErrors,
    /// The described fields to read. The others are left alone.
    fields: &'body [&'static Field],
    /// The time of the import, which may set ids and times. `None` for a body or a form.
    imported_at: Option<Timestamp>,
}

impl<'body> Reader<'body> {
    /// A reader of one body, without described fields.
    pub fn new(members: &'body Members, mode: Mode) -> Self {
        Self::of_fields(&[], members, mode)
    }

    fn of_fields(fields: &'body [&'static Field], members: &'body Members, mode: Mode) -> Self {
        Self {
            members,
            mode,
            errors: FieldErrors::default(),
            fields,
            imported_at: None,
        }
    }

    /// A required text, trimmed, not blank, of at most `max` characters.
    pub fn text(&mut self, field: &'static str, max: usize) -> Option<String> {
        self.required(field, |value| {
            let text = text(value, Some(max))?;
            if text.is_empty() {
                refuse(Message::BLANK)
            } else {
                Ok(text)
            }
        })
    }

    /// A record's name: a required text as of [`text`](Self::text) with at least one visible
    /// character.
    pub fn name(&mut self, field: &'static str, max: usize) -> Option<String> {
        let name = self.text(field, max)?;
        if name.chars().all(is_invisible) {
            self.errors.add(field, Message::BLANK);
            return None;
        }
        Some(name)
    }

    /// An optional text of at most `max` characters.
    pub fn optional_text(&mut self, field: &'static str, max: usize) -> Setting<Option<String>> {
        self.optional(field, |value| text(value, Some(max)))
    }

    /// A required integer between `min` and `max`.
    pub fn integer(&mut self, field: &'static str, min: i64, max: i64) -> Option<i64> {
        self.required(field, |value| integer(value, min, max))
    }

    /// An optional integer between `min` and `max`.
    pub fn optional_integer(
        &mut self,
        field: &'static str,
        min: i64,
        max: i64,
    ) -> Setting<Option<i64>> {
        self.optional(field, |value| integer(value, min, max))
    }

    /// A required price: 0 or more, 20 digits before the point and 2 after.
    pub fn price(&mut self, field: &'static str) -> Option<Money> {
        self.required(field, price)
    }

    /// An optional decimal number: 0 or more, at most two places, with the limits of prices.
    pub fn optional_decimal(&mut self, field: &'static str) -> Setting<Option<Money>> {
        self.optional(field, price)
    }

    /// A required reference to another record by its integer id.
    pub fn reference(&mut self, field: &'static str) -> Option<Reference> {
        self.required(field, reference)
    }

    /// Adds an error if this optional field is absent.
    pub fn require(&mut self, field: &'static str) {
        if !self.members.contains_key(field) {
            self.errors.add(field, Message::REQUIRED);
        }
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

    fn optional<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&Value) -> ParseResult<T>,
    ) -> Setting<Option<T>> {
        let Some(raw) = self.members.get(field) else {
            return Setting::Kept;
        };
        match Value::of(raw) {
            Value::Null => Setting::Set(None),
            // An invalid value is reported as an error, so the value does not matter.
            value => Setting::Set(self.report(field, read(&value))),
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
    use serde_json::value::to_raw_value;

    use super::*;

    /// A member's value as `read` reads it, without errors.
    fn accepted<T>(json: &str, read: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> T {
        let members = serde_json::from_str(&format!("{{\"field\":{json}}}")).unwrap();
        let mut reader = Reader::new(&members, Mode::Whole);
        let value = read(&mut reader);
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
            assert_eq!(accepted(json, |reader| reader.text("field", 500)), text);
        }
        for json in [
            "5", "\"5\"", "\" 5 \"", "\"+5\"", "\"005\"", "5.0", "\"5.0\"", "\"5.\"", "0.5e1",
        ] {
            let integer = accepted(json, |reader| reader.integer("field", 1, 9));
            assert_eq!(integer, 5, "{json}");
        }
        let reference = accepted("\" 07 \"", |reader| reader.reference("field"));
        assert_eq!(reference.id, 7);
    }

    #[test]
    fn a_name_of_which_nothing_can_be_seen_is_blank() {
        let read = |text: &str| {
            let members: Members = [("name".to_owned(), to_raw_value(text).unwrap())].into();
            let mut reader = Reader::new(&members, Mode::Whole);
            (reader.name("name", 500), reader.finish())
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
                (None, FieldErrors::of("name", Message::BLANK)),
                "{text:?}"
            );
        }
        // Between letters these characters matter: they join emoji and shape scripts.
        for text in ["👩\u{200d}🍳", "می\u{200c}خواهم", "\u{200b}a"] {
            assert_eq!(read(text), (Some(text.to_owned()), FieldErrors::default()));
        }
    }
}
