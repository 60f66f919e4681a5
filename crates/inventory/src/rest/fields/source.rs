//! Reads the fields of a described record from a body or a form.

use db::OwnedValue;
use resource::{Field, Kind, Source};
use web::text::is_invisible;

use super::{
    Mode, ParseResult, Reader, Reference, Value,
    kinds::{self, integer, price, reference, refuse},
};
use crate::rest::{Message, body};

impl Source for Reader<'_> {
    fn field(&mut self, field: &'static Field) -> Option<OwnedValue> {
        match field.kind {
            _ if !self.is_read(field) => None,
            Kind::Id if self.imported_at.is_some() => self.imported_id(field.name),
            Kind::Time => match self.imported_at {
                Some(now) => self.imported_time(field.name, now),
                None => None,
            },
            _ if field.is_read_only => None,
            Kind::Text { max } | Kind::LongText { max } => self.text(field, Some(max)),
            Kind::Token => self.text(field, None),
            Kind::Integer { min, max } => self.value(field, |value| integer(value, min, max)),
            Kind::Price | Kind::Decimal => self.value(field, price),
            Kind::Truth => match self.members.get(field.name).map(|raw| Value::of(raw)) {
                Some(Value::Text(text)) => Some((text != "0").into()),
                _ if self.mode == Mode::Whole => Some(false.into()),
                _ => None,
            },
            Kind::Id | Kind::Choice(_) | Kind::Several | Kind::Reference => None,
        }
    }

    fn several(&mut self, field: &'static Field) -> Option<Vec<String>> {
        let is_sent = self.members.contains_key(field.name) || self.mode == Mode::Whole;
        if !is_sent || !self.is_read(field) {
            return None;
        }
        let chosen = body::text(self.members, field.name).unwrap_or_default();
        let chosen = chosen.split(',').filter(|value| !value.is_empty());
        Some(chosen.map(str::to_owned).collect())
    }

    fn reference(&mut self, field: &'static Field) -> Option<Reference> {
        // The feature checks that the referenced record exists.
        let is_read = self.is_read(field);
        let reference = is_read.then(|| self.required(field.name, reference));
        reference.flatten()
    }
}

impl Reader<'_> {
    fn is_read(&self, field: &'static Field) -> bool {
        self.fields.is_none_or(|fields| fields.contains(&field))
    }

    /// A number. It is required unless it may be null.
    fn value<T: Into<OwnedValue>>(
        &mut self,
        field: &Field,
        parse: impl FnOnce(&Value) -> ParseResult<T>,
    ) -> Option<OwnedValue>
    where
        Option<T>: Into<OwnedValue>,
    {
        if field.is_nullable {
            self.optional(field.name, parse).map(Into::into)
        } else {
            self.required(field.name, parse).map(Into::into)
        }
    }

    /// A text of at most `max` characters, trimmed. One that is required has a character, and a
    /// record's name a visible one.
    fn text(&mut self, field: &Field, max: Option<usize>) -> Option<OwnedValue> {
        let is_optional = field.is_nullable || field.may_be_blank;
        let is_blank =
            |text: &String| text.is_empty() || field.is_name && text.chars().all(is_invisible);
        let parse = |value: &Value| {
            let text = kinds::text(value, max)?;
            if !is_optional && is_blank(&text) {
                return refuse(Message::BLANK);
            }
            Ok(text)
        };
        if !is_optional {
            return self.required(field.name, parse).map(Into::into);
        }
        let text = self.optional(field.name, parse);
        if field.is_nullable {
            let is_kept = |text: &String| !(field.is_null_when_blank && text.is_empty());
            return text.map(|text| text.filter(is_kept).into());
        }
        match (text, self.mode) {
            (None, Mode::Partial) => None,
            (text, _) => Some(text.flatten().unwrap_or_default().into()),
        }
    }
}
