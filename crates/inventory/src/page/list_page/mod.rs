//! The list page of any kind of record: filters as removable chips, sortable columns, pagination, all of it in the address.
//! What the records are, and which filters they have, is defined by their features.

mod address;
mod days;
mod export;
mod pages;
mod request;
mod row;
mod spool;

pub(crate) use address::ListAddress;
pub(crate) use days::Days;
pub(crate) use export::{Cells, ExportFile, empty_file, export, headings};
pub(crate) use pages::{PageLink, last_page, page_links};
pub(crate) use request::{ListFilters, ListRequest};
pub(crate) use row::{Cell, Column, Heading, NumberInput, Row, RowAction};

use askama::Template;
use axum::response::Response;
use http::{StatusCode, Uri};
use resource::{Field, Words};

use super::{Form, Frame, picker::Picker, redirect};
use crate::{
    access::{Model, Verb},
    accounts::session::SavedView,
    catalogue::products::ProductRecord,
    rest::{Refusal, page::Page, query::encode},
};

/// So many digits are a product's code; the script of the search knows it too.
const CODE: usize = 6;
/// How many records a page may have.
const SIZES: [u64; 4] = [10, 25, 50, 100];

/// A field of the filter.
#[derive(Debug)]
pub(crate) enum Filter {
    /// Words.
    Search(String),
    /// Another record, by its picker.
    Record(Picker),
    /// An amount: its name and what it is called.
    Amount(&'static str, String),
    /// A day: its name and what it is called.
    Day(&'static str, String),
    /// One of a few values: its name, what it is called, and the values with what each is called.
    Choice(
        &'static str,
        &'static str,
        Vec<(&'static str, &'static str)>,
    ),
}

/// A filter that is set, and the address without it.
#[derive(Debug)]
pub(crate) struct Chip {
    /// What is filtered by.
    pub(crate) text: String,
    /// The list without this filter.
    pub(crate) address: String,
}

/// A list with nothing in it.
#[derive(Debug)]
pub(crate) struct Empty {
    /// Its icon.
    pub(crate) icon: &'static str,
    /// One sentence.
    pub(crate) sentence: String,
}

impl Empty {
    pub(crate) fn new(icon: &'static str, sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        Self { icon, sentence }
    }
}

/// The list that a page shows.
#[derive(Debug)]
pub(crate) struct ListPage {
    /// What the records are called.
    pub(crate) title: String,
    /// A sentence under the title.
    pub(crate) lead: String,
    /// Where the list is, with its state.
    pub(crate) address: ListAddress,
    /// What a new record is made with: what the button says and where it leads.
    pub(crate) create: Option<(String, String)>,
    /// The field of a new record that takes what was searched for in vain; empty when none does.
    pub(crate) name: &'static str,
    /// Whether a new record may be made in a dialog.
    pub(crate) is_create_dialog: bool,
    /// Where a file is imported, for those who may.
    pub(crate) import: Option<String>,
    /// Whether the list can be had as a file.
    pub(crate) is_exported: bool,
    /// What else is done with all that is listed.
    pub(crate) further: Option<Link>,
    /// Other ways to do what the list is about, beside the button of a new record.
    pub(crate) beside: Vec<Link>,
    /// The filter's fields.
    pub(crate) filters: Vec<Filter>,
    /// The filter's values as typed, and what is wrong with them.
    pub(crate) form: Form,
    /// The filters that are set.
    pub(crate) chips: Vec<Chip>,
    /// What the list shows instead of what was asked for; empty when it shows that.
    pub(crate) note: String,
    /// Where else what was asked for may be found.
    pub(crate) also: Vec<Chip>,
    /// The columns.
    pub(crate) columns: Vec<Column>,
    /// The records of this page.
    pub(crate) rows: Vec<Row>,
    /// What stands above some of them.
    pub(crate) headings: Vec<Heading>,
    /// How many there are on all pages.
    pub(crate) count: u64,
    /// This page's number, from 1.
    pub(crate) number: u64,
    /// Records a page.
    pub(crate) size: u64,
    /// The text of an empty list.
    pub(crate) empty: Empty,
}

#[derive(Template)]
#[template(path = "page/list_page.html")]
struct ListTemplate<'a> {
    frame: &'a Frame,
    list: &'a ListPage,
}

/// Another way to do what a list is about.
#[derive(Debug)]
pub(crate) struct Link {
    /// Its icon.
    pub(crate) icon: &'static str,
    /// What it says.
    pub(crate) text: &'static str,
    /// Where it leads.
    pub(crate) address: String,
}

/// Leads from the address of a file to that of its list, with the same filters: the list tells what is wrong with them, and a file of
/// everything is not what was asked for.
pub(crate) fn back_to_list(export: &Uri) -> Response {
    let path = export.path().trim_end_matches("export/");
    redirect(&format!("{path}?{}", export.query().unwrap_or_default()))
}

/// A file, or the way back to its list when the list's filters cannot be read.
pub(crate) fn or_back_to_list(
    file: Result<Response, Refusal>,
    export: &Uri,
) -> Result<Response, Refusal> {
    match file {
        Err(Refusal::Fields(_)) => Ok(back_to_list(export)),
        file => file,
    }
}

impl ListPage {
    /// A list without rows, filters and links.
    pub(crate) fn new(
        title: String,
        address: ListAddress,
        columns: Vec<Column>,
        empty: Empty,
    ) -> Self {
        Self {
            title,
            lead: String::new(),
            address,
            create: None,
            name: "",
            is_create_dialog: true,
            import: None,
            is_exported: true,
            further: None,
            beside: Vec::new(),
            filters: Vec::new(),
            form: Form::new(),
            chips: Vec::new(),
            note: String::new(),
            also: Vec::new(),
            columns,
            rows: Vec::new(),
            headings: Vec::new(),
            count: 0,
            number: 1,
            size: 10,
            empty,
        }
    }

