//! Values of parameters and columns, and how each engine encodes them.

mod postgres_money;
mod row;

pub(crate) mod postgres;
pub(crate) mod sqlite;
pub(crate) mod sqlite_money;

use std::fmt;

pub use row::{Row, span_of};

use crate::{Error, Money, Timestamp};

/// The kind of a value, which NULL may have too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Unknown: the statement decides.
    Unknown,
    /// See [`Value::Integer`].
    Integer,
    /// See [`Value::Boolean`].
    Boolean,
    /// See [`Value::Text`].
    Text,
    /// See [`Value::Bytes`].
    Bytes,
    /// See [`Value::Money`].
    Money,
    /// See [`Value::Timestamp`].
    Timestamp,
}

/// One value of a parameter or a column.
#[derive(Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// SQL's NULL.
    Null(Kind),
    /// A whole number; `BIGINT`, `INTEGER`.
    Integer(i64),
    /// A truth value; SQLite keeps 0 or 1 and reads back as an integer.
    Boolean(bool),
    /// A text without NUL characters (PostgreSQL has no place for them, so SQLite refuses them
    /// too).
    Text(&'a str),
    /// Bytes; `BLOB`, `BYTEA`.
    Bytes(&'a [u8]),
    /// An amount; `NUMERIC(22,2)`, on SQLite a text of 23 characters.
    Money(Money),
    /// A point in time; `TIMESTAMPTZ`, on SQLite microseconds and read back as an integer.
    Timestamp(Timestamp),
}

impl fmt::Debug for Value<'_> {
    /// Names the kind only: values are people's data and stay out of logs.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.described())
    }
}

impl Value<'_> {
    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Null(kind) => *kind,
            Self::Integer(_) => Kind::Integer,
            Self::Boolean(_) => Kind::Boolean,
            Self::Text(_) => Kind::Text,
            Self::Bytes(_) => Kind::Bytes,
            Self::Money(_) => Kind::Money,
            Self::Timestamp(_) => Kind::Timestamp,
        }
    }

    fn described(&self) -> String {
        match self {
            Self::Null(_) => "NULL".to_owned(),
            value => format!("a value of kind {:?}", value.kind()),
        }
    }
}

/// A type that can be bound to a `$n`.
///
/// PostgreSQL is sent the kind and need not infer it, so `($1 IS NULL OR sku = $1)` works on both
/// engines. A statement is prepared once, so a `$n` has the same kind each time it is run.
pub trait Param {
    /// The value to bind.
    fn to_value(&self) -> Value<'_>;

    /// What `None` of an `Option` of this type binds.
    fn null() -> Value<'static>
    where
        Self: Sized;
}

/// A type that can be read from a column. Newtypes implement it by their field.
pub trait Column: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// When the value is of another kind, NULL included unless the type is an `Option`.
    fn from_value(value: Value<'_>) -> Result<Self, Error>;
}

fn mismatch(value: Value<'_>, wanted: &str) -> Error {
    Error::other(format!(
        "found {} where {wanted} was wanted",
        value.described()
    ))
}

impl<T: Param> Param for &T {
    fn to_value(&self) -> Value<'_> {
        (**self).to_value()
    }

    fn null() -> Value<'static> {
        T::null()
    }
}

impl<T: Param> Param for Option<T> {
    fn to_value(&self) -> Value<'_> {
        self.as_ref().map_or(T::null(), Param::to_value)
    }

    fn null() -> Value<'static> {
        T::null()
    }
}

impl<T: Column> Column for Option<T> {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        match value {
            Value::Null(_) => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

/// Implements [`Param`] for a type whose values have one kind.
macro_rules! param {
    ($type:ty, $kind:ident, |$param:ident| $value:expr) => {
        impl Param for $type {
            fn to_value(&self) -> Value<'_> {
                let $param = self;
                Value::$kind($value)
            }

            fn null() -> Value<'static> {
                Value::Null(Kind::$kind)
            }
        }
    };
}

param!(i64, Integer, |integer| *integer);
param!(bool, Boolean, |boolean| *boolean);
param!(&str, Text, |text| text);
param!(String, Text, |text| text);
param!(&[u8], Bytes, |bytes| bytes);
param!(Vec<u8>, Bytes, |bytes| bytes);
param!(Money, Money, |money| *money);
param!(Timestamp, Timestamp, |time| *time);

impl<const N: usize> Param for [u8; N] {
    fn to_value(&self) -> Value<'_> {
        Value::Bytes(self)
    }

    fn null() -> Value<'static> {
        Value::Null(Kind::Bytes)
    }
}

impl Column for i64 {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        match value {
            Value::Integer(integer) => Ok(integer),
            other => Err(mismatch(other, "an integer")),
        }
    }
}

impl Column for bool {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        match value {
            Value::Boolean(boolean) => Ok(boolean),
            Value::Integer(0) => Ok(false),
            Value::Integer(1) => Ok(true),
            other => Err(mismatch(other, "a boolean")),
        }
    }
}

impl Column for String {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        match value {
            Value::Text(text) => Ok(text.to_owned()),
            other => Err(mismatch(other, "a text")),
        }
    }
}

impl Column for Vec<u8> {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        match value {
            Value::Bytes(bytes) => Ok(bytes.to_vec()),
            other => Err(mismatch(other, "bytes")),
        }
    }
}

impl Column for Money {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        match value {
            Value::Money(money) => Ok(money),
            Value::Text(text) => {
                sqlite_money::decode(text).ok_or_else(|| mismatch(value, "an amount of money"))
            }
            other => Err(mismatch(other, "an amount of money")),
        }
    }
}

impl Column for Timestamp {
    fn from_value(value: Value<'_>) -> Result<Self, Error> {
        match value {
            Value::Timestamp(timestamp) => Ok(timestamp),
            Value::Integer(micros) => Ok(Self::from_micros(micros)),
            other => Err(mismatch(other, "a timestamp")),
        }
    }
}
