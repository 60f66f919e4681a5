//! The Rust types that fields have, and their values without regard to the type.

use db::{Column, Money, OwnedValue, Timestamp};
use web::locale::Locale;

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
    /// As people read it; empty for nothing.
    pub fn shown(self, locale: Locale) -> String {
        match self {
            Self::Integer(integer) => locale.number(integer),
            Self::Money(money) => locale.money(money),
            Self::Time(time) => locale.date_time(time),
            value => value.typed(),
        }
    }

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

impl FieldType for i64 {
    fn absent() -> Self {
        0
    }

    fn of(value: OwnedValue) -> Option<Self> {
        match value {
            OwnedValue::Integer(integer) => Some(integer),
            _ => None,
        }
    }

    fn value(&self) -> Value<'_> {
        Value::Integer(*self)
    }
}

impl FieldType for String {
    fn absent() -> Self {
        Self::new()
    }

    fn of(value: OwnedValue) -> Option<Self> {
        match value {
            OwnedValue::Text(text) => Some(text),
            _ => None,
        }
    }

    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl FieldType for Money {
    fn absent() -> Self {
        Self::ZERO
    }

    fn of(value: OwnedValue) -> Option<Self> {
        match value {
            OwnedValue::Money(money) => Some(money),
            _ => None,
        }
    }

    fn value(&self) -> Value<'_> {
        Value::Money(*self)
    }
}

impl FieldType for Timestamp {
    fn absent() -> Self {
        Self::from_micros(0)
    }

    fn of(value: OwnedValue) -> Option<Self> {
        match value {
            OwnedValue::Timestamp(time) => Some(time),
            _ => None,
        }
    }

    fn value(&self) -> Value<'_> {
        Value::Time(*self)
    }
}

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
