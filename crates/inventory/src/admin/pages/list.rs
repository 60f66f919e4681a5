//! The list of a model: columns, order, search, filters, dates, pages, and the checkboxes that select records for actions.

use askama::Template;
use axum::{
    extract::{Path, Request, State as Extracted},
    response::Response,
};
use resource::{Field, in_a_sentence};
use web::locale::Locale;

use super::{
    edits::{self, ListEdits},
    every,
    filters::{FilterView, filter_views},
    query,
};
use crate::{
    access::Verb,
    admin::{
        about::{AdminModel, ModelColumn, ModelDescription, ModelRecord, RecordCount, RecordPage},
        listing::{DateLink, ListParameters, SHOW_ALL, links},
        registry,
        site::AdminFrame,
    },
    page::{
        PageState,
        edit_conflict::{Conflict, one_line},
        list_page::{Chip, PageLink, last_page, page_links},
        redirect,
    },
    rest::Refusal,
};

#[derive(Template)]
#[template(path = "admin/list.html")]
struct ModelListPage<'a> {
    site: &'a AdminFrame,
    about: &'static ModelDescription,
    query: ListParameters,
    rows: RecordPage,
    /// How many records there are without search and filters; the same as of the rows when nothing narrows them.
    total: RecordCount,
    filters: Vec<FilterView>,
    dates: Vec<DateLink>,
    /// What is written in the list itself.
    edited: Vec<&'static Field>,
    /// What was typed there and refused.
    edits: ListEdits,
}

/// The head of a column.
struct ColumnHead {
    text: &'static str,
    /// `ascending`, `descending`, or nothing.
    sorted: &'static str,
    /// Sorts by it first, or turns its direction round.
    href: Option<String>,
    /// Its place in the order, when there are several.
    place: Option<usize>,
    /// Takes it out of the order.
    remove: Option<String>,
}

/// A cell of a row.
struct CellView {
    label: &'static str,
    text: String,
    link: Option<String>,
    is_number: bool,
    /// Whether it stands on one line.
    is_short: bool,
    /// The field, where it is written in the list.
    edit: Option<EditView>,
}

/// A field in a cell.
struct EditView {
    /// What its names have in common.
    name: String,
    label: String,
    value: String,
    keyboard: &'static str,
    error: String,
    conflict: Option<Conflict>,
}

/// `GET /admin/{model}/`
pub(super) async fn show(
    Extracted(page): Extracted<PageState>,
    site: AdminFrame,
    Path(path): Path<String>,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, _) = request.into_parts();
    let model = site.model(&path)?;
    let about = model.about();
    site.demand(about, Verb::View)?;
    let corrected = || Ok(redirect(&format!("{}?e=1", about.address())));
    let Ok(mut query) = ListParameters::parse(about, query(&parts)) else {
        return corrected();
    };
    query.size = query.size.min(page.state.config.max_page_size);
    match view(&page, &site, model, query, ListEdits::default()).await {
        Ok(list) => Ok(site.show(list)),
        Err(Refusal::InvalidPage(_) | Refusal::Fields(_)) => corrected(),
        Err(refusal) => Err(refusal.into()),
    }
}

/// The list with what was typed into it and refused: 422.
pub(super) async fn shown_again(
    page: &PageState,
    site: &AdminFrame,
    model: &'static dyn AdminModel,
    mut query: ListParameters,
    edits: ListEdits,
) -> Result<Response, Refusal> {
    query.size = query.size.min(page.state.config.max_page_size);
    let list = view(page, site, model, query, edits).await?;
    Ok(site.show_again(list))
}

