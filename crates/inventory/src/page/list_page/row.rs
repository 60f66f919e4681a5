//! What a list shows: its columns, and the rows and cells below them.

use resource::{Field, Record, Value};

use super::super::Frame;

/// A column.
#[derive(Debug)]
pub(crate) struct Column {
    /// What stands over it.
    pub(crate) text: &'static str,
    /// The field that it orders the list by; empty when it does not.
    pub(crate) field: &'static str,
    /// Whether it holds numbers.
    pub(crate) is_number: bool,
    /// Whether a phone does without it.
    pub(crate) is_minor: bool,
}

impl Column {
    /// A column of texts that orders the list by `field`; by nothing when that is empty.
    pub(crate) const fn text(text: &'static str, field: &'static str) -> Self {
        Self {
            text,
            field,
            is_number: false,
            is_minor: false,
        }
    }

    /// The column of a field.
    pub(super) fn of(frame: &Frame, field: &'static Field) -> Self {
        Self {
            is_number: field.is_number(),
            is_minor: field.is_minor,
            ..Self::text(frame.say(field.short), field.name)
        }
    }

    /// A column of numbers.
    pub(crate) const fn number(text: &'static str, field: &'static str) -> Self {
        Self {
            is_number: true,
            ..Self::text(text, field)
        }
    }

    pub(super) fn class(&self) -> &'static str {
        match (self.is_number, self.is_minor) {
            (true, true) => "number minor",
            (true, false) => "number",
            (false, true) => "minor",
            (false, false) => "plain-cell",
        }
    }
}

/// What a cell of a row holds.
#[derive(Debug)]
pub(crate) enum Cell {
    /// The way to a record.
    Link(String, String),
    /// A text.
    Text(String),
    /// A number, written for the reader.
    Number(String),
    /// A quantity in stock, and whether it is low.
    Stock(String, bool),
    /// How it stands: the word, its tone and its icon.
    Badge(&'static str, &'static str, &'static str),
    /// A number, and a sentence about it.
    Noted(String, String),
    /// A number that is changed in its place.
    Input(NumberInput),
}

/// A number that a form in a row changes.
#[derive(Debug)]
pub(crate) struct NumberInput {
    /// The field's name.
    pub(crate) name: &'static str,
    /// The field's id on the page.
    pub(crate) id: String,
    /// What it is, with the record's name for those who hear it.
    pub(crate) label: String,
    /// As it is, or as it was typed.
    pub(crate) value: String,
    /// Its error; blank when there is none.
    pub(crate) message: String,
    /// Where the form is posted to.
    pub(crate) address: String,
}

/// What stands above some rows that belong together.
#[derive(Debug)]
pub(crate) struct Heading {
    /// The place of the first of them on the page.
    pub(crate) place: usize,
    /// What they have in common.
    pub(crate) text: String,
    /// What can be done with all of them: what it is called, and where it leads.
    pub(crate) link: (String, String),
}

impl Cell {
    /// A value of a field.
    pub(crate) fn of(frame: &Frame, field: &Field, value: Value<'_>) -> Self {
        let shown = field.shown(value, frame.locale);
        if field.is_long() {
            return Self::Text(shortened(&shown));
        }
        if field.is_number() {
            Self::Number(shown)
        } else {
            Self::Text(shown)
        }
    }
}

/// Something that can be done with a row.
#[derive(Debug)]
pub(crate) struct RowAction {
    /// Its icon.
    pub(crate) icon: &'static str,
    /// What it is called, with the record's name for those who hear it.
    pub(crate) text: String,
    /// Where it leads.
    pub(crate) address: String,
    /// Whether a script may open it over the page.
    pub(crate) is_dialog: bool,
}

/// Characters of a long text that stand in a list.
const SHORT: usize = 80;

/// One record.
#[derive(Debug)]
pub(crate) struct Row {
    /// One cell a column; the first names the record.
    pub(crate) cells: Vec<Cell>,
    /// What can be done with it.
    pub(crate) actions: Vec<RowAction>,
}

impl Row {
    /// A described record, whose page its name leads to.
    pub(crate) fn of(
        frame: &Frame,
        record: &impl Record,
        columns: &[&'static Field],
        address: &str,
        actions: Vec<RowAction>,
    ) -> Self {
        let values = record.values_of(columns).into_iter();
        let cells = values.map(|(field, value)| match Cell::of(frame, field, value) {
            Cell::Text(name) if field.is_name => Cell::Link(address.to_owned(), name),
            cell => cell,
        });
        Self {
            cells: cells.collect(),
            actions,
        }
    }

    /// Changes the cell of one of the columns.
    #[must_use]
    pub(crate) fn with(
        mut self,
        columns: &[&'static Field],
        field: &Field,
        change: impl FnOnce(Cell) -> Cell,
    ) -> Self {
        let place = columns.iter().position(|column| *column == field);
        if let Some(cell) = place.and_then(|place| self.cells.get_mut(place)) {
            let shown = std::mem::replace(cell, Cell::Text(String::new()));
            *cell = change(shown);
        }
        self
    }
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(SHORT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
