//! How a model is described to the administration: everything that its pages need to know of it, in one place.

use std::{future::Future, pin::Pin};

use db::{Money, Timestamp};
use web::locale::Locale;

use super::listing::Asked;
use crate::{
    State,
    accounts::{Caller, Model, Permission, Verb, session::agent},
    audit::words,
    rest::{Refusal, fields::Members},
};

/// Portuguese and English.
pub(super) type Text = (&'static str, &'static str);

/// What the functions of a model answer.
pub(super) type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, Refusal>> + Send + 'a>>;

/// Where a model stands in the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Application {
    /// Brands, categories, suppliers, products.
    Catalogue,
    /// What moves.
    Stock,
    /// What is told to others, and what is made of it.
    Events,
    /// Who may do what.
    Accounts,
}

/// What records of a model are called.
pub(super) struct Words {
    /// One of them.
    pub(super) singular: Text,
    /// Several.
    pub(super) plural: Text,
    /// Of which gender the Portuguese word is.
    pub(super) is_feminine: bool,
}

/// A column of a list.
pub(super) struct Column {
    /// The field.
    pub(super) name: &'static str,
    /// Whether the list can be sorted by it.
    pub(super) is_sorted: bool,
}

/// A filter beside a list.
pub(super) struct Filter {
    /// The field, and the parameter in the address.
    pub(super) name: &'static str,
    /// What can be chosen.
    pub(super) kind: FilterKind,
}

/// What a filter lets people choose.
pub(super) enum FilterKind {
    /// Yes or no.
    Truth,
    /// One of these values.
    Choices(&'static [(&'static str, Text)]),
    /// A record of another model, by its path.
    Related(&'static str),
}

/// A field of a form.
pub(super) struct Field {
    /// Its name.
    pub(super) name: &'static str,
    /// What is entered.
    pub(super) kind: FieldKind,
    /// A sentence that helps, or nothing.
    pub(super) help: Text,
    /// Whether it must be filled in.
    pub(super) is_required: bool,
    /// On which form it stands.
    pub(super) at: At,
    /// The heading of the section that begins with it.
    pub(super) section: Option<Text>,
}

/// What is entered into a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// One line.
    Line,
    /// Many lines.
    Lines,
    /// A whole number.
    Integer,
    /// An amount.
    Price,
    /// An address of a person.
    Email,
    /// Yes or no.
    Truth,
    /// A password that is set.
    Password,
    /// A record of another model, by its path.
    Related(&'static str),
    /// Several records of another model, by its path.
    Several(&'static str),
    /// Several permissions.
    Permissions,
    /// Several of these values.
    Choices(&'static [(&'static str, Text)]),
}

/// On which form a field stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// On both.
    Both,
    /// When a record is added.
    Add,
    /// When one is changed.
    Change,
}

/// Something that is done to selected records, beside deleting them.
pub(super) struct Action {
    /// Its name in the form.
    pub(super) name: &'static str,
    /// What the menu calls it.
    pub(super) text: Text,
    /// What is said when it was done to so many: before and behind the number.
    pub(super) done: (Text, Text),
    /// Who may.
    pub(super) verb: Verb,
}

/// The description of a model.
pub(super) struct About {
    /// Its place under `/admin/`.
    pub(super) path: &'static str,
    /// Its place in the navigation.
    pub(super) application: Application,
    /// What records are called.
    pub(super) words: Words,
    /// Under which name its history is kept.
    pub(super) model: Model,
    /// What is needed to do something; none where nobody may.
    pub(super) permission: fn(Verb) -> Option<Permission>,
    /// The columns of its list; the first leads to the record.
    pub(super) columns: &'static [Column],
    /// The order of the list when none is asked for, as `o` in the address has it.
    pub(super) order: &'static str,
    /// What the search looks at; none where there is no search.
    pub(super) search: Option<Text>,
    /// The filters beside the list.
    pub(super) filters: &'static [Filter],
    /// Whether the list can be narrowed by year, month and day of `created_at`.
    pub(super) has_dates: bool,
    /// The fields of its forms.
    pub(super) fields: &'static [Field],
    /// Whether a new record is completed on its own page after it was made.
    pub(super) in_two_steps: bool,
    /// What can be done to selected records beside deleting them.
    pub(super) actions: &'static [Action],
    /// Where the record is outside of the administration, before its id.
    pub(super) site: Option<&'static str>,
}

/// A value as lists and pages show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
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
    /// A moment.
    Time(Timestamp),
    /// Yes or no.
    Truth(bool),
    /// Names of fields, told in words.
    Fields(Vec<String>),
    /// What a browser calls itself, told in words.
    Agent(String),
    /// Another record: the path of its model, its id, its text.
    Record(&'static str, i64, String),
}

