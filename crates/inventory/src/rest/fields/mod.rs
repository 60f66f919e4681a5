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

    fn members(json: &str) -> Members {
        serde_json::from_str(json).expect("a JSON object")
    }

    fn errors_of(json: &str, read: impl FnOnce(&mut Reader<'_>)) -> Vec<String> {
        let members = members(&format!("{{\"field\":{json}}}"));
        let mut reader = Reader::new(&members, Mode::Whole);
        read(&mut reader);
        reader
            .finish()
            .iter()
            .flat_map(|(_, messages)| messages.iter().map(Message::to_string))
            .collect()
    }

    fn text_of(json: &str) -> Result<String, Vec<String>> {
        let mut text = None;
        let errors = errors_of(json, |reader| text = reader.text("field", 500));
        text.ok_or(errors)
    }

    #[test]
    fn a_required_field_must_be_there_save_in_a_patch() {
        let members = members("{}");
        let mut reader = Reader::new(&members, Mode::Whole);
        assert_eq!(reader.text("name", 500), None);
        assert_eq!(reader.finish(), FieldErrors::of("name", Message::REQUIRED));
        let mut partial = Reader::new(&members, Mode::Partial);
        assert_eq!(partial.text("name", 500), None);
        assert!(partial.finish().is_empty());
    }

    #[test]
    fn texts_are_trimmed_and_numbers_become_texts() {
        assert_eq!(text_of("\"\u{a0} Café\u{3000}\"").as_deref(), Ok("Café"));
        assert_eq!(text_of("\"\u{200b}a\"").as_deref(), Ok("\u{200b}a"));
        assert_eq!(text_of("12").as_deref(), Ok("12"));
        assert_eq!(text_of("1.50").as_deref(), Ok("1.50"));
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

    #[test]
    fn texts_that_are_none_are_refused_with_the_conventional_words() {
        assert_eq!(
            text_of("\"  \""),
            Err(vec!["This field may not be blank.".to_owned()])
        );
        assert_eq!(
            text_of("null"),
            Err(vec!["This field may not be null.".to_owned()])
        );
        for json in ["true", "[]", "{}"] {
            assert_eq!(
                text_of(json),
                Err(vec!["Not a valid string.".to_owned()]),
                "{json}"
            );
        }
        assert_eq!(
            text_of("\"a\\u0000\""),
            Err(vec!["Null characters are not allowed.".to_owned()])
        );
        assert_eq!(
            text_of("\"\\ud800\""),
            Err(vec![
                "Surrogate characters are not allowed: U+D800.".to_owned()
            ])
        );
    }

    #[test]
    fn length_is_counted_in_characters() {
        assert!(text_of(&format!("\"{}\"", "é".repeat(500))).is_ok());
        let message = "Ensure this field has no more than 500 characters.".to_owned();
        assert_eq!(
            text_of(&format!("\"{}\"", "é".repeat(501))),
            Err(vec![message])
        );
    }

    #[test]
    fn integers_are_read_in_the_accepted_spellings() {
        for json in [
            "5", "\"5\"", "\" 5 \"", "\"+5\"", "\"005\"", "5.0", "\"5.0\"", "\"5.\"", "0.5e1",
        ] {
            assert!(
                errors_of(json, |reader| assert_eq!(
                    reader.integer("field", 1, 9),
                    Some(5),
                    "{json}"
                ))
                .is_empty()
            );
        }
        for json in [
            "5.5",
            "\"5.5\"",
            "\"5e0\"",
            "\"1,000\"",
            "\"abc\"",
            "\"\"",
            "\"NaN\"",
            "\"0x10\"",
            "true",
            "[]",
            "{}",
            "1e30",
            "1e400",
            "\"1_000\"",
        ] {
            let errors = errors_of(json, |reader| {
                assert_eq!(reader.integer("field", 1, i64::MAX), None);
            });
            assert_eq!(errors, ["A valid integer is required."], "{json}");
        }
    }

    #[test]
    fn integers_out_of_range_name_the_bound() {
        let errors =
            |json: &str| errors_of(json, |reader| _ = reader.integer("field", 1, i64::MAX));
        assert_eq!(
            errors("0"),
            ["Ensure this value is greater than or equal to 1."]
        );
        assert_eq!(
            errors("9223372036854775808"),
            ["Ensure this value is less than or equal to 9223372036854775807."]
        );
        assert_eq!(
            errors(&"9".repeat(900)),
            ["Ensure this value is less than or equal to 9223372036854775807."]
        );
        assert_eq!(
            errors(&format!("\"{}\"", "9".repeat(1001))),
            ["String value too large."]
        );
    }

    #[test]
    fn references_are_integers_and_everything_else_names_its_kind() {
        let members = members(r#"{"field":" 07 "}"#);
        let mut reader = Reader::new(&members, Mode::Whole);
        assert_eq!(
            reader.reference("field").map(|reference| reference.id),
            Some(7)
        );
        for (json, kind) in [
            ("\"abc\"", "str"),
            ("\"1.0\"", "str"),
            ("true", "bool"),
            ("[]", "list"),
            ("{}", "dict"),
            ("1.5", "float"),
        ] {
            let errors = errors_of(json, |reader| _ = reader.reference("field"));
            assert_eq!(
                errors,
                [format!(
                    "Incorrect type. Expected pk value, received {kind}."
                )]
            );
        }
        for json in ["null", "\"\""] {
            assert_eq!(
                errors_of(json, |reader| _ = reader.reference("field")),
                ["This field may not be null."]
            );
        }
    }

    #[test]
    fn an_unknown_reference_is_shown_as_sent() {
        let members = members(r#"{"field":"99999"}"#);
        let mut reader = Reader::new(&members, Mode::Whole);
        let unknown = reader
            .reference("field")
            .map(|reference| Message::unknown_record(&reference.sent).to_string());
        assert_eq!(
            unknown.as_deref(),
            Some("Invalid pk \"99999\" - object does not exist.")
        );
    }
}
