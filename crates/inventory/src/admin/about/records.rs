//! What the functions of a model return: records, pages of them, and what refers to them.

use db::{Money, Timestamp};
use resource::{Kind, Value, laid_out};
use serde::{Deserialize, Serialize};
use web::locale::Locale;

use super::Text;
use crate::{
    accounts::session::agent,
    audit::FieldChange,
    page::{history, numbers},
};

/// A value as lists and pages show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::admin) enum Cell {
    /// Nothing: shown as `-`.
    Empty,
    /// A text.
    Text(String),
    /// A text of the program, in the reader's language.
    Word(Text),
    /// A whole number.
    Number(i64),
    /// An amount.
    Money(Money),
    /// Another number with decimals.
    Decimal(Money),
    /// A moment.
    Time(Timestamp),
    /// Yes or no.
    Truth(bool),
    /// What was changed of fields, told in words.
    Fields(Vec<FieldChange>),
    /// What a browser calls itself, told in words.
    Agent(String),
    /// What was chosen among many: the values, and how they read.
    Chosen(Vec<String>, String),
    /// Another record: the path of its model, its id, its text.
    Record(&'static str, i64, String),
}

/// How many records a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::admin) struct Count {
    /// As many were counted.
    pub(in crate::admin) number: u64,
    /// Whether counting stopped there.
    pub(in crate::admin) is_more: bool,
}

/// One page of a list.
#[derive(Debug)]
pub(in crate::admin) struct Rows {
    /// How many there are on all pages.
    pub(in crate::admin) count: Count,
    /// Those of this page.
    pub(in crate::admin) records: Vec<Record>,
    /// Where a search ended, when it did not look at everything.
    pub(in crate::admin) note: Option<Text>,
}

/// A record: lists show of it what their columns name, its own page everything, and forms begin with it.
#[derive(Debug, Clone)]
pub(in crate::admin) struct Record {
    /// Its id.
    pub(in crate::admin) id: i64,
    /// What people call it.
    pub(in crate::admin) text: String,
    /// Everything that can be read of it.
    pub(in crate::admin) facts: Vec<(&'static str, Cell)>,
}

/// A record that was saved; kept with the once-only token of its form.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::admin) struct Written {
    /// Its id.
    pub(in crate::admin) id: i64,
    /// What people call it.
    pub(in crate::admin) text: String,
    /// What its reader must note now, since nobody can show it again. It is stored nowhere.
    #[serde(skip)]
    pub(in crate::admin) secret: Option<String>,
}

/// Records that refer to one that is to be deleted.
#[derive(Debug, Clone, Copy)]
pub(in crate::admin) struct Related {
    /// The path of their model.
    pub(in crate::admin) path: &'static str,
    /// The filter of its list that finds them.
    pub(in crate::admin) filter: &'static str,
    /// How many.
    pub(in crate::admin) count: u64,
    /// Whether they keep it from being deleted; else they go with it.
    pub(in crate::admin) is_protecting: bool,
}

