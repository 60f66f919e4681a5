//! The pages of products: the list here, its searches in `search`, one product in `detail`, its form in `form`.

mod detail;
mod form;
mod search;

pub(in crate::catalogue) use search::jump;

use std::collections::BTreeMap;

use axum::{
    Router,
    extract::{Request, State as Extracted},
    response::Response,
    routing::get,
};

use super::{ProductRecord, WORDS, lookup};
use crate::{
    accounts::{Model, Verb},
    catalogue::named::Kind,
    page::{
        Form, Frame, PageState, history,
        index::{self, Action, Address, Cell, Chip, Column, Empty, Filter, Index, Row},
        picker::{Picked, Source},
        posts, redirect,
    },
    rest::{Refusal, query::Parameters},
    stock::{self, Level, Policy},
};

type Answer = Result<Response, web::Error>;
type Page = Extracted<PageState>;

/// The filters that the list's address may have.
const FILTERS: &[&str] = &["search", "category", "brand", "min_price", "max_price"];

/// The addresses of the products' pages.
pub(crate) fn routes() -> Router<PageState> {
    Router::new()
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
}

fn address(id: i64) -> String {
    format!("/products/{id}/")
}

/// What the list is asked for: the parameters that the service reads, and the form that shows them.
struct Asked {
    parameters: Parameters,
    form: Form,
    category: Picked,
    brand: Picked,
}

impl Asked {
    async fn read(
        page: &PageState,
        frame: &Frame,
        mut parameters: Parameters,
    ) -> Result<Self, Refusal> {
        let mut form = Form::new();
        posts::filter_search(&mut parameters, &mut form, frame.locale);
        for field in ["min_price", "max_price"] {
            form.set(field, parameters.get(field).unwrap_or_default());
        }
        let prices = ["min_price", "max_price"];
        posts::filter_amounts(&mut parameters, &mut form, &prices, frame.locale);
        let (category, brand) = pickers(frame);
        let category = posts::filter_record(
            &page.state,
            category,
            &mut parameters,
            &mut form,
            frame.locale,
        )
        .await?;
        let brand =
            posts::filter_record(&page.state, brand, &mut parameters, &mut form, frame.locale)
                .await?;
        Ok(Self {
            parameters,
            form,
            category,
            brand,
        })
    }
}

fn pickers(frame: &Frame) -> (Picked, Picked) {
    (
        Picked::empty(
            "category",
            frame.text("Categoria", "Category"),
            Source::Named(Kind::Category),
        ),
        Picked::empty(
            "brand",
            frame.text("Marca", "Brand"),
            Source::Named(Kind::Brand),
        ),
    )
}

async fn list(Extracted(page): Page, frame: Frame, request: Request) -> Answer {
    frame.require(Verb::View, Model::Product)?;
    let parameters = Parameters::of_address(request.uri());
    let is_submitted = parameters.get("jump").is_some();
    if is_submitted && let Some(address) = jump(&page, &parameters).await? {
        return Ok(redirect(&address));
    }
    let asked = Asked::read(&page, &frame, parameters).await?;
    let parameters = asked.parameters.clone();
    let mut index = empty_index(&frame, asked);
    if is_submitted && !index.form.is_refused() {
        // What a form without a script leaves in the address is not the list's state.
        return Ok(redirect(&index.address.whole()));
    }
    match search::found(&page.state, &frame, &mut index, &parameters).await {
        Ok(found) => {
            let ids: Vec<i64> = found.results.iter().map(|product| product.id).collect();
            let thresholds = stock::own_thresholds(&page.state, &ids).await?;
            let here = index.address.whole();
            let rows = Rows::new(&frame, &page, &thresholds, here);
            index.fill(&found, |product| rows.row(product));
        }
        Err(Refusal::Fields(errors)) => index.form.absorb(&errors, frame.locale),
        Err(refusal) => return Err(refusal.into()),
    }
    Ok(index.show(&frame))
}

fn empty_index(frame: &Frame, asked: Asked) -> Index {
    let Asked {
        parameters,
        form,
        category,
        brand,
    } = asked;
    let address = Address::new("/products/", FILTERS, "title", &parameters);
    let may_add = frame.may(Verb::Add, Model::Product);
    Index {
        title: WORDS.title(frame.locale),
        lead: String::new(),
        create: may_add.then(|| (WORDS.new_one(frame.locale), "/products/new/".to_owned())),
        is_create_dialog: false,
        import: may_add.then(|| "/import/?resource=products".to_owned()),
        is_exported: true,
        note: String::new(),
        also: Vec::new(),
        chips: chips(frame, &address, &parameters, [&category, &brand]),
        filters: vec![
            Filter::Search(
                frame
                    .text("Nome, marca ou código", "Name, brand or code")
                    .to_owned(),
            ),
            Filter::Record(category),
            Filter::Record(brand),
            Filter::Amount("min_price", frame.text("Preço de", "Price from")),
            Filter::Amount("max_price", frame.text("Preço até", "Price to")),
        ],
        form,
        columns: columns(frame),
        empty: Empty {
            icon: "box",
            sentence: WORDS.none_yet(frame.locale),
        },
        address,
        rows: Vec::new(),
        count: 0,
        number: 1,
        size: 10,
    }
}

