//! Reads the fields of a described record from a body or a form.

use db::OwnedValue;
use resource::{Field, Kind, Source};

use super::{Mode, Reader, Reference, Setting, Value};
use crate::rest::body::text;

impl Source for Reader<'_> {
    fn field(&mut self, field: &'static Field) -> Setting<OwnedValue> {
        let Field { name, kind, .. } = *field;
        match kind {
            _ if !self.fields.contains(&field) => Setting::Kept,
            Kind::Id if self.imported_at.is_some() => self.imported_id(name),
            Kind::Time => match self.imported_at {
                Some(now) => self.imported_time(name, now),
                None => Setting::Kept,
            },
            _ if field.is_read_only => Setting::Kept,
            Kind::Text { max } if field.may_be_blank => {
                match (self.optional_text(name, max), self.mode) {
                    (Setting::Kept, Mode::Partial) => Setting::Kept,
                    (text, _) => Setting::Set(text.into_new().unwrap_or_default().into()),
                }
            }
            Kind::Text { max } | Kind::LongText { max } if field.is_nullable => {
                let text = self.optional_text(name, max);
                let is_kept = |text: &String| !(field.is_null_when_blank && text.is_empty());
                text.map(|text| text.filter(is_kept).into())
            }
            Kind::Text { max } | Kind::LongText { max } if field.is_name => {
                Setting::from(self.name(name, max))
            }
            Kind::Text { max } | Kind::LongText { max } => Setting::from(self.text(name, max)),
            Kind::Integer { min, max } if field.is_nullable => {
                self.optional_integer(name, min, max).map(OwnedValue::from)
            }
            Kind::Integer { min, max } => Setting::from(self.integer(name, min, max)),
            Kind::Price | Kind::Decimal if field.is_nullable => {
                self.optional_decimal(name).map(OwnedValue::from)
            }
            Kind::Price | Kind::Decimal => Setting::from(self.price(name)),
            Kind::Truth => match self.members.get(name).map(|raw| Value::of(raw)) {
                Some(Value::Text(text)) => Setting::Set((text != "0").into()),
                _ if self.mode == Mode::Whole => Setting::Set(false.into()),
                _ => Setting::Kept,
            },
            Kind::Id | Kind::Token | Kind::Choice(_) | Kind::Several | Kind::Reference => {
                Setting::Kept
            }
        }
    }

    fn several(&mut self, field: &'static Field) -> Setting<Vec<String>> {
        let is_sent = self.members.contains_key(field.name) || self.mode == Mode::Whole;
        if !is_sent || !self.fields.contains(&field) {
            return Setting::Kept;
        }
        let chosen = text(self.members, field.name).unwrap_or_default();
        let chosen = chosen.split(',').filter(|value| !value.is_empty());
        Setting::Set(chosen.map(str::to_owned).collect())
    }

    fn reference(&mut self, field: &'static Field) -> Setting<Reference> {
        // The feature checks that the referenced record exists.
        let is_read = self.fields.contains(&field);
        let reference = is_read.then(|| Reader::reference(self, field.name));
        reference.flatten().map_or(Setting::Kept, Setting::Set)
    }
}
