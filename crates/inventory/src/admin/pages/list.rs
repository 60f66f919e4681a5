//! The list of a model: columns, order, search, filters, dates, pages, and checkboxes for actions.

use askama::Template;
use axum::extract::Path;
use resource::{Field, in_a_sentence};
use web::locale::Locale;

use super::{
    AdminResult,
    edits::{self, ListEdits},
    filters::{FilterView, filter_views},
    read_all,
};
use crate::{
    access::Verb,
    admin::{
        about::{ModelColumn, ModelDescription, ModelRecord, RecordCount, RecordPage},
        listing::{DateLink, ListParameters, SHOW_ALL, links},
        registry::{self, RegisteredModel},
        site::AdminFrame,
    },
    page::{
        edit_conflict::one_line,
        list_page::{Cell, CellInput, Head, PageLink, page_links},
        redirect,
    },
    rest::{InvalidPage, Message, Refusal, list::last_page, query::Parameters},
};

#[derive(Template)]
#[template(path = "admin/list.html")]
pub(super) struct ModelListPage<'a> {
    site: &'a AdminFrame,
    about: &'static ModelDescription,
    query: ListParameters,
    rows: RecordPage,
    /// The number of records without search and filters.
    total: RecordCount,
    filters: Vec<FilterView>,
    dates: Vec<DateLink>,
    /// The fields that can be edited in the list.
    edited: Vec<&'static Field>,
    /// Submitted cells that were refused.
    edits: ListEdits,
    /// A search that was refused, with the reason. All records are shown.
    refused_search: Option<(String, Message)>,
}

/// `GET /admin/{model}/`
pub(super) async fn show(
    site: AdminFrame,
    Path(path): Path<String>,
    parameters: Parameters,
) -> AdminResult {
    let model = site.model(&path)?;
    let about = &model.about;
    site.demand(about, Verb::View)?;
    let corrected = || redirect(&format!("{}?e=1", about.address()));
    let refused = ListParameters::refused_search(&parameters).filter(|_| about.search.is_some());
    let parsed = match &refused {
        Some(_) => Ok(ListParameters::nothing(about)),
        None => ListParameters::parse(about, &parameters),
    };
    let Ok(query) = parsed else {
        return Ok(corrected());
    };
    match view(&site, model, query, ListEdits::default()).await {
        Ok(mut list) if refused.is_some() => {
            list.refused_search = refused;
            Ok(site.show_again(list))
        }
        Ok(list) => Ok(site.show(list)),
        Err(Refusal::InvalidPage(_) | Refusal::Fields(_)) => Ok(corrected()),
        Err(refusal) => Err(refusal.into()),
    }
}