/// A record as lists show it.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// Its id.
    pub(super) id: i64,
    /// What people call it.
    pub(super) text: String,
    /// One for each column.
    pub(super) cells: Vec<Cell>,
    /// Values that filters compare with.
    pub(super) tags: Vec<(&'static str, String)>,
}

/// How many records a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    /// As many were counted.
    pub(super) number: u64,
    /// Whether counting stopped there.
    pub(super) is_more: bool,
}

/// One page of a list.
#[derive(Debug)]
pub(super) struct Rows {
    /// How many there are on all pages.
    pub(super) count: Count,
    /// Those of this page.
    pub(super) rows: Vec<Row>,
}

/// A record as its own page shows it.
#[derive(Debug, Clone)]
pub(super) struct Record {
    /// Its id.
    pub(super) id: i64,
    /// What people call it.
    pub(super) text: String,
    /// The values of the form's fields.
    pub(super) values: Vec<(&'static str, String)>,
    /// Everything that can be read of it.
    pub(super) facts: Vec<(&'static str, Cell)>,
}

/// A record that was saved.
#[derive(Debug, Clone)]
pub(super) struct Written {
    /// Its id.
    pub(super) id: i64,
    /// What people call it.
    pub(super) text: String,
    /// What its reader must note now, since nobody can show it again.
    pub(super) secret: Option<String>,
}

/// Records that refer to one that is to be deleted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Related {
    /// The path of their model.
    pub(super) path: &'static str,
    /// The filter of its list that finds them.
    pub(super) filter: &'static str,
    /// How many.
    pub(super) count: u64,
    /// Whether they keep it from being deleted; else they go with it.
    pub(super) is_protecting: bool,
}

/// A model in the administration: its description, and the service functions that read and write it.
pub(super) trait Administered: Send + Sync {
    /// Its description.
    fn about(&self) -> &About;

    /// One page of its list.
    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows>;

    /// One record.
    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>>;

    /// Adds a record, or changes the one of this id; its id and text.
    fn write<'a>(
        &'a self,
        _state: &'a State,
        _caller: &'a Caller,
        _id: Option<i64>,
        _members: Members,
    ) -> Work<'a, Written> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// Deletes a record; whether it was there.
    fn delete<'a>(&'a self, _state: &'a State, _caller: &'a Caller, _id: i64) -> Work<'a, bool> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// What refers to a record.
    fn related<'a>(&'a self, _state: &'a State, _id: i64) -> Work<'a, Vec<Related>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Does one of the actions to one record; whether it was done.
    fn act<'a>(
        &'a self,
        _state: &'a State,
        _caller: &'a Caller,
        _action: &'a str,
        _id: i64,
    ) -> Work<'a, bool> {
        Box::pin(async { Err(Refusal::forbidden()) })
    }

    /// The first and the last moment that the dates of the list can be narrowed to.
    fn span<'a>(&'a self, _state: &'a State) -> Work<'a, Option<(Timestamp, Timestamp)>> {
        Box::pin(async { Ok(None) })
    }
}

impl Application {
    /// Every application, in the order of the navigation.
    pub(super) const ALL: [Self; 4] = [Self::Catalogue, Self::Stock, Self::Events, Self::Accounts];

    /// Its name.
    pub(super) const fn name(self) -> Text {
        match self {
            Self::Catalogue => ("Catálogo", "Catalogue"),
            Self::Stock => ("Estoque", "Stock"),
            Self::Events => ("Eventos e análises", "Events and analyses"),
            Self::Accounts => ("Acesso e auditoria", "Access and audit"),
        }
    }
}

impl Words {
    /// One of them, in the reader's language.
    pub(super) const fn one(&self, locale: Locale) -> &'static str {
        locale.text(self.singular.0, self.singular.1)
    }

    /// Several.
    pub(super) const fn many(&self, locale: Locale) -> &'static str {
        locale.text(self.plural.0, self.plural.1)
    }

    /// The word for so many.
    pub(super) const fn of(&self, locale: Locale, count: u64) -> &'static str {
        if count == 1 {
            self.one(locale)
        } else {
            self.many(locale)
        }
    }

    /// One of two Portuguese endings, by gender.
    pub(super) const fn ending(
        &self,
        masculine: &'static str,
        feminine: &'static str,
    ) -> &'static str {
        if self.is_feminine {
            feminine
        } else {
            masculine
        }
    }
}

impl Column {
    /// A column that the list can be sorted by.
    pub(super) const fn sorted(name: &'static str) -> Self {
        Self {
            name,
            is_sorted: true,
        }
    }

    /// A column that is only shown.
    pub(super) const fn shown(name: &'static str) -> Self {
        Self {
            name,
            is_sorted: false,
        }
    }
}

