//! The pages of products: the list here, its searches in `search`, one product in `detail`, its form in `form`.

mod archive;
mod detail;
mod form;
mod search;

pub(in crate::catalogue) use search::jump;

use std::collections::BTreeMap;

use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use db::Money;
use resource::{Field, Listed, Record as _, Value, filters, listed};

use super::{ProductRecord, WORDS, lookup};
use crate::{
    State,
    access::{Model, Verb},
    page::{
        Form, Frame, PageState,
        index::{self, Action, Address, Cell, Chip, Filter, Index, Link, Row},
        picker::Picked,
        posts, redirect,
        routes::{PageRouter, get, post},
    },
    rest::{Refusal, query::Parameters},
    stock::{self, Level, Policy},
};

type Answer = Result<Response, web::Error>;
type Page = Extracted<PageState>;

/// The addresses of the products' pages.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .route("/products/", get(list))
        .route("/products/export/", get(export))
        .route("/products/new/", get(form::new).post(form::create))
        .route("/products/{id}/", get(detail::show))
        .route("/products/{id}/ledger/", get(detail::ledger))
        .route("/products/{id}/edit/", get(form::edit).post(form::update))
        .route(
            "/products/{id}/delete/",
            get(detail::ask).post(detail::delete),
        )
        .route("/products/{id}/archive/", post(archive::archive))
        .route("/products/{id}/unarchive/", post(archive::unarchive))
}

fn address(id: i64) -> String {
    format!("/products/{id}/")
}

/// What the list is asked for: the parameters that the service reads, and the form that shows them.
pub(crate) struct Asked {
    parameters: Parameters,
    pub(crate) form: Form,
    pub(crate) picked: Vec<Picked>,
}

impl Asked {
    pub(crate) async fn read(
        page: &PageState,
        frame: &Frame,
        mut parameters: Parameters,
    ) -> Result<Self, Refusal> {
        let (mut form, locale) = (Form::new(), frame.locale);
        posts::filter_search(&mut parameters, &mut form, locale);
        // Without a choice the list is that of the goods that the shop sells.
        if parameters.get(ARCHIVED) != Some("true") {
            parameters.set(ARCHIVED, "");
        }
        form.set(ARCHIVED, parameters.get(ARCHIVED).unwrap_or_default());
        let amounts: Vec<_> = bounds(frame).map(|bound| bound.name).collect();
        for name in &amounts {
            form.set(name, parameters.get(name).unwrap_or_default());
        }
        posts::filter_amounts(&mut parameters, &mut form, &amounts, locale);
        let mut picked = Vec::new();
        for picker in pickers(frame) {
            let known = &page.state;
            let record = posts::filter_record(known, picker, &mut parameters, &mut form, locale);
            picked.push(record.await?);
        }
        Ok(Self {
            parameters,
            form,
            picked,
        })
    }

    /// What narrows the list; nothing where it is that of all products.
    pub(crate) fn in_words(&self, frame: &Frame) -> Vec<String> {
        let address = Address::new("", &[], "", &self.parameters);
        let chips = chips(frame, &address, &self.parameters, &self.picked);
        chips.into_iter().map(|chip| chip.text).collect()
    }

    /// The filters that are set beside the search and the pickers: names, and values as they were typed.
    pub(crate) fn others(&self, frame: &Frame) -> Vec<(&'static str, String)> {
        let names = bounds(frame).map(|bound| bound.name).chain([ARCHIVED]);
        let others = names.map(|name| (name, self.form.value(name).to_owned()));
        others.filter(|(_, value)| !value.is_empty()).collect()
    }

    /// The first products of the list.
    ///
    /// # Errors
    ///
    /// Filters that cannot be read, and faults of the store.
    pub(crate) async fn first(
        &self,
        state: &State,
        limit: i64,
    ) -> Result<Vec<ProductRecord>, Refusal> {
        let parameters = without_archived(self.parameters.clone());
        lookup::first(state, &parameters, limit).await
    }
}

/// Whether archived products are listed, and only these.
const ARCHIVED: &str = "archived";

/// As the service reads it: archived products are listed where they are asked for.
fn without_archived(mut parameters: Parameters) -> Parameters {
    if parameters.get(ARCHIVED).is_none() {
        parameters.set(ARCHIVED, "false");
    }
    parameters
}

/// The pickers of what a product refers to.
fn pickers(frame: &Frame) -> impl Iterator<Item = Picked> {
    let fields = ProductRecord::FIELDS.iter();
    fields.filter_map(|field| Picked::of(frame, field))
}