async fn view<'a>(
    page: &PageState,
    site: &'a AdminFrame,
    model: &'static dyn AdminModel,
    query: ListParameters,
    mut edits: ListEdits,
) -> Result<ModelListPage<'a>, Refusal> {
    let (state, about) = (&page.state, model.about());
    let mut rows = model.list(state, &query).await?;
    if query.page > 1 && rows.records.is_empty() {
        return Err(Refusal::InvalidPage(crate::rest::list::InvalidPage));
    }
    // Where too many came meanwhile, the first page stays.
    if query.shows_all
        && rows.count.number <= SHOW_ALL
        && !rows.count.is_more
        && let Some(records) = every(page, model, &query, SHOW_ALL).await?
    {
        rows.records = records;
    }
    edits.refresh(about, &rows.records, site.locale);
    let total = if query.is_narrowed() {
        let everything = ListParameters {
            size: 1,
            ..ListParameters::nothing(about)
        };
        model.list(state, &everything).await?.count
    } else {
        rows.count
    };
    let span = if about.has_dates {
        model.span(state).await?
    } else {
        None
    };
    Ok(ModelListPage {
        filters: filter_views(page, site, model, &query).await?,
        dates: span.map_or_else(Vec::new, |span| links(&query, span, site.locale)),
        edited: edits::fields(site, about),
        edits,
        site,
        about,
        query,
        rows,
        total,
    })
}

