//! The Rust types that fields have, and their values without regard to the type.

use db::{Column, Error, Money, OwnedValue, Row, Timestamp};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use utoipa::ToSchema;

use super::{
    field::{Both, Field},
    record::Source,
    several::Several,
};

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// A text.
    Text(&'a str),
    /// An amount.
    Money(Money),
    /// A moment.
    Time(Timestamp),
    /// Yes or no.
    Truth(bool),
    /// One of a few: its name, and what people call it.
    Choice(&'static str, Both),
    /// Several of what there is to choose from.
    Several(&'a dyn Several),
    /// Another record.
    Reference {
        /// Its id.
        id: i64,
        /// The field with its name, as answers have it.
        key: &'static str,
        /// What people call it; in an input, what was sent.
        name: &'a str,
    },
}

/// What an update does to a field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Setting<T> {
    /// The member was absent: the field stays as it is.
    #[default]
    Kept,
    /// The member was there: the field becomes this.
    Set(T),
}

/// A Rust type that fields can have.
pub trait FieldType: Sized {
    /// Whether a field of it may be nothing.
    const IS_NULLABLE: bool = false;

    /// What is set of it: of a reference, what was sent.
    type Sent: Sent;

    /// The value; none of a field that the record lacks.
    fn value(&self) -> Option<Value<'_>>;

    /// What it is in a record that lacks the field; none where no record may.
    fn lacking() -> Option<Self> {
        None
    }

    /// Reads its columns, and steps behind them.
    ///
    /// # Errors
    ///
    /// A column of another type.
    fn from_row(row: &Row<'_>, at: &mut usize) -> Result<Self, Error>;
}

/// A Rust type that can be set of a field.
pub trait Sent: Sized {
    /// Reads a field.
    fn read(source: &mut impl Source, field: &'static Field) -> Setting<Self>;

    /// The value.
    fn sent(&self) -> Value<'_>;
}

/// A Rust type that texts can have.
#[diagnostic::on_unimplemented(
    message = "a text field is a `String` or an `Option<String>`, not `{Self}`"
)]
pub trait Text: FieldType {}

/// A Rust type that numbers with decimals can have.
#[diagnostic::on_unimplemented(
    message = "a field with bounds is a `Money` or an `Option<Money>`, not `{Self}`"
)]
pub trait Amount: FieldType {}

/// A Rust type that refers to another record: its id, and what people call it.
#[diagnostic::on_unimplemented(message = "a reference is a `Named` or a `Titled`, not `{Self}`")]
pub trait Refers: FieldType {
    /// The field of the other record with what people call it.
    const NAME: &'static str;
    /// What its schema is called.
    const SCHEMA: &'static str;
}

/// A Rust type of what people call a record: something can be seen of it.
pub trait Naming: FieldType {}

/// A reference as it was sent, to be looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The id; one that no row can have is kept as a number that none has.
    pub id: i64,
    /// As sent, for the message when there is no such record.
    pub sent: String,
}

impl Reference {
    /// The record of an id.
    pub fn of(id: i64) -> Self {
        Self {
            id,
            sent: id.to_string(),
        }
    }
}

impl Value<'_> {
    /// As the control of a form holds it.
    pub fn typed(self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Integer(integer) => integer.to_string(),
            Self::Text(text) | Self::Choice(text, _) => text.to_owned(),
            Self::Money(money) => money.to_string(),
            Self::Time(time) => time.to_string(),
            Self::Truth(truth) => i64::from(truth).to_string(),
            Self::Several(several) => several.values().join(","),
            Self::Reference { id, .. } => id.to_string(),
        }
    }

    /// As people call it, where that is not how forms hold it; numbers and times as the program writes them.
    pub fn named(self) -> String {
        match self {
            Self::Several(several) => {
                let each = several.each().into_iter();
                each.map(|(_, text)| text).collect::<Vec<_>>().join(", ")
            }
            Self::Reference { name, .. } => name.to_owned(),
            value => value.typed(),
        }
    }

    /// Whether it is the same as another. A record that was renamed is the same.
    pub fn is(self, other: Value<'_>) -> bool {
        match (self, other) {
            (Self::Reference { id, .. }, Value::Reference { id: other, .. }) => id == other,
            (value, other) => value == other,
        }
    }
}

impl<T> Setting<T> {
    /// What is set, borrowed, when something is.
    pub const fn get(&self) -> Option<&T> {
        match self {
            Self::Kept => None,
            Self::Set(value) => Some(value),
        }
    }

    /// The same of another type.
    pub fn map<U>(self, other: impl FnOnce(T) -> U) -> Setting<U> {
        self.and_then(|value| Some(other(value)))
    }

    /// The same of another type; kept, when there is no such value.
    pub fn and_then<U>(self, other: impl FnOnce(T) -> Option<U>) -> Setting<U> {
        match self {
            Self::Kept => Setting::Kept,
            Self::Set(value) => other(value).map_or(Setting::Kept, Setting::Set),
        }
    }

    /// What is set, when something is.
    pub fn set(self) -> Option<T> {
        match self {
            Self::Kept => None,
            Self::Set(value) => Some(value),
        }
    }
}

impl<T: Into<OwnedValue>> From<Option<T>> for Setting<OwnedValue> {
    /// What a required field becomes, when it was sent.
    fn from(sent: Option<T>) -> Self {
        sent.map_or(Self::Kept, |value| Self::Set(value.into()))
    }
}

impl<T> Setting<Option<T>> {
    /// The field's value in a new record.
    pub fn into_new(self) -> Option<T> {
        self.set().flatten()
    }
}

