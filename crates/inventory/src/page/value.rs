//! The value of a field as lists, pages and forms show it.

use db::{Money, Timestamp};
use resource::{Both, Field, Kind, Value};
use web::locale::Locale;

use super::{history, numbers};
use crate::{accounts::session::agent, audit::FieldChange, rest::spreadsheet};

/// An owned value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FieldValue {
    /// No value: shown as `-`.
    Empty,
    Text(String),
    /// A text of the program in both languages.
    Word(Both),
    Number(i64),
    Money(Money),
    /// Another decimal number.
    Decimal(Money),
    Time(Timestamp),
    Truth(bool),
    /// Changed fields, shown as text.
    Changes(Vec<FieldChange>),
    /// A browser's `User-Agent`, shown as text.
    Agent(String),
    /// Several chosen values, and their text.
    Chosen(Vec<String>, String),
    /// A referenced record: the path of its model, its id and its name.
    Record(&'static str, i64, String),
}

impl FieldValue {
    pub(crate) fn of(field: &Field, value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Empty,
            Value::Integer(number) => Self::Number(number),
            Value::Text(text) => Self::text(Some(text.to_owned())),
            Value::Money(number) if field.kind == Kind::Decimal => Self::Decimal(number),
            Value::Money(amount) => Self::Money(amount),
            Value::Time(time) => Self::Time(time),
            Value::Truth(truth) => Self::Truth(truth),
            Value::Choice(_, words) => Self::Word(words),
            Value::Several(several) => {
                let (values, texts): (_, Vec<_>) = several.each().into_iter().unzip();
                Self::Chosen(values, texts.join(", "))
            }
            Value::Reference { id, name, .. } => {
                let path = field.target.map_or("", |target| target.path);
                Self::Record(path, id, name.to_owned())
            }
        }
    }

    /// The number of a record that has no name: `#12`.
    pub(crate) fn number(id: i64) -> Self {
        Self::Text(format!("#{id}"))
    }

    /// A text. A blank one counts as missing.
    pub(crate) fn text(text: Option<String>) -> Self {
        text.filter(|text| !text.trim().is_empty())
            .map_or(Self::Empty, Self::Text)
    }

    /// The value as a form control holds it. In English it is in the notation that services read.
    pub(crate) fn typed(&self, locale: Locale) -> String {
        match self {
            Self::Text(text) | Self::Agent(text) => text.clone(),
            Self::Number(number) | Self::Record(_, number, _) => number.to_string(),
            Self::Money(number) | Self::Decimal(number) => numbers::amount_text(*number, locale),
            Self::Truth(truth) => if *truth { "1" } else { "0" }.to_owned(),
            Self::Chosen(values, _) => values.join(","),
            Self::Empty | Self::Word(_) | Self::Time(_) | Self::Changes(_) => String::new(),
        }
    }

    /// The value as text.
    pub(crate) fn shown(&self, locale: Locale) -> String {
        match self {
            Self::Empty => "-".to_owned(),
            Self::Text(text) | Self::Record(_, _, text) => text.clone(),
            Self::Chosen(_, shown) if shown.is_empty() => "-".to_owned(),
            Self::Chosen(_, shown) => shown.clone(),
            Self::Word(words) => locale.say(*words).to_owned(),
            Self::Changes(changes) if changes.is_empty() => "-".to_owned(),
            Self::Changes(changes) => {
                let words = changes.iter();
                let words = words.map(|change| history::in_words(change, locale));
                words.collect::<Vec<_>>().join("; ")
            }
            Self::Agent(agent) => agent::words(agent, locale),
            Self::Number(number) => locale.number(*number),
            Self::Money(amount) => locale.money(*amount),
            Self::Decimal(number) => locale.decimal(*number),
            Self::Time(time) => locale.date_time(*time),
            Self::Truth(true) => locale.text("Sim", "Yes").to_owned(),
            Self::Truth(false) => locale.text("Não", "No").to_owned(),
        }
    }

    /// The value as a cell of a file: numbers without a currency, texts escaped against formulas.
    pub(crate) fn in_file(&self, locale: Locale) -> String {
        match self {
            Self::Money(_) | Self::Decimal(_) | Self::Number(_) => self.typed(locale),
            Self::Time(time) => locale.file_time(*time),
            value if value.is_empty() => String::new(),
            value => spreadsheet::escape(&value.shown(locale)).into_owned(),
        }
    }

    /// Whether a filter by `value` selects it.
    pub(crate) fn is(&self, value: &str) -> bool {
        match self {
            Self::Chosen(values, _) => values.iter().any(|chosen| chosen == value),
            field => field.typed(Locale::En) == value,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Chosen(values, _) => values.is_empty(),
            Self::Changes(changes) => changes.is_empty(),
            _ => false,
        }
    }

    /// The referenced record: path and id.
    pub(crate) const fn record(&self) -> Option<(&'static str, i64)> {
        match self {
            Self::Record(path, id, _) => Some((path, *id)),
            _ => None,
        }
    }

    /// Whether it is aligned right, as numbers are.
    pub(crate) const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Money(_) | Self::Decimal(_))
    }
}