impl ModelListPage<'_> {
    fn title(&self) -> String {
        let words = &self.about.words;
        let locale = self.site.locale;
        let one = words.one(locale);
        let verb = if self.about.is_edited_by(&self.site.caller, false) {
            locale.text("alterar", "change")
        } else {
            locale.text("ver", "view")
        };
        match locale {
            Locale::En => format!("Select {one} to {verb}"),
            Locale::PtBr => format!("Selecione {} {one} para {verb}", words.ending("um", "uma")),
        }
    }

    fn name(&self) -> String {
        self.about.words.title(self.site.locale)
    }

    fn search_hint(&self) -> String {
        let searched = self.about.search;
        searched.map_or_else(String::new, |searched| {
            in_a_sentence(self.site.say(searched))
        })
    }

    fn add(&self) -> Option<String> {
        let may = self.about.allows(&self.site.caller, Verb::Add);
        may.then(|| format!("{}add/", self.about.address()))
    }

    fn add_text(&self) -> String {
        let site = self.site;
        let name = self.about.words.one(site.locale);
        format!("{} {name}", site.text("Adicionar", "Add"))
    }

    fn heads(&self) -> Vec<ColumnHead> {
        let columns = self.about.columns.iter().enumerate();
        columns
            .map(|(index, column)| {
                let place = self
                    .query
                    .order
                    .iter()
                    .position(|(other, _)| *other == index);
                let descends = place
                    .and_then(|place| self.query.order.get(place))
                    .is_some_and(|(_, descends)| *descends);
                ColumnHead {
                    text: self.site.field(column.name),
                    sorted: match (place, descends) {
                        (Some(0), false) => "ascending",
                        (Some(0), true) => "descending",
                        _ => "",
                    },
                    href: column
                        .is_sorted
                        .then(|| self.query.with(|query| sort_by(query, index))),
                    place: place
                        .filter(|_| self.query.order.len() > 1)
                        .map(|place| place + 1),
                    remove: place.filter(|_| self.query.is_ordered).map(|_| {
                        self.query.with(|query| {
                            query.order.retain(|(other, _)| *other != index);
                            query.is_ordered = !query.order.is_empty();
                        })
                    }),
                }
            })
            .collect()
    }

    fn href(&self, row: &ModelRecord) -> String {
        self.about.record_address(row.id)
    }

    /// The actions of the menu: name and text.
    fn actions(&self) -> Vec<(&'static str, String)> {
        let (site, about) = (self.site, self.about);
        let mut actions = Vec::new();
        if about.allows(&site.caller, Verb::Delete) {
            let many = about.words.many(site.locale);
            let ending = about.words.ending("os", "as");
            let text = match site.locale {
                Locale::En => format!("Delete selected {many}"),
                Locale::PtBr => format!("Excluir {ending} {many} selecionad{ending}"),
            };
            actions.push(("delete_selected", text));
        }
        let others = about.actions.iter();
        let others = others.filter(|action| about.allows(&site.caller, action.verb));
        actions.extend(others.map(|action| (action.name, site.say(action.text).to_owned())));
        actions
    }

    /// `12 products`
    fn count(&self) -> String {
        let words = &self.about.words;
        format!(
            "{} {}",
            self.site.count(self.rows.count),
            words.of(self.site.locale, self.rows.count.number)
        )
    }

    /// How many pages there are.
    fn pages(&self) -> u64 {
        last_page(self.rows.count.number, self.query.size)
    }

    fn page_links(&self) -> Vec<PageLink> {
        let address = |number| self.query.with(|query| query.page = number);
        page_links(self.query.page, self.pages(), address)
    }

    fn total(&self) -> String {
        self.site.count(self.total)
    }

    fn can_show_all(&self) -> bool {
        let count = self.rows.count;
        !self.query.shows_all && self.pages() > 1 && count.number <= SHOW_ALL && !count.is_more
    }

    fn all_href(&self) -> String {
        self.query.with(|query| query.shows_all = true)
    }

    /// Whether more records are found than this page shows, so that they can be selected across pages.
    fn goes_on(&self) -> bool {
        self.rows.count.is_more || self.rows.count.number > self.rows.records.len() as u64
    }

    /// The cells of a row, each with what its column is called: on phones it says so itself.
    fn cells(&self, row: &ModelRecord) -> Vec<CellView> {
        let columns = self.about.columns.iter();
        columns.map(|column| self.cell(row, column)).collect()
    }

    fn cell(&self, row: &ModelRecord, column: &ModelColumn) -> CellView {
        let cell = row.fact(column.name);
        let mut edited = self.edited.iter();
        let field = edited.find(|field| field.name == column.name);
        CellView {
            label: self.site.field(column.name),
            text: cell.shown(self.site.locale),
            link: registry::address_of(cell, &self.site.caller),
            is_number: cell.is_number(),
            is_short: cell.is_short(),
            edit: field.map(|field| self.edit(row, field)),
        }
    }

    fn edit(&self, row: &ModelRecord, field: &Field) -> EditView {
        let stored = || one_line(&row.fact(field.name).typed(self.site.locale));
        let typed = self.edits.of(row.id);
        let value = typed.map(|form| form.value(field.name).to_owned());
        let name = format!("cell:{}:{}", row.id, field.name);
        EditView {
            label: format!("{}: {}", self.site.field(field.name), row.text),
            value: value
                .filter(|value| !value.is_empty())
                .unwrap_or_else(stored),
            keyboard: field.keyboard(),
            error: typed.map_or_else(String::new, |form| form.error(field.name).to_owned()),
            conflict: typed.and_then(|form| Some(form.conflict(field.name)?.at(&name))),
            name,
        }
    }

    /// The version of a row's record.
    fn version(&self, row: &ModelRecord) -> String {
        edits::version_of(&self.edited, row, self.site.locale)
    }

    /// Where a search ended, when it did not look at everything.
    fn note(&self) -> Option<&'static str> {
        Some(self.site.say(self.rows.note?))
    }

    fn counts_href(&self) -> String {
        self.query
            .with(|query| query.shows_counts = !query.shows_counts)
    }

    /// The filters that are set.
    fn chips(&self) -> impl Iterator<Item = Chip> {
        self.filters.iter().filter_map(FilterView::chip)
    }

    fn cleared(&self) -> String {
        self.query.with(|query| query.filters.clear())
    }
}

/// Sorts by a column first; a column that is first already changes its direction.
fn sort_by(query: &mut ListParameters, column: usize) {
    let first = query.order.first().copied();
    let before = query
        .order
        .iter()
        .find(|(other, _)| *other == column)
        .map(|(_, descends)| *descends);
    if !query.is_ordered && first.is_none_or(|(other, _)| other != column) {
        // What was only the list's own order does not stay behind the reader's.
        query.order.clear();
    }
    query.order.retain(|(other, _)| *other != column);
    let descends = match (first, before) {
        (Some((other, descends)), Some(_)) if other == column => !descends,
        (_, Some(descends)) => descends,
        _ => false,
    };
    query.order.insert(0, (column, descends));
    query.is_ordered = true;
}