/// The least or the greatest value that a list is narrowed to.
struct Bound {
    field: &'static Field,
    /// Its parameter.
    name: &'static str,
    text: String,
}

fn bounds(frame: &Frame) -> impl Iterator<Item = Bound> {
    let (from, to) = (frame.text("de", "from"), frame.text("até", "to"));
    let fields = ProductRecord::FIELDS.iter();
    let bounded = fields.filter_map(|field| Some((*field, field.bounds?)));
    bounded.flat_map(move |(field, (least, greatest))| {
        [(least, from), (greatest, to)].map(|(name, word)| Bound {
            field,
            name,
            text: format!("{} {word}", frame.say(field.short)),
        })
    })
}

async fn list(Extracted(page): Page, frame: Frame, request: Request) -> Answer {
    frame.require(Verb::View, Model::Product)?;
    let parameters = Parameters::of_address(request.uri());
    let is_submitted = parameters.get("jump").is_some();
    if is_submitted && let Some(address) = jump(&page, &parameters).await? {
        return Ok(redirect(&address));
    }
    let asked = Asked::read(&page, &frame, parameters).await?;
    let parameters = without_archived(asked.parameters.clone());
    let mut index = empty_index(&frame, asked);
    if is_submitted && !index.form.is_refused() {
        // What a form without a script leaves in the address is not the list's state.
        return Ok(redirect(&index.address.whole()));
    }
    match search::found(&page.state, &frame, &mut index, &parameters).await {
        Ok(found) => {
            let ids: Vec<i64> = found.results.iter().map(|product| product.id).collect();
            let thresholds = stock::own_thresholds(&page.state, &ids).await?;
            let is_archived = parameters.get(ARCHIVED) == Some("true");
            let here = (index.address.whole(), is_archived);
            let rows = Rows::new(&frame, &page, &thresholds, here);
            index.fill(&found, |product| rows.row(product));
        }
        Err(Refusal::Fields(errors)) => index.form.absorb(&errors, frame.locale),
        Err(refusal) => return Err(refusal.into()),
    }
    Ok(index.show(&frame))
}

/// What the list is narrowed by.
pub(crate) fn parameters() -> Vec<&'static str> {
    let mut known = vec!["search"];
    known.extend(filters(ProductRecord::FIELDS));
    known.push(ARCHIVED);
    known
}

fn empty_index(frame: &Frame, asked: Asked) -> Index {
    let Asked {
        parameters,
        form,
        picked,
    } = asked;
    let address = Address::new("/products/", &self::parameters(), "title", &parameters);
    Index {
        is_create_dialog: false,
        further: further(frame, &address),
        chips: chips(frame, &address, &parameters, &picked),
        filters: narrowing(frame, picked),
        form,
        ..Index::of(frame, &WORDS, Model::Product, "box", address, &columns())
    }
}

/// Where the listed products are counted, for those who may adjust them.
fn further(frame: &Frame, address: &Address) -> Option<Link> {
    let filters = address.with(&[("ordering", ""), ("page_size", ""), ("page", "")]);
    let filters = filters.trim_start_matches("/products/");
    frame.may(Verb::Change, Model::Product).then(|| Link {
        icon: "count",
        text: frame.text("Contar estoque", "Count stock"),
        address: format!("/counts/new/{filters}"),
    })
}

/// The fields of the filter.
fn narrowing(frame: &Frame, picked: Vec<Picked>) -> Vec<Filter> {
    let search = frame.text("Nome, marca ou código", "Name, brand or code");
    let amounts = bounds(frame).map(|bound| Filter::Amount(bound.name, bound.text));
    std::iter::once(Filter::Search(search.to_owned()))
        .chain(picked.into_iter().map(Filter::Record))
        .chain(amounts)
        .chain([Filter::Choice(
            ARCHIVED,
            frame.text("Mostrar", "Show"),
            vec![
                ("", frame.text("Produtos ativos", "Active products")),
                ("true", frame.text("Arquivados", "Archived")),
            ],
        )])
        .collect()
}

/// The fields that the list shows.
fn columns() -> Vec<&'static Field> {
    listed(ProductRecord::FIELDS, Listed::Everywhere)
}

