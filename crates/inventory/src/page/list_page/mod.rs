//! The list page of all kinds of records: filters as removable chips, sortable columns and
//! pagination, with the whole state in the address. Features define the records and the filters.

mod address;
mod export;
mod filter;
mod pages;
mod row;
mod spool;

pub(crate) use address::ListAddress;
pub(crate) use export::{ExportFile, export, file_of_rows, headings, limit_exports};
pub(crate) use filter::{Days, Filter, FilterControl, ListRequest};
pub(crate) use pages::{PageLink, page_links};
pub(crate) use row::{Cell, CellInput, Column, Head, Heading, Row, RowAction};

use askama::Template;
use axum::response::Response;
use http::{StatusCode, Uri};

use super::{Form, Frame, redirect};
use crate::{
    accounts::session::SavedView,
    catalogue::products::ProductRecord,
    rest::{list::last_page, page::Page, query::encode},
};

/// The least number of digits that count as a product's code. The search script uses the same
/// number.
const CODE: usize = 6;
/// The page sizes to choose from.
const SIZES: [u64; 4] = [10, 25, 50, 100];

/// A filter that is set.
#[derive(Debug)]
pub(crate) struct Chip {
    pub(crate) text: String,
    /// The address of the list without this filter.
    pub(crate) address: String,
}

/// What an empty list shows.
#[derive(Debug)]
pub(crate) struct Empty {
    pub(crate) icon: &'static str,
    pub(crate) sentence: String,
}

impl Empty {
    pub(crate) fn new(icon: &'static str, sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        Self { icon, sentence }
    }
}

/// The content of a list page.
#[derive(Debug)]
pub(crate) struct ListPage {
    /// The title: the name of the records.
    pub(crate) title: String,
    /// A sentence below the title.
    pub(crate) lead: String,
    /// The address of the list, with its state.
    pub(crate) address: ListAddress,
    /// The button that creates a record: its text and address.
    pub(crate) create: Option<(String, String)>,
    /// The field of a new record that is filled with the text of a search without results; empty
    /// for none.
    pub(crate) name: &'static str,
    /// Whether the form of a new record may open in a dialog.
    pub(crate) is_create_dialog: bool,
    /// The address of the import, for users who may.
    pub(crate) import: Option<String>,
    /// Whether the list can be exported as a file.
    pub(crate) is_exported: bool,
    /// An action on all listed records.
    pub(crate) further: Option<Link>,
    /// Alternatives to the button that creates a record.
    pub(crate) beside: Vec<Link>,
    pub(crate) filters: Vec<Filter>,
    /// The typed values of the filters, and their errors.
    pub(crate) form: Form,
    pub(crate) chips: Vec<Chip>,
    /// A note when the list shows something other than what was asked for; empty otherwise.
    pub(crate) note: String,
    /// Links to other places where a search may have results.
    pub(crate) also: Vec<Chip>,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// Headings above groups of rows.
    pub(crate) headings: Vec<Heading>,
    /// The number of records on all pages.
    pub(crate) count: u64,
    /// This page's number, from 1.
    pub(crate) number: u64,
    /// The number of records a page.
    pub(crate) size: u64,
    /// What to show if the list is empty.
    pub(crate) empty: Empty,
}

#[derive(Template)]
#[template(path = "page/list_page.html")]
struct ListTemplate<'a> {
    frame: &'a Frame,
    list: &'a ListPage,
}

/// A link beside the button that creates a record.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) icon: &'static str,
    pub(crate) text: &'static str,
    pub(crate) address: String,
}

