//! Statements that are assembled for one call, such as lists, whose filters and order vary. Only
//! literals of the program can become part of a statement, and every value is a parameter. So no
//! part of a request is ever read as SQL.

use std::fmt;

use crate::{Kind, Money, Param, Timestamp, Value};

/// Bytes of a usual list's statement: a text that grows is copied each time.
const USUAL_LENGTH: usize = 1024;

/// A statement builder: literal pieces of text with numbered values between them.
///
/// ```
/// let mut query = db::Query::new("SELECT id FROM products WHERE TRUE");
/// query.push(" AND brand_id = ").bind(7).push(" ORDER BY id LIMIT ").bind(10);
/// assert_eq!(query.text(), "SELECT id FROM products WHERE TRUE AND brand_id = $1 ORDER BY id LIMIT $2");
/// ```
#[derive(Clone, Debug)]
pub struct Query {
    text: String,
    params: Vec<OwnedValue>,
}

/// A value that a [`Query`] keeps until it runs.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum OwnedValue {
    /// SQL's NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// A truth value.
    Boolean(bool),
    /// A text.
    Text(String),
    /// An amount.
    Money(Money),
    /// A point in time.
    Timestamp(Timestamp),
}

/// The text of a statement on its way to an engine.
#[derive(Clone, Copy)]
pub(crate) enum Sql<'a> {
    /// One of the program's own texts, prepared once for each connection and kept.
    Literal(&'static str),
    /// An assembled text. A bounded number of them is kept prepared.
    Built(&'a str),
}

impl Query {
    /// A statement that begins with `text`.
    pub fn new(text: &'static str) -> Self {
        let mut query = Self {
            text: String::with_capacity(USUAL_LENGTH),
            params: Vec::new(),
        };
        query.push(text);
        query
    }

    /// Adds a piece of text.
    pub fn push(&mut self, text: &'static str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Adds a value: its number to the text, itself to the parameters.
    pub fn bind(&mut self, value: impl Into<OwnedValue>) -> &mut Self {
        self.params.push(value.into());
        self.text.push('$');
        self.text.push_str(&self.params.len().to_string());
        self
    }

    /// Adds ` IN (…)` with these ids. The list begins with 0, which no row has, so that it may be
    /// empty otherwise.
    pub fn any_of(&mut self, ids: impl IntoIterator<Item = i64>) -> &mut Self {
        self.push(" IN (0");
        for id in ids {
            self.push(", ").bind(id);
        }
        self.push(")")
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn params(&self) -> Vec<&dyn Param> {
        self.params
            .iter()
            .map(|value| value as &dyn Param)
            .collect()
    }
}

impl fmt::Debug for OwnedValue {
    /// Names the kind only, as a [`Value`] does.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(formatter)
    }
}

impl<'a> Sql<'a> {
    pub(crate) fn text(self) -> &'a str {
        match self {
            Sql::Literal(text) | Sql::Built(text) => text,
        }
    }
}

impl Param for OwnedValue {
    fn to_value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null(Kind::Unknown),
            Self::Integer(integer) => Value::Integer(*integer),
            Self::Boolean(boolean) => Value::Boolean(*boolean),
            Self::Text(text) => Value::Text(text),
            Self::Money(money) => Value::Money(*money),
            Self::Timestamp(timestamp) => Value::Timestamp(*timestamp),
        }
    }

    fn null() -> Value<'static> {
        Value::Null(Kind::Unknown)
    }
}

impl From<i64> for OwnedValue {
    fn from(integer: i64) -> Self {
        Self::Integer(integer)
    }
}

impl From<bool> for OwnedValue {
    fn from(boolean: bool) -> Self {
        Self::Boolean(boolean)
    }
}

impl From<&str> for OwnedValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for OwnedValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Money> for OwnedValue {
    fn from(money: Money) -> Self {
        Self::Money(money)
    }
}

impl From<Timestamp> for OwnedValue {
    fn from(timestamp: Timestamp) -> Self {
        Self::Timestamp(timestamp)
    }
}

impl<T: Into<OwnedValue>> From<Option<T>> for OwnedValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
