//! The list of a model: columns, order, search, filters, dates, pages, and the boxes that select what actions are done to.

use askama::Template;
use axum::{
    extract::{Path, Request, State as Extracted},
    response::Response,
};

use super::{
    filters::{FilterView, filter_views},
    query,
};
use crate::{
    accounts::Verb,
    admin::{
        about::{About, Administered, Cell, Count, Row, Rows},
        listing::{Asked, DateLink, SHOW_ALL, links},
        site::{Site, capitalized},
    },
    page::{PageState, redirect},
    rest::Refusal,
};

#[derive(Template)]
#[template(path = "admin/list.html")]
struct ListPage<'a> {
    site: &'a Site,
    about: &'a About,
    asked: Asked,
    rows: Rows,
    /// How many records there are without search and filters; the same as of the rows when nothing narrows them.
    total: Count,
    filters: Vec<FilterView>,
    dates: Vec<DateLink>,
}

/// The head of a column.
struct Head {
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
}

/// A link to another page; without an address it is a gap.
struct PageLink {
    text: String,
    href: Option<String>,
    is_current: bool,
}

/// `GET /admin/{model}/`
pub(super) async fn show(
    Extracted(page): Extracted<PageState>,
    site: Site,
    Path(path): Path<String>,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, _) = request.into_parts();
    let model = site.model(&path)?;
    let about = model.about();
    site.demand(about, Verb::View)?;
    let corrected = || Ok(redirect(&format!("{}?e=1", about.address())));
    let Ok(mut asked) = Asked::parse(about, query(&parts)) else {
        return corrected();
    };
    asked.size = asked.size.min(page.state.config.max_page_size);
    match view(&page, &site, model, asked).await {
        Ok(list) => Ok(site.page(false, list)),
        Err(Refusal::InvalidPage(_) | Refusal::Fields(_)) => corrected(),
        Err(refusal) => Err(refusal.into()),
    }
}

