//! The columns of a list, and its rows and cells.

use resource::{Field, Record, Value};

use super::super::{Frame, edit_conflict::Conflict, shortened};

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) text: &'static str,
    /// The sort key, or empty if the column is not sortable.
    pub(crate) field: &'static str,
    /// Whether it holds numbers, which are aligned right.
    pub(crate) is_number: bool,
    /// Whether it is hidden on phones.
    pub(crate) is_minor: bool,
}

impl Column {
    /// A column of texts, which is not sortable.
    pub(crate) const fn text(text: &'static str) -> Self {
        Self {
            text,
            field: "",
            is_number: false,
            is_minor: false,
        }
    }

    /// The column of a described field.
    pub(crate) fn of(frame: &Frame, field: &'static Field) -> Self {
        Self {
            is_number: field.is_number(),
            is_minor: field.is_minor,
            field: field.name,
            text: frame.say(field.short),
        }
    }

    /// A column of numbers, which is not sortable.
    pub(crate) const fn number(text: &'static str) -> Self {
        Self {
            is_number: true,
            ..Self::text(text)
        }
    }

    pub(super) fn class(&self) -> &'static str {
        match (self.is_number, self.is_minor) {
            (true, true) => "number minor",
            (true, false) => "number",
            (false, true) => "minor",
            (false, false) => "",
        }
    }
}

/// The head of a column.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) text: &'static str,
    /// The class of the column's cells; may be empty.
    pub(crate) class: &'static str,
    /// The value of `aria-sort`, if the column can be sorted by.
    pub(crate) sorted: &'static str,
    /// The list sorted by the column. `None` if it cannot be sorted by.
    pub(crate) address: Option<String>,
    /// The column's position in the sort key, from 1, if the key has several columns.
    pub(crate) place: Option<usize>,
    /// The list with the column removed from its sort key.
    pub(crate) remove: Option<String>,
}

/// The content of a cell.
#[derive(Debug)]
pub(crate) enum Cell {
    /// A link to a record: its address and text.
    Link(String, String),
    Text(String),
    Number(String),
    /// A quantity in stock, and whether it is low.
    Stock(String, bool),
    /// A status: the text, its tone and its icon.
    Badge(&'static str, &'static str, &'static str),
    /// A number and a note.
    Noted(String, String),
    /// A value that can be edited in the list.
    Input(CellInput),
}

/// The input of a value in a row.
#[derive(Debug)]
pub(crate) struct CellInput {
    pub(crate) name: String,
    pub(crate) id: String,
    /// The label for screen readers, which includes the record's name.
    pub(crate) label: String,
    /// The stored or the typed value.
    pub(crate) value: String,
    /// The value of `inputmode`.
    pub(crate) keyboard: &'static str,
    /// The error; empty if there is none.
    pub(crate) message: String,
    /// The address that the input's own form posts to. `None` if it belongs to the form of the
    /// whole list, `edits`.
    pub(crate) address: Option<String>,
    pub(crate) conflict: Option<Conflict>,
}

/// The heading of a group of rows.
#[derive(Debug)]
pub(crate) struct Heading {
    /// The index of the group's first row on the page.
    pub(crate) place: usize,
    pub(crate) text: String,
    /// An action on all rows of the group: its text and address.
    pub(crate) link: (String, String),
}

impl Cell {
    /// The value of a described field.
    pub(crate) fn of(frame: &Frame, field: &Field, value: Value<'_>) -> Self {
        let shown = field.shown(value, frame.locale);
        if field.is_long() {
            return Self::Text(shortened(&shown, SHORT));
        }
        if field.is_number() {
            Self::Number(shown)
        } else {
            Self::Text(shown)
        }
    }
}

/// An action on a row.
#[derive(Debug)]
pub(crate) struct RowAction {
    pub(crate) icon: &'static str,
    /// The text for screen readers, which includes the record's name.
    pub(crate) text: String,
    pub(crate) address: String,
    /// Whether it may open in a dialog.
    pub(crate) is_dialog: bool,
}

/// The most characters of a long text in a list.
const SHORT: usize = 80;

#[derive(Debug)]
pub(crate) struct Row {
    /// One cell for each column. The first names the record.
    pub(crate) cells: Vec<Cell>,
    pub(crate) actions: Vec<RowAction>,
}

impl Row {
    /// The row of a described record. Its name links to `address`.
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

    /// Replaces the cell of a column.
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
