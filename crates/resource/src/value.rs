//! The Rust types that fields have, and their values without regard to the type.

use db::{Column, Money, OwnedValue, Timestamp};
use serde::{Serialize, Serializer};

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
pub trait FieldType: Column {
    /// Whether a field of it may be nothing.
    const IS_NULLABLE: bool = false;

    /// What a new record has where nothing was set.
    fn absent() -> Self;

    /// A value that was read, unless it is of another type.
    fn of(value: OwnedValue) -> Option<Self>;

    /// The value.
    fn value(&self) -> Value<'_>;
}

/// A Rust type that texts can have.
#[diagnostic::on_unimplemented(
    message = "a text field is a `String` or an `Option<String>`, not `{Self}`"
)]
pub trait Text: FieldType {}

impl Value<'_> {
    /// As the control of a form holds it.
    pub fn typed(self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Integer(integer) => integer.to_string(),
            Self::Text(text) => text.to_owned(),
            Self::Money(money) => money.to_string(),
            Self::Time(time) => time.to_string(),
        }
    }
}

impl<T> Setting<T> {
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

    /// The same, borrowed.
    pub const fn as_ref(&self) -> Setting<&T> {
        match self {
            Self::Kept => Setting::Kept,
            Self::Set(value) => Setting::Set(value),
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
    ($type:ty, $absent:expr, $stored:ident, |$value:ident| $borrowed:expr) => {
        impl FieldType for $type {
            fn absent() -> Self {
                $absent
            }

            fn of(value: OwnedValue) -> Option<Self> {
                match value {
                    OwnedValue::$stored(value) => Some(value),
                    _ => None,
                }
            }

            fn value(&self) -> Value<'_> {
                let $value = self;
                $borrowed
            }
        }
    };
}

field_type!(i64, 0, Integer, |integer| Value::Integer(*integer));
field_type!(String, Self::new(), Text, |text| Value::Text(text));
field_type!(Money, Self::ZERO, Money, |money| Value::Money(*money));
field_type!(Timestamp, Self::from_micros(0), Timestamp, |time| {
    Value::Time(*time)
});

impl<T: FieldType> FieldType for Option<T>
where
    Self: Column,
{
    const IS_NULLABLE: bool = true;

    fn absent() -> Self {
        None
    }

    fn of(value: OwnedValue) -> Option<Self> {
        match value {
            OwnedValue::Null => Some(None),
            value => T::of(value).map(Some),
        }
    }

    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, T::value)
    }
}

impl Text for String {}
impl Text for Option<String> {}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Integer(integer) => Self::Integer(integer),
            Value::Text(text) => Self::Text(text.to_owned()),
            Value::Money(money) => Self::Money(money),
            Value::Time(time) => Self::Timestamp(time),
        }
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Integer(integer) => serializer.serialize_i64(*integer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Money(money) => serializer.serialize_str(&money.to_string()),
            Self::Time(time) => serializer.serialize_str(&time_text(*time)),
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