fn chips(
    frame: &Frame,
    address: &Address,
    parameters: &Parameters,
    picked: &[Picked],
) -> Vec<Chip> {
    let search = parameters.get("search");
    let search = search.map(|search| address.chip("search", format!("“{}”", search.trim())));
    let picked = picked.iter().filter_map(|picked| picked.chip(address));
    let bounds = bounds(frame).filter_map(|Bound { field, name, text }| {
        let amount = parameters.get(name)?;
        let amount = Money::parse(amount).map_or_else(
            |_| amount.to_owned(),
            |amount| field.shown(Value::Money(amount), frame.locale),
        );
        Some(address.chip(name, format!("{text} {amount}")))
    });
    let archived = parameters.get(ARCHIVED).map(|_| {
        let text = frame.text("Arquivados", "Archived");
        address.chip(ARCHIVED, text.to_owned())
    });
    let chips = search.into_iter().chain(picked).chain(bounds);
    chips.chain(archived).collect()
}

/// What rows of one page have in common.
struct Rows<'a> {
    frame: &'a Frame,
    thresholds: &'a BTreeMap<i64, i64>,
    policy: Policy,
    /// Where a form goes back to that was opened from a row.
    here: String,
    /// Whether they are archived products.
    is_archived: bool,
    may: [bool; 4],
}

impl<'a> Rows<'a> {
    fn new(
        frame: &'a Frame,
        page: &PageState,
        thresholds: &'a BTreeMap<i64, i64>,
        (here, is_archived): (String, bool),
    ) -> Self {
        Self {
            may: [
                !is_archived && frame.may(Verb::Add, Model::Inflow),
                !is_archived && frame.may(Verb::Add, Model::Outflow),
                frame.may(Verb::Change, Model::Product),
                frame.may(Verb::Change, Model::Product),
            ],
            policy: Policy::from(&page.state.config),
            is_archived,
            frame,
            thresholds,
            here,
        }
    }

    fn row(&self, product: &ProductRecord) -> Row {
        let own = self.thresholds.get(&product.id).copied();
        let threshold = self.policy.threshold_of(own);
        let is_low = !self.is_archived && Level::of(product.quantity, threshold) == Level::Low;
        let values = product.values_of(&columns()).into_iter();
        let cells = values.map(|(field, value)| match Cell::of(self.frame, field, value) {
            Cell::Text(title) if field.is_name => Cell::Link(address(product.id), title),
            Cell::Number(number) if field == ProductRecord::quantity => Cell::Stock(number, is_low),
            cell => cell,
        });
        Row {
            cells: cells.collect(),
            actions: self.actions(product),
        }
    }

    fn actions(&self, product: &ProductRecord) -> Vec<Action> {
        let mut next = String::new();
        crate::rest::query::encode(&self.here, &mut next);
        let action = |icon, text: &str, address, is_dialog| Action {
            icon,
            text: format!("{text}: {}", product.title),
            address,
            is_dialog,
        };
        let book = |path: &str| format!("/{path}/new/?product={}&next={next}", product.id);
        let all = [
            action(
                "inflow",
                self.frame.text("Entrada", "Book in"),
                book("inflows"),
                true,
            ),
            action(
                "outflow",
                self.frame.text("Saída", "Book out"),
                book("outflows"),
                true,
            ),
            action(
                "count",
                self.frame.text("Ajustar estoque", "Adjust stock"),
                format!("{}adjust/?next={next}", address(product.id)),
                true,
            ),
            action(
                "edit",
                self.frame.text("Editar", "Edit"),
                format!("{}edit/", address(product.id)),
                false,
            ),
        ];
        all.into_iter()
            .zip(self.may)
            .filter_map(|(action, may)| may.then_some(action))
            .collect()
    }
}

async fn export(Extracted(page): Page, frame: Frame, request: Request) -> Answer {
    frame.require(Verb::View, Model::Product)?;
    let parameters = Parameters::of_address(request.uri());
    let asked = Asked::read(&page, &frame, parameters).await?;
    if asked.form.is_refused() {
        return Ok(index::back_to_list(request.uri()));
    }
    let parameters = without_archived(asked.parameters);
    let file = file(&page, &frame, &parameters).await;
    Ok(index::or_back_to_list(file, request.uri())?)
}

async fn file(
    page: &PageState,
    frame: &Frame,
    parameters: &Parameters,
) -> Result<Response, Refusal> {
    let (parameters, _) = lookup::understood(&page.state, parameters).await?;
    let numbered = lookup::Numbered::find(&page.state, &parameters).await?;
    let columns = index::headings(frame, ProductRecord::FIELDS);
    let state = page.state.clone();
    let read = async move |conn: &mut db::Conn, sheet: &index::Sheet| {
        let put = |product: &ProductRecord| sheet.record(product);
        match &numbered {
            Some(numbered) => numbered.each(conn, put).await,
            None => super::each(conn, &state, &parameters, put).await,
        }
    };
    index::export(&page.state, frame, "products", &columns, read).await
}