/// The list, with refused cells and their errors.
pub(super) async fn view<'a>(
    site: &'a AdminFrame,
    model: &'static RegisteredModel,
    mut query: ListParameters,
    mut edits: ListEdits,
) -> Result<ModelListPage<'a>, Refusal> {
    let (state, about) = (&site.state, &model.about);
    query.size = query.size.min(state.config.max_page_size);
    let mut rows = model.list(state, &query).await?;
    if query.page > 1 && rows.records.is_empty() {
        return Err(InvalidPage.into());
    }
    // If records were added meanwhile and there are too many now, the first page stays.
    if query.shows_all
        && rows.count.number <= SHOW_ALL
        && !rows.count.is_more
        && let Some(records) = read_all(site, model, &query, SHOW_ALL).await?
    {
        rows.records = records;
    }
    edits.refresh(about, &rows.records, site.locale);
    let total = if query.is_narrowed() {
        let unfiltered = ListParameters {
            size: 1,
            ..ListParameters::nothing(about)
        };
        model.list(state, &unfiltered).await?.count
    } else {
        rows.count
    };
    let span = if about.has_dates {
        model.span(state).await?
    } else {
        None
    };
    Ok(ModelListPage {
        filters: filter_views(site, model, &query).await?,
        dates: span.map_or_else(Vec::new, |span| links(&query, span, site.locale)),
        edited: edits::fields(site, about),
        edits,
        refused_search: None,
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
        let verb = if self.site.changes(self.about) {
            locale.text("alterar", "change")
        } else {
            locale.text("ver", "view")
        };
        match locale {
            Locale::En => format!("Select {one} to {verb}"),
            Locale::PtBr => format!("Selecione {} {one} para {verb}", words.ending("um", "uma")),
        }
    }

    fn search_hint(&self) -> String {
        let searched = self.about.search;
        searched.map_or_else(String::new, |searched| {
            in_a_sentence(self.site.say(searched))
        })
    }

    fn add_text(&self) -> String {
        let site = self.site;
        let name = self.about.words.one(site.locale);
        format!("{} {name}", site.text("Adicionar", "Add"))
    }

    fn heads(&self) -> Vec<Head> {
        let columns = self.about.columns.iter().enumerate();
        columns
            .map(|(index, column)| self.head(index, column))
            .collect()
    }

    fn head(&self, index: usize, column: &ModelColumn) -> Head {
        let order = &self.query.order;
        let place = order.iter().position(|(other, _)| *other == index);
        Head {
            text: self.site.field(column.name),
            class: if self.is_number(column) { "number" } else { "" },
            sorted: match order.first() {
                Some((first, false)) if *first == index => "ascending",
                Some((first, true)) if *first == index => "descending",
                _ => "none",
            },
            address: column
                .is_sorted
                .then(|| self.query.with(|query| sort_by(query, index))),
            place: place.filter(|_| order.len() > 1).map(|place| place + 1),
            remove: place.filter(|_| self.query.is_ordered).map(|_| {
                self.query.with(|query| {
                    query.order.retain(|(other, _)| *other != index);
                    query.is_ordered = !query.order.is_empty();
                })
            }),
        }
    }

    fn is_number(&self, column: &ModelColumn) -> bool {
        let mut records = self.rows.records.iter();
        records.any(|row| row.fact(column.name).is_number())
    }

    /// The actions of the menu: value and label.
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
        if about.allows(&site.caller, Verb::Change) {
            let others = about.actions.iter();
            actions.extend(others.map(|action| (action.name, site.say(action.text).to_owned())));
        }
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

    fn pages(&self) -> u64 {
        last_page(self.rows.count.number, self.query.size)
    }

    fn page_links(&self) -> Vec<PageLink> {
        let address = |number| self.query.with(|query| query.page = number);
        page_links(self.query.page, self.pages(), address)
    }

    /// The file of all listed records.
    fn export_address(&self) -> String {
        format!("export/{}", self.query.with(|_| {}))
    }

    /// The list on one page, if it has several but not too many.
    fn all_href(&self) -> Option<String> {
        let count = self.rows.count;
        let is_short = self.pages() > 1 && count.number <= SHOW_ALL && !count.is_more;
        let is_offered = is_short && !self.query.shows_all;
        is_offered.then(|| self.query.with(|query| query.shows_all = true))
    }

    /// Whether the list has more records than this page, so that a link can select all of them.
    fn goes_on(&self) -> bool {
        self.rows.count.is_more || self.rows.count.number > self.rows.records.len() as u64
    }

    /// The cells of a row. The first one links to the record.
    fn cells(&self, row: &ModelRecord) -> Vec<Cell> {
        let columns = self.about.columns.iter().enumerate();
        columns
            .map(|(index, column)| self.cell(row, (index, column)))
            .collect()
    }

    fn cell(&self, row: &ModelRecord, (index, column): (usize, &ModelColumn)) -> Cell {
        let value = row.fact(column.name);
        let shown = value.shown(self.site.locale);
        let mut edited = self.edited.iter();
        if index == 0 {
            Cell::Link(self.about.record_address(row.id), shown)
        } else if let Some(field) = edited.find(|field| field.name == column.name) {
            Cell::Input(self.input(row, field))
        } else if let Some(address) = registry::address_of(value, &self.site.caller) {
            Cell::Link(address, shown)
        } else if value.is_number() {
            Cell::Number(shown)
        } else {
            Cell::Text(shown)
        }
    }

    fn input(&self, row: &ModelRecord, field: &Field) -> CellInput {
        let stored = || one_line(&row.fact(field.name).typed(self.site.locale));
        let typed = self.edits.of(row.id);
        let value = typed.map(|form| form.value(field.name).to_owned());
        let name = format!("cell:{}:{}", row.id, field.name);
        CellInput {
            id: name.clone(),
            label: format!("{}: {}", self.site.field(field.name), row.text),
            value: value
                .filter(|value| !value.is_empty())
                .unwrap_or_else(stored),
            keyboard: field.keyboard(),
            message: typed.map_or_else(String::new, |form| form.error(field.name).to_owned()),
            address: None,
            conflict: typed.and_then(|form| Some(form.conflict(field.name)?.at(&name))),
            name,
        }
    }

    fn counts_href(&self) -> String {
        self.query
            .with(|query| query.shows_counts = !query.shows_counts)
    }

    fn cleared(&self) -> String {
        self.query.with(|query| query.filters.clear())
    }
}

/// Moves a column to the front of the sort key. If it is there already, reverses its direction.
fn sort_by(query: &mut ListParameters, column: usize) {
    let first = query.order.first().copied();
    let before = query
        .order
        .iter()
        .find(|(other, _)| *other == column)
        .map(|(_, descends)| *descends);
    if !query.is_ordered && first.is_none_or(|(other, _)| other != column) {
        // The default order of the list is replaced, not extended.
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