    /// The list of records, with the ways to create and import them for readers who may.
    pub(crate) fn of(
        frame: &Frame,
        words: &Words,
        model: Model,
        icon: &'static str,
        address: ListAddress,
        fields: &[&'static Field],
    ) -> Self {
        let (locale, path) = (frame.locale, address.path().to_owned());
        let columns = fields.iter().map(|field| Column::of(frame, field));
        let empty = Empty::new(icon, words.none_yet(locale));
        let list = Self::new(words.title(locale), address, columns.collect(), empty);
        let name = fields
            .iter()
            .find(|field| field.is_name && field.target.is_none());
        if !frame.may(Verb::Add, model) {
            return list;
        }
        Self {
            create: Some((words.new_one(locale), format!("{path}new/"))),
            import: Some(format!("/import/?resource={}", path.trim_matches('/'))),
            name: name.map_or("", |field| field.name),
            ..list
        }
    }

    /// Takes the records of a page.
    pub(crate) fn fill<T>(&mut self, page: &Page<T>, row: impl Fn(&T) -> Row) {
        self.rows = page.results.iter().map(row).collect();
        (self.count, self.number, self.size) = (page.count, page.number, page.size);
    }

    /// The page; 422 when a filter cannot be read.
    pub(crate) fn show(&self, frame: &Frame) -> Response {
        let status = if self.form.is_refused() || !self.mistyped().is_empty() {
            StatusCode::UNPROCESSABLE_ENTITY
        } else {
            StatusCode::OK
        };
        frame.show_with(status, ListTemplate { frame, list: self })
    }

    /// What stands above the row of this place.
    fn heading(&self, place: usize) -> Option<&Heading> {
        self.headings.iter().find(|heading| heading.place == place)
    }

    /// The number of columns, that of the actions included.
    fn width(&self) -> usize {
        self.columns.len() + 1
    }

    /// The errors of numbers in rows: the id of the control, and the message with its label.
    fn mistyped(&self) -> Vec<(&str, String)> {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let wrong = cells.filter_map(|cell| match cell {
            Cell::Input(typed) if !typed.message.is_empty() => Some((
                typed.id.as_str(),
                format!("{}: {}", typed.label, typed.message),
            )),
            _ => None,
        });
        wrong.collect()
    }

    /// What `aria-sort` says of a column.
    fn sort(&self, column: &Column) -> &'static str {
        match self.address.ordering() {
            (field, _) if field.is_empty() || field != column.field => "none",
            (_, false) => "ascending",
            (_, true) => "descending",
        }
    }

    /// The list ordered by a column; once more by the same column is the other way round.
    fn sort_address(&self, column: &Column) -> String {
        let (field, is_descending) = self.address.ordering();
        let sign = if field == column.field && !is_descending {
            "-"
        } else {
            ""
        };
        let ordering = format!("{sign}{}", column.field);
        self.address.with(&[("ordering", &ordering), ("page", "")])
    }