/// Redirects from an export to its list, with the same filters. The list shows which filters are
/// invalid; exporting all records instead would be wrong.
pub(crate) fn back_to_list(export: &Uri) -> Response {
    let path = export.path().trim_end_matches("export/");
    redirect(&format!("{path}?{}", export.query().unwrap_or_default()))
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

    /// Fills in the records of a page.
    pub(crate) fn fill<T>(&mut self, page: &Page<T>, row: impl Fn(&T) -> Row) {
        self.rows = page.results.iter().map(row).collect();
        (self.count, self.number, self.size) = (page.count, page.number, page.size);
    }

    /// Renders the page; 422 if a filter or an input in a row is invalid.
    pub(crate) fn show(&self, frame: &Frame) -> Response {
        let status = if self.form.is_refused() || !self.mistyped().is_empty() {
            StatusCode::UNPROCESSABLE_ENTITY
        } else {
            StatusCode::OK
        };
        frame.show_with(status, ListTemplate { frame, list: self })
    }

    /// The heading above the row at this index.
    fn heading(&self, place: usize) -> Option<&Heading> {
        self.headings.iter().find(|heading| heading.place == place)
    }

    /// The number of columns, including the actions.
    fn width(&self) -> usize {
        self.columns.len() + 1
    }

    /// The errors of inputs in rows: the control's id, and the message with its label.
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

    fn heads(&self) -> Vec<Head> {
        let columns = self.columns.iter();
        columns
            .map(|column| Head {
                text: column.text,
                class: column.class(),
                sorted: self.sort(column),
                address: (!column.field.is_empty()).then(|| self.sort_address(column)),
                ..Head::default()
            })
            .collect()
    }

    /// The value of a column's `aria-sort`.
    fn sort(&self, column: &Column) -> &'static str {
        match self.address.ordering() {
            (field, _) if field.is_empty() || field != column.field => "none",
            (_, false) => "ascending",
            (_, true) => "descending",
        }
    }

    /// The list sorted by a column. If it is already sorted by it, the direction is reversed.
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

    /// The sortable columns.
    fn sorts(&self) -> impl Iterator<Item = &Column> {
        self.columns
            .iter()
            .filter(|column| !column.field.is_empty())
    }

    /// An arrow for the sort direction; empty if the list is not sorted by the column.
    fn sort_sign(&self, column: &Column) -> &'static str {
        match self.sort(column) {
            "ascending" => " ↑",
            "descending" => " ↓",
            _ => "",
        }
    }

    /// The name of the sort column, with its arrow.
    fn sorted_by(&self) -> String {
        let column = self.sorts().find(|column| self.sort(column) != "none");
        column.map_or_else(String::new, |column| {
            format!("{}{}", column.text, self.sort_sign(column))
        })
    }

    /// The button that creates a record, with the unsuccessful search filled in. For products,
    /// digits are filled in as a code.
    fn create_sought(&self) -> Option<(String, String)> {
        let (text, address) = self.create.as_ref()?;
        let search = self.form.value("search").trim();
        if self.name.is_empty() || search.is_empty() {
            return Some((text.clone(), address.clone()));
        }
        let is_code = search.len() >= CODE && search.bytes().all(|byte| byte.is_ascii_digit());
        let field = if is_code && self.name == ProductRecord::title.name {
            ProductRecord::serie_number.name
        } else {
            self.name
        };
        let mut filled = format!("{address}?{field}=");
        encode(search, &mut filled);
        Some((format!("{text} “{search}”"), filled))
    }

    /// The saved view with the list's address.
    fn view<'frame>(&self, frame: &'frame Frame) -> Option<&'frame SavedView> {
        let here = frame.saved_address(&self.address.whole())?;
        frame.views().iter().find(|view| view.address == here)
    }

    /// The address that saves the list as a view. `None` if it cannot be saved.
    fn new_view(&self, frame: &Frame) -> Option<String> {
        let here = frame.saved_address(&self.address.whole());
        let here = here.filter(|_| !self.form.is_refused())?;
        let mut address = "/views/new/?address=".to_owned();
        encode(&here, &mut address);
        Some(address)
    }

    /// The fields below "more filters": all but the first.
    fn more_filters(&self) -> &[Filter] {
        self.filters.get(1..).unwrap_or_default()
    }

    /// Whether one of these filters is set or invalid, so that they must be visible.
    fn is_more_open(&self) -> bool {
        let is_typed = |filter: &&Filter| {
            matches!(
                filter.control,
                FilterControl::Search | FilterControl::Record(_)
            )
        };
        let first = self.filters.first().filter(is_typed);
        let first = first.map_or("", |filter| filter.name);
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
        if self.count == 0 {
            return locale.text("Nenhum resultado", "No results").to_owned();
        }
        let first = (self.number - 1) * self.size + 1;
        let last = first + u64::try_from(self.rows.len()).unwrap_or(1).max(1) - 1;
        format!(
            "{}–{} {} {}",
            locale.number(first),
            locale.number(last),
            locale.text("de", "of"),
            locale.number(self.count)
        )
    }
}