impl Field {
    /// A field that must be filled in.
    pub(super) const fn required(name: &'static str, kind: FieldKind) -> Self {
        Self {
            name,
            kind,
            help: ("", ""),
            is_required: true,
            at: At::Both,
            section: None,
        }
    }

    /// A field that may stay empty.
    pub(super) const fn optional(name: &'static str, kind: FieldKind) -> Self {
        Self {
            is_required: false,
            ..Self::required(name, kind)
        }
    }

    /// With a sentence that helps.
    pub(super) const fn help(self, portuguese: &'static str, english: &'static str) -> Self {
        Self {
            help: (portuguese, english),
            ..self
        }
    }

    /// On one form only.
    pub(super) const fn at(self, at: At) -> Self {
        Self { at, ..self }
    }

    /// The first of a section.
    pub(super) const fn section(self, portuguese: &'static str, english: &'static str) -> Self {
        Self {
            section: Some((portuguese, english)),
            ..self
        }
    }

    /// Whether it stands on the form of a new record, or of one that is there.
    pub(super) fn is_on(&self, is_new: bool) -> bool {
        match self.at {
            At::Both => true,
            At::Add => is_new,
            At::Change => !is_new,
        }
    }
}

impl About {
    /// Whether somebody was given the permission to do this. That every authenticated user may read the shop's records does not
    /// open the administration: what is not granted is hidden.
    pub(super) fn allows(&self, caller: &Caller, verb: Verb) -> bool {
        (self.permission)(verb).is_some_and(|permission| caller.granted.holds(permission))
    }

    /// Whether somebody gets a form of it, new or not; else its records are only shown.
    pub(super) fn is_edited_by(&self, caller: &Caller, is_new: bool) -> bool {
        let verb = if is_new { Verb::Add } else { Verb::Change };
        let has_fields = self.fields.iter().any(|field| field.is_on(is_new));
        has_fields && self.allows(caller, verb)
    }

    /// Whether somebody sees it at all.
    pub(super) fn is_shown_to(&self, caller: &Caller) -> bool {
        Verb::ALL.into_iter().any(|verb| self.allows(caller, verb))
    }

    /// Whether somebody may look at its records: who may change them may read them.
    pub(super) fn is_read_by(&self, caller: &Caller) -> bool {
        self.allows(caller, Verb::View) || self.allows(caller, Verb::Change)
    }

    /// The address of its list.
    pub(super) fn address(&self) -> String {
        format!("/admin/{}/", self.path)
    }

    /// The address of one record.
    pub(super) fn record_address(&self, id: i64) -> String {
        format!("/admin/{}/{id}/change/", self.path)
    }
}

impl Cell {
    /// A text that may be missing or blank.
    pub(super) fn text(text: Option<String>) -> Self {
        text.filter(|text| !text.trim().is_empty())
            .map_or(Self::Empty, Self::Text)
    }

    /// The record that this cell shows: path and id.
    pub(super) const fn record(&self) -> Option<(&'static str, i64)> {
        match self {
            Self::Record(path, id, _) => Some((path, *id)),
            _ => None,
        }
    }

    /// A moment that may be missing.
    pub(super) fn time(time: Option<Timestamp>) -> Self {
        time.map_or(Self::Empty, Self::Time)
    }

    /// As it is read.
    pub(super) fn shown(&self, locale: Locale) -> String {
        match self {
            Self::Empty => "-".to_owned(),
            Self::Text(text) | Self::Record(_, _, text) => text.clone(),
            Self::Word((portuguese, english)) => locale.text(portuguese, english).to_owned(),
            Self::Fields(names) if names.is_empty() => "-".to_owned(),
            Self::Fields(names) => {
                let names: Vec<&str> = names
                    .iter()
                    .map(|name| words::field(locale, name))
                    .collect();
                names.join(", ")
            }
            Self::Agent(agent) => agent::words(agent, locale),
            Self::Number(number) => locale.number(*number),
            Self::Money(amount) => locale.money(*amount),
            Self::Time(time) => locale.date_time(*time),
            Self::Truth(true) => locale.text("Sim", "Yes").to_owned(),
            Self::Truth(false) => locale.text("Não", "No").to_owned(),
        }
    }

    /// Whether it stands on one line: moments, and what is called by its number.
    pub(super) fn is_short(&self) -> bool {
        matches!(self, Self::Time(_)) || matches!(self, Self::Text(text) if text.starts_with('#'))
    }

    /// Whether it stands at the end of its column, as numbers do.
    pub(super) const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Money(_))
    }
}

impl Written {
    /// A record without a secret.
    pub(super) const fn of(id: i64, text: String) -> Self {
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
    pub(super) const fn exact(number: u64) -> Self {
        Self {
            number,
            is_more: false,
        }
    }
}