    /// The columns that order the list.
    fn sorts(&self) -> impl Iterator<Item = &Column> {
        self.columns
            .iter()
            .filter(|column| !column.field.is_empty())
    }

    /// Which way a column orders the list; nothing when it does not.
    fn sort_sign(&self, column: &Column) -> &'static str {
        match self.sort(column) {
            "ascending" => " ↑",
            "descending" => " ↓",
            _ => "",
        }
    }

    /// The column that orders the list, and which way.
    fn sorted_by(&self) -> String {
        let column = self.sorts().find(|column| self.sort(column) != "none");
        column.map_or_else(String::new, |column| {
            format!("{}{}", column.text, self.sort_sign(column))
        })
    }

    /// The form of a new record with what was searched for in vain filled in: of a product a code, where it is one.
    fn create_sought(&self) -> Option<(String, String)> {
        let (text, address) = self.create.as_ref()?;
        let sought = self.form.value("search").trim();
        if self.name.is_empty() || sought.is_empty() {
            return Some((text.clone(), address.clone()));
        }
        let is_code = sought.len() >= CODE && sought.bytes().all(|byte| byte.is_ascii_digit());
        let field = if is_code && self.name == ProductRecord::title.name {
            ProductRecord::serie_number.name
        } else {
            self.name
        };
        let mut filled = format!("{address}?{field}=");
        encode(sought, &mut filled);
        Some((format!("{text} “{sought}”"), filled))
    }

    /// The saved view that the list shows.
    fn view<'frame>(&self, frame: &'frame Frame) -> Option<&'frame SavedView> {
        let here = frame.saved_address(&self.address.whole())?;
        frame.views().iter().find(|view| view.address == here)
    }

    /// The address that saves the list as a view; none of a list that cannot be saved.
    fn new_view(&self, frame: &Frame) -> Option<String> {
        let here = frame.saved_address(&self.address.whole());
        let here = here.filter(|_| !self.form.is_refused())?;
        let mut address = "/views/new/?address=".to_owned();
        encode(&here, &mut address);
        Some(address)
    }

    /// The fields behind "more filters": all but the first.
    fn more_filters(&self) -> &[Filter] {
        self.filters.get(1..).unwrap_or_default()
    }

    /// Whether one of them is set or wrong, so that they are shown.
    fn is_more_open(&self) -> bool {
        let first = match self.filters.first() {
            Some(Filter::Search(_)) => "search",
            Some(Filter::Record(picked)) => picked.name,
            _ => "",
        };
        let is_set = self.address.filtered().any(|name| name != first);
        is_set || self.form.errors().iter().any(|(name, _)| *name != first)
    }

    fn page_address(&self, number: u64) -> String {
        let number = if number == 1 {
            String::new()
        } else {
            number.to_string()
        };
        self.address.with(&[("page", &number)])
    }

    fn last(&self) -> u64 {
        last_page(self.count, self.size)
    }

    fn page_links(&self) -> Vec<PageLink> {
        page_links(self.number, self.last(), |number| self.page_address(number))
    }

    fn sizes(&self) -> Vec<u64> {
        let mut sizes = SIZES.to_vec();
        if !sizes.contains(&self.size) {
            sizes.push(self.size);
            sizes.sort_unstable();
        }
        sizes
    }

    fn size_address(&self, size: u64) -> String {
        self.address
            .with(&[("page_size", &size.to_string()), ("page", "")])
    }

    fn export_address(&self) -> String {
        self.address
            .beside("export/", &[("page", ""), ("page_size", "")])
    }

    /// `1–10 de 237`
    fn range(&self, frame: &Frame) -> String {
        let locale = frame.locale;
        let number = |number: u64| locale.number(i64::try_from(number).unwrap_or(i64::MAX));
        if self.count == 0 {
            return locale.text("Nenhum resultado", "No results").to_owned();
        }
        let first = (self.number - 1) * self.size + 1;
        let last = first + u64::try_from(self.rows.len()).unwrap_or(1).max(1) - 1;
        format!(
            "{}–{} {} {}",
            number(first),
            number(last),
            locale.text("de", "of"),
            number(self.count)
        )
    }
}
