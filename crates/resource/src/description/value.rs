//! The Rust types of fields, and their values independent of the type.

use db::{Column, Error, Money, OwnedValue, Row, Timestamp};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap as _};
use utoipa::ToSchema;

use super::{
    field::{Both, Field},
    record::Source,
    several::Several,
};

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Null.
    Null,
    /// An integer.
    Integer(i64),
    /// A text.
    Text(&'a str),
    /// An amount.
    Money(Money),
    /// A time.
    Time(Timestamp),
    /// A boolean.
    Truth(bool),
    /// One of a few values: its name and its label.
    Choice(&'static str, Both),
    /// Several values.
    Several(&'a dyn Several),
    /// A reference to another record.
    Reference {
        /// The record's id.
        id: i64,
        /// The member that holds the name in responses.
        key: &'static str,
        /// The record's name. In an input: the submitted text.
        name: &'a str,
    },
}

/// A Rust type of fields.
pub trait FieldType: Sized {
    /// Whether a field of this type may be null.
    const IS_NULLABLE: bool = false;

    /// The type of a submitted value.
    type Submitted: Submitted;

    /// The value. `None` if the record lacks the field.
    fn value(&self) -> Option<Value<'_>>;

    /// The value in a record that lacks the field. `None` if no record may lack it.
    fn lacking() -> Option<Self> {
        None
    }

    /// Reads the columns at `at` and advances it.
    fn from_row(row: &Row<'_>, at: &mut usize) -> Result<Self, Error>;
}

/// A Rust type of submitted values.
pub trait Submitted: Sized {
    /// Reads a field from a source. `None` if it is absent or invalid.
    fn read(source: &mut impl Source, field: &'static Field) -> Option<Self>;

    /// The value.
    fn sent(&self) -> Value<'_>;
}

/// A Rust type of references to other records: id and name.
#[diagnostic::on_unimplemented(message = "a reference is a `Named` or a `Titled`, not `{Self}`")]
pub trait Refers: FieldType {
    /// The member and the column of the name.
    const NAME: &'static str;
    /// The name of the schema.
    const SCHEMA: &'static str;
}

/// A submitted reference, not looked up yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The id; 0, which no record has, if it is out of range.
    pub id: i64,
    /// The submitted text, for the error message.
    pub sent: String,
}

impl Reference {
    /// A reference to the record with this id.
    pub fn of(id: i64) -> Self {
        Self {
            id,
            sent: id.to_string(),
        }
    }
}

impl Value<'_> {
    /// The value as a form control holds it.
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

    /// The value as text, with names for references and choices. Numbers and times are not
    /// localized.
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

    /// Whether a form control holds two values alike: a renamed record is equal, and null equals the
    /// empty text.
    pub fn is(self, other: Value<'_>) -> bool {
        self.typed() == other.typed()
    }
}

/// Implements the traits for a type that databases store directly.
macro_rules! field_type {
    ($type:ty, $stored:ident, |$value:ident| $borrowed:expr) => {
        impl FieldType for $type {
            type Submitted = Self;

            fn value(&self) -> Option<Value<'_>> {
                Some(self.sent())
            }

            fn from_row(row: &Row<'_>, at: &mut usize) -> Result<Self, Error> {
                column(row, at)
            }
        }

        impl Submitted for $type {
            fn read(source: &mut impl Source, field: &'static Field) -> Option<Self> {
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
            type Submitted = Self;

            fn value(&self) -> Option<Value<'_>> {
                Some(self.sent())
            }

            fn from_row(row: &Row<'_>, at: &mut usize) -> Result<Self, Error> {
                column(row, at)
            }
        }

        impl Submitted for Option<$type> {
            fn read(source: &mut impl Source, field: &'static Field) -> Option<Self> {
                source.field(field).and_then(|value| match value {
                    OwnedValue::$stored(value) => Some(Some(value)),
                    OwnedValue::Null => Some(None),
                    _ => None,
                })
            }

            fn sent(&self) -> Value<'_> {
                self.as_ref().map_or(Value::Null, Submitted::sent)
            }
        }
    };
}

field_type!(i64, Integer, |integer| Value::Integer(*integer));
field_type!(bool, Boolean, |truth| Value::Truth(*truth));
field_type!(String, Text, |text| Value::Text(text));
field_type!(Money, Money, |money| Value::Money(*money));
field_type!(Timestamp, Timestamp, |time| Value::Time(*time));

/// Declares a reference type with a member for the name.
macro_rules! refers {
    ($(#[$about:meta])* $type:ident, $name:ident, $schema:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        #[schema(as = $schema)]
        pub struct $type {
            /// The record's id.
            pub id: i64,
            /// The record's name.
            pub $name: String,
        }

        impl FieldType for $type {
            type Submitted = Reference;

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

/// A reference that is optional, or that only some kinds of records have.
impl<T: Refers> FieldType for Option<T> {
    type Submitted = T::Submitted;

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

impl Submitted for Reference {
    fn read(source: &mut impl Source, field: &'static Field) -> Option<Self> {
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

/// Reads a column and advances `at`.
pub(super) fn column<T: Column>(row: &Row<'_>, at: &mut usize) -> Result<T, Error> {
    let value = row.get(*at)?;
    *at += 1;
    Ok(value)
}

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

/// A time in the format of the API, `2026-11-20T08:44:16.860338Z`: six digits of fraction, or none
/// for a whole second.
pub fn time_text(time: Timestamp) -> String {
    let mut text = time.to_string();
    if let Some(whole) = text.strip_suffix(".000000Z") {
        text.truncate(whole.len());
        text.push('Z');
    }
    text
}