impl Record {
    /// A record with what can be read of it.
    pub(in crate::admin) fn of(
        id: i64,
        text: impl Into<String>,
        facts: Vec<(&'static str, Cell)>,
    ) -> Self {
        Self {
            id,
            text: text.into(),
            facts,
        }
    }

    /// A described record.
    pub(in crate::admin) fn described<R: resource::Record>(record: &R) -> Self {
        let values = record.values().into_iter();
        let cells: Vec<_> = values
            .map(|(field, value)| (field, Cell::of(field, value)))
            .collect();
        let find = |field: &resource::Field| cells.iter().find(|(known, _)| *known == field);
        let name = cells.iter().find(|(field, _)| field.is_name);
        let id = cells.iter().find(|(field, _)| field.kind == Kind::Id);
        let shown = laid_out(R::FIELDS).into_iter();
        Self {
            id: match id {
                Some((_, Cell::Number(id))) => *id,
                _ => 0,
            },
            text: name.map_or_else(String::new, |(_, name)| name.shown(Locale::En)),
            facts: shown
                .filter_map(|field| Some((field.name, find(field)?.1.clone())))
                .collect(),
        }
    }

    /// With another cell in the place of a fact.
    #[must_use]
    pub(in crate::admin) fn with(mut self, name: &'static str, cell: Cell) -> Self {
        let mut facts = self.facts.iter_mut();
        if let Some((_, shown)) = facts.find(|(known, _)| *known == name) {
            *shown = cell;
        }
        self
    }

    /// What can be read under a name; nothing when there is no such fact.
    pub(in crate::admin) fn fact(&self, name: &str) -> &Cell {
        let found = self.facts.iter().find(|(known, _)| *known == name);
        found.map_or(&Cell::Empty, |(_, cell)| cell)
    }
}

impl Cell {
    /// The value of a described field.
    fn of(field: &resource::Field, value: Value<'_>) -> Self {
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

    /// A number by which people call a record.
    pub(in crate::admin) fn number(id: i64) -> Self {
        Self::Text(format!("#{id}"))
    }

    /// As the control of a form holds it.
    pub(in crate::admin) fn typed(&self, locale: Locale) -> String {
        match self {
            Self::Text(text) | Self::Agent(text) => text.clone(),
            Self::Number(number) | Self::Record(_, number, _) => number.to_string(),
            Self::Money(number) | Self::Decimal(number) => numbers::amount_text(*number, locale),
            Self::Truth(truth) => if *truth { "1" } else { "0" }.to_owned(),
            Self::Chosen(values, _) => values.join(","),
            Self::Empty | Self::Word(_) | Self::Time(_) | Self::Fields(_) => String::new(),
        }
    }

    /// Whether a filter of this value lets it through.
    pub(in crate::admin) fn is(&self, value: &str) -> bool {
        match self {
            Self::Chosen(values, _) => values.iter().any(|chosen| chosen == value),
            cell => cell.typed(Locale::En) == value,
        }
    }

    /// A text that may be missing or blank.
    pub(in crate::admin) fn text(text: Option<String>) -> Self {
        text.filter(|text| !text.trim().is_empty())
            .map_or(Self::Empty, Self::Text)
    }

    /// The record that this cell shows: path and id.
    pub(in crate::admin) const fn record(&self) -> Option<(&'static str, i64)> {
        match self {
            Self::Record(path, id, _) => Some((path, *id)),
            _ => None,
        }
    }

    /// A moment that may be missing.
    pub(in crate::admin) fn time(time: Option<Timestamp>) -> Self {
        time.map_or(Self::Empty, Self::Time)
    }

    /// As it is read.
    pub(in crate::admin) fn shown(&self, locale: Locale) -> String {
        match self {
            Self::Empty => "-".to_owned(),
            Self::Text(text) | Self::Record(_, _, text) => text.clone(),
            Self::Chosen(_, shown) if shown.is_empty() => "-".to_owned(),
            Self::Chosen(_, shown) => shown.clone(),
            Self::Word((portuguese, english)) => locale.text(portuguese, english).to_owned(),
            Self::Fields(changes) if changes.is_empty() => "-".to_owned(),
            Self::Fields(changes) => {
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

    /// Whether it stands on one line: moments, and what is called by its number.
    pub(in crate::admin) fn is_short(&self) -> bool {
        matches!(self, Self::Time(_)) || matches!(self, Self::Text(text) if text.starts_with('#'))
    }

    /// Whether it stands at the end of its column, as numbers do.
    pub(in crate::admin) const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Money(_) | Self::Decimal(_))
    }
}

impl Written {
    /// A record without a secret.
    pub(in crate::admin) const fn of(id: i64, text: String) -> Self {
        Self {
            id,
            text,
            secret: None,
        }
    }
}

impl From<(i64, String)> for Written {
    fn from((id, text): (i64, String)) -> Self {
        Self::of(id, text)
    }
}

impl Count {
    /// Exactly so many.
    pub(in crate::admin) const fn exact(number: u64) -> Self {
        Self {
            number,
            is_more: false,
        }
    }
}