fn columns(frame: &Frame) -> Vec<Column> {
    vec![
        Column::text(frame.text("Produto", "Product"), "title"),
        Column::text(frame.text("Categoria", "Category"), "category").minor(),
        Column::text(frame.text("Marca", "Brand"), "brand").minor(),
        Column::text(frame.text("Nº de série", "Serial number"), "serie_number").minor(),
        Column::number(frame.text("Custo", "Cost"), "cost_price").minor(),
        Column::number(frame.text("Preço", "Price"), "selling_price"),
        Column::number(frame.text("Estoque", "Stock"), "quantity"),
    ]
}

fn chips(
    frame: &Frame,
    address: &Address,
    parameters: &Parameters,
    records: [&Picked; 2],
) -> Vec<Chip> {
    let mut chips = Vec::new();
    let mut chip = |name, text: String| {
        chips.push(Chip {
            text,
            address: address.with(&[(name, ""), ("page", "")]),
        });
    };
    if let Some(search) = parameters.get("search") {
        chip("search", format!("“{}”", search.trim()));
    }
    for picked in records {
        if !picked.id.is_empty() {
            chip(picked.name, format!("{}: {}", picked.label, picked.text));
        }
    }
    for (name, text) in [
        ("min_price", frame.text("Preço de", "Price from")),
        ("max_price", frame.text("Preço até", "Price to")),
    ] {
        if let Some(amount) = parameters.get(name) {
            let amount = db::Money::parse(amount)
                .map_or_else(|_| amount.to_owned(), |amount| frame.locale.money(amount));
            chip(name, format!("{text} {amount}"));
        }
    }
    chips
}

/// What rows of one page have in common.
struct Rows<'a> {
    frame: &'a Frame,
    thresholds: &'a BTreeMap<i64, i64>,
    policy: Policy,
    /// Where a form goes back to that was opened from a row.
    here: String,
    may: [bool; 3],
}

impl<'a> Rows<'a> {
    fn new(
        frame: &'a Frame,
        page: &PageState,
        thresholds: &'a BTreeMap<i64, i64>,
        here: String,
    ) -> Self {
        Self {
            may: [
                frame.may(Verb::Add, Model::Inflow),
                frame.may(Verb::Add, Model::Outflow),
                frame.may(Verb::Change, Model::Product),
            ],
            policy: Policy::from(&page.state.config),
            frame,
            thresholds,
            here,
        }
    }

    fn row(&self, product: &ProductRecord) -> Row {
        let locale = self.frame.locale;
        let own = self.thresholds.get(&product.id).copied();
        let threshold = self.policy.threshold_of(own);
        let is_low = Level::of(product.quantity, threshold) == Level::Low;
        Row {
            cells: vec![
                Cell::Link(address(product.id), product.title.clone()),
                Cell::Text(product.category.name.clone()),
                Cell::Text(product.brand.name.clone()),
                Cell::Text(product.serie_number.clone().unwrap_or_default()),
                Cell::Number(locale.money(product.cost_price)),
                Cell::Number(locale.money(product.selling_price)),
                Cell::Stock(locale.number(product.quantity), is_low),
            ],
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
    let file = file(&page, &frame, &asked.parameters).await;
    Ok(index::or_back_to_list(file, request.uri())?)
}

async fn file(
    page: &PageState,
    frame: &Frame,
    parameters: &Parameters,
) -> Result<Response, Refusal> {
    let (parameters, _) = lookup::understood(&page.state, parameters).await?;
    let numbered = lookup::Numbered::find(&page.state, &parameters).await?;
    let columns = [
        "id",
        "title",
        "category_name",
        "brand_name",
        "description",
        "serie_number",
        "cost_price",
        "selling_price",
        "quantity",
        "created_at",
        "updated_at",
    ];
    let state = page.state.clone();
    let read = async move |conn: &mut db::Conn, sheet: &index::Sheet| {
        let put = |product: &ProductRecord| sheet.row(&exported(product, sheet.cells()));
        match &numbered {
            Some(numbered) => numbered.each(conn, put).await,
            None => super::each(conn, &state, &parameters, put).await,
        }
    };
    index::export(&page.state, frame, "products", &columns, read).await
}

fn exported(product: &ProductRecord, cells: index::Cells) -> Vec<String> {
    vec![
        product.id.to_string(),
        index::Cells::text(&product.title),
        index::Cells::text(&product.category.name),
        index::Cells::text(&product.brand.name),
        index::Cells::optional(product.description.as_deref()),
        index::Cells::optional(product.serie_number.as_deref()),
        cells.amount(product.cost_price),
        cells.amount(product.selling_price),
        product.quantity.to_string(),
        history::machine_time(product.created_at),
        history::machine_time(product.updated_at),
    ]
}