async fn view<'a>(
    page: &PageState,
    site: &'a Site,
    model: &'static dyn Administered,
    asked: Asked,
) -> Result<ListPage<'a>, Refusal> {
    let (state, about) = (&page.state, model.about());
    let mut rows = model.list(state, &asked).await?;
    if asked.page > 1 && rows.rows.is_empty() {
        return Err(Refusal::InvalidPage(crate::rest::list::InvalidPage));
    }
    if asked.shows_all && rows.count.number <= SHOW_ALL && !rows.count.is_more {
        let mut rest = Asked {
            page: 1,
            ..asked.clone()
        };
        while (rows.rows.len() as u64) < rows.count.number {
            rest.page += 1;
            let more = model.list(state, &rest).await?.rows;
            if more.is_empty() {
                break;
            }
            rows.rows.extend(more);
        }
    }
    let total = if asked.is_narrowed() {
        let everything = Asked {
            size: 1,
            ..Asked::nothing(about)
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
    Ok(ListPage {
        filters: filter_views(page, site, model, &asked).await?,
        dates: span.map_or_else(Vec::new, |span| links(&asked, span, site.locale)),
        site,
        about,
        asked,
        rows,
        total,
    })
}

impl ListPage<'_> {
    fn title(&self) -> String {
        let words = &self.about.words;
        let locale = self.site.locale;
        let may_change = self.about.is_edited_by(&self.site.caller, false);
        match (locale, may_change) {
            (web::locale::Locale::En, true) => format!("Select {} to change", words.one(locale)),
            (web::locale::Locale::En, false) => format!("Select {} to view", words.one(locale)),
            (web::locale::Locale::PtBr, true) => format!(
                "Selecione {} {} para alterar",
                words.ending("um", "uma"),
                words.one(locale)
            ),
            (web::locale::Locale::PtBr, false) => format!(
                "Selecione {} {} para ver",
                words.ending("um", "uma"),
                words.one(locale)
            ),
        }
    }

    fn name(&self) -> String {
        capitalized(self.about.words.many(self.site.locale))
    }

    fn search_hint(&self) -> &'static str {
        self.about.search.map_or("", |(portuguese, english)| {
            self.site.locale.text(portuguese, english)
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

    fn heads(&self) -> Vec<Head> {
        let columns = self.about.columns.iter().enumerate();
        columns
            .map(|(index, column)| {
                let place = self
                    .asked
                    .order
                    .iter()
                    .position(|(other, _)| *other == index);
                let descends = place
                    .and_then(|place| self.asked.order.get(place))
                    .is_some_and(|(_, descends)| *descends);
                Head {
                    text: self.site.field(column.name),
                    sorted: match (place, descends) {
                        (Some(0), false) => "ascending",
                        (Some(0), true) => "descending",
                        _ => "",
                    },
                    href: column
                        .is_sorted
                        .then(|| self.asked.with(|asked| sort_by(asked, index))),
                    place: place
                        .filter(|_| self.asked.order.len() > 1)
                        .map(|place| place + 1),
                    remove: place.filter(|_| self.asked.is_ordered).map(|_| {
                        self.asked.with(|asked| {
                            asked.order.retain(|(other, _)| *other != index);
                            asked.is_ordered = !asked.order.is_empty();
                        })
                    }),
                }
            })
            .collect()
    }

    fn href(&self, row: &Row) -> String {
        self.about.record_address(row.id)
    }

    fn link(&self, cell: &Cell) -> Option<String> {
        let (path, id) = cell.record()?;
        let about = crate::admin::registry::find(path)?.about();
        about
            .is_read_by(&self.site.caller)
            .then(|| about.record_address(id))
    }

    /// The actions of the menu: name and text.
    fn actions(&self) -> Vec<(&'static str, String)> {
        let (site, about) = (self.site, self.about);
        let mut actions = Vec::new();
        if about.allows(&site.caller, Verb::Delete) {
            let many = about.words.many(site.locale);
            let ending = about.words.ending("os", "as");
            let text = match site.locale {
                web::locale::Locale::En => format!("Delete selected {many}"),
                web::locale::Locale::PtBr => format!("Excluir {ending} {many} selecionad{ending}"),
            };
            actions.push(("delete_selected", text));
        }
        for action in about.actions {
            if about.allows(&site.caller, action.verb) {
                let (portuguese, english) = action.text;
                actions.push((
                    action.name,
                    site.locale.text(portuguese, english).to_owned(),
                ));
            }
        }
        actions
    }

    fn number(&self, count: Count) -> String {
        let number = i64::try_from(count.number).unwrap_or(i64::MAX);
        let number = self.site.locale.number(number);
        if count.is_more {
            self.site.locale.text("mais de ", "more than ").to_owned() + &number
        } else {
            number
        }
    }

    /// `12 products`
    fn count(&self) -> String {
        let words = &self.about.words;
        format!(
            "{} {}",
            self.number(self.rows.count),
            words.of(self.site.locale, self.rows.count.number)
        )
    }

    /// How many pages there are.
    fn pages(&self) -> u64 {
        self.rows.count.number.div_ceil(self.asked.size).max(1)
    }

    /// The numbers of the pages that are linked: the first, the last, and those around this one; 0 stands for a gap.
    fn page_numbers(&self) -> Vec<u64> {
        let (current, last) = (self.asked.page, self.pages());
        let mut numbers: Vec<u64> = Vec::new();
        for number in 1..=last {
            if number == 1 || number == last || number.abs_diff(current) <= 2 {
                if numbers.last().is_some_and(|before| before + 1 < number) {
                    numbers.push(0);
                }
                numbers.push(number);
            } else if number > current {
                // Everything up to the last page is one gap.
                numbers.extend([0, last]);
                break;
            }
        }
        numbers
    }

    fn page_links(&self) -> Vec<PageLink> {
        let numbers = self.page_numbers().into_iter();
        numbers
            .map(|number| PageLink {
                text: number.to_string(),
                is_current: number == self.asked.page,
                href: (number > 0).then(|| self.asked.with(|asked| asked.page = number)),
            })
            .collect()
    }

    fn total(&self) -> String {
        self.number(self.total)
    }

    fn can_show_all(&self) -> bool {
        let count = self.rows.count;
        !self.asked.shows_all && self.pages() > 1 && count.number <= SHOW_ALL && !count.is_more
    }

    fn all_href(&self) -> String {
        self.asked.with(|asked| asked.shows_all = true)
    }

    /// Whether more records are found than this page shows, so that they can be selected across pages.
    fn goes_on(&self) -> bool {
        self.rows.count.is_more || self.rows.count.number > self.rows.rows.len() as u64
    }

    /// The cells of a row, each with what its column is called: on phones it says so itself.
    fn cells(&self, row: &Row) -> Vec<CellView> {
        let cells = self.about.columns.iter().zip(&row.cells);
        cells
            .map(|(column, cell)| CellView {
                label: self.site.field(column.name),
                text: cell.shown(self.site.locale),
                link: self.link(cell),
                is_number: cell.is_number(),
                is_short: cell.is_short(),
            })
            .collect()
    }

    fn counts_href(&self) -> String {
        self.asked
            .with(|asked| asked.shows_counts = !asked.shows_counts)
    }

    fn cleared(&self) -> String {
        self.asked.with(|asked| asked.filters.clear())
    }
}

/// Sorts by a column first; one that is first already is turned round.
fn sort_by(asked: &mut Asked, column: usize) {
    let first = asked.order.first().copied();
    let before = asked
        .order
        .iter()
        .find(|(other, _)| *other == column)
        .map(|(_, descends)| *descends);
    if !asked.is_ordered && first.is_none_or(|(other, _)| other != column) {
        // What was only the list's own order does not stay behind the reader's.
        asked.order.clear();
    }
    asked.order.retain(|(other, _)| *other != column);
    let descends = match (first, before) {
        (Some((other, descends)), Some(_)) if other == column => !descends,
        (_, Some(descends)) => descends,
        _ => false,
    };
    asked.order.insert(0, (column, descends));
    asked.is_ordered = true;
}