/// A type of which statements have values of their own.
macro_rules! field_type {
    ($type:ty, $stored:ident, |$value:ident| $borrowed:expr) => {
        impl FieldType for $type {
            type Sent = Self;

            fn value(&self) -> Option<Value<'_>> {
                Some(self.sent())
            }

            fn from_row(row: &Row<'_>, at: &mut usize) -> Result<Self, Error> {
                column(row, at)
            }
        }

        impl Sent for $type {
            fn read(source: &mut impl Source, field: &'static Field) -> Setting<Self> {
                source.field(field).and_then(|value| match value {
                    OwnedValue::$stored(value) => Some(value),
                    _ => None,
                })
            }

            fn sent(&self) -> Value<'_> {
                let $value = self;
                $borrowed
            }
        }

        impl FieldType for Option<$type> {
            const IS_NULLABLE: bool = true;
            type Sent = Self;

            fn value(&self) -> Option<Value<'_>> {
                Some(self.sent())
            }

            fn from_row(row: &Row<'_>, at: &mut usize) -> Result<Self, Error> {
                column(row, at)
            }
        }

        impl Sent for Option<$type> {
            fn read(source: &mut impl Source, field: &'static Field) -> Setting<Self> {
                source.field(field).and_then(|value| match value {
                    OwnedValue::$stored(value) => Some(Some(value)),
                    OwnedValue::Null => Some(None),
                    _ => None,
                })
            }

            fn sent(&self) -> Value<'_> {
                self.as_ref().map_or(Value::Null, Sent::sent)
            }
        }
    };
}

field_type!(i64, Integer, |integer| Value::Integer(*integer));
field_type!(bool, Boolean, |truth| Value::Truth(*truth));
field_type!(String, Text, |text| Value::Text(text));
field_type!(Money, Money, |money| Value::Money(*money));
field_type!(Timestamp, Timestamp, |time| Value::Time(*time));

/// A type that refers to another record, by the field with what people call that.
macro_rules! refers {
    ($(#[$about:meta])* $type:ident, $name:ident, $schema:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        #[schema(as = $schema)]
        pub struct $type {
            /// Its id.
            pub id: i64,
            /// What people call it.
            pub $name: String,
        }

        impl FieldType for $type {
            type Sent = Reference;

            fn value(&self) -> Option<Value<'_>> {
                Some(Value::Reference {
                    id: self.id,
                    key: Self::NAME,
                    name: &self.$name,
                })
            }

            fn from_row(row: &Row<'_>, at: &mut usize) -> Result<Self, Error> {
                Ok(Self {
                    id: column(row, at)?,
                    $name: column(row, at)?,
                })
            }
        }

        impl Refers for $type {
            const NAME: &'static str = stringify!($name);
            const SCHEMA: &'static str = stringify!($schema);
        }
    };
}

refers! {
    /// A record that another one refers to, as brands and categories are shown within a product.
    Named, name, Reference
}
refers! {
    /// A product that a movement refers to.
    Titled, title, ProductReference
}

/// A reference that may be nothing, or that only records of some kinds have.
impl<T: Refers> FieldType for Option<T> {
    type Sent = T::Sent;

    fn value(&self) -> Option<Value<'_>> {
        self.as_ref()?.value()
    }

    fn lacking() -> Option<Self> {
        Some(None)
    }

    fn from_row(row: &Row<'_>, at: &mut usize) -> Result<Self, Error> {
        let id: Option<i64> = row.get(*at)?;
        if id.is_none() {
            *at += 2;
            return Ok(None);
        }
        T::from_row(row, at).map(Some)
    }
}

impl<T: Refers> Refers for Option<T> {
    const NAME: &'static str = T::NAME;
    const SCHEMA: &'static str = T::SCHEMA;
}

impl Sent for Reference {
    fn read(source: &mut impl Source, field: &'static Field) -> Setting<Self> {
        source.reference(field)
    }

    fn sent(&self) -> Value<'_> {
        Value::Reference {
            id: self.id,
            key: "",
            name: &self.sent,
        }
    }
}

/// Reads a column, and steps behind it.
pub(super) fn column<T: Column>(row: &Row<'_>, at: &mut usize) -> Result<T, Error> {
    let value = row.get(*at)?;
    *at += 1;
    Ok(value)
}

impl Text for String {}
impl Naming for String {}
impl<T: Refers> Naming for T {}
impl Text for Option<String> {}
impl Amount for Money {}
impl Amount for Option<Money> {}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Integer(integer) => Self::Integer(integer),
            Value::Text(text) | Value::Choice(text, _) => Self::Text(text.to_owned()),
            Value::Money(money) => Self::Money(money),
            Value::Time(time) => Self::Timestamp(time),
            Value::Truth(truth) => Self::Boolean(truth),
            Value::Several(_) => Self::Text(value.typed()),
            Value::Reference { id, .. } => Self::Integer(id),
        }
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Integer(integer) => serializer.serialize_i64(*integer),
            Self::Text(text) | Self::Choice(text, _) => serializer.serialize_str(text),
            Self::Money(money) => serializer.collect_str(money),
            Self::Time(time) => serializer.serialize_str(&time_text(*time)),
            Self::Truth(truth) => serializer.serialize_bool(*truth),
            Self::Several(several) => serializer.collect_seq(several.values()),
            Self::Reference { id, key, name } => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("id", id)?;
                map.serialize_entry(key, name)?;
                map.end()
            }
        }
    }
}

/// A time as the API has it, `2026-11-20T08:44:16.860338Z`: six digits of fraction, or none at all for a whole second.
pub fn time_text(time: Timestamp) -> String {
    let mut text = time.to_string();
    if let Some(whole) = text.strip_suffix(".000000Z") {
        text.truncate(whole.len());
        text.push('Z');
    }
    text
}
