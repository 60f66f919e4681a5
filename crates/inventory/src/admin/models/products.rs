//! Products.

use crate::{
    State,
    accounts::{Caller, Model, Permission},
    admin::{
        about::{
            About, Administered, Application, Cell, Column, Field, FieldKind, Filter, FilterKind,
            Record, Related, Row, Rows, Words, Work, Written,
        },
        listing::Asked,
        models::rows_of,
    },
    catalogue::products::{self, ProductRecord},
    rest::{
        Refusal,
        fields::{Members, Mode},
    },
};

pub(in crate::admin) struct Products;

pub(in crate::admin) static PRODUCTS: Products = Products;

static ABOUT: About = About {
    path: "products",
    application: Application::Catalogue,
    words: Words {
        singular: ("produto", "product"),
        plural: ("produtos", "products"),
        is_feminine: false,
    },
    model: Model::Product,
    permission: |verb| Some(Permission::new(verb, Model::Product)),
    columns: &[
        Column::sorted("title"),
        Column::sorted("category"),
        Column::sorted("brand"),
        Column::sorted("serie_number"),
        Column::sorted("cost_price"),
        Column::sorted("selling_price"),
        Column::sorted("quantity"),
        Column::sorted("updated_at"),
    ],
    order: "1",
    search: Some(("título", "title")),
    filters: &[
        Filter {
            name: "category",
            kind: FilterKind::Related("categories"),
        },
        Filter {
            name: "brand",
            kind: FilterKind::Related("brands"),
        },
    ],
    has_dates: false,
    fields: &[
        Field::required("title", FieldKind::Line),
        Field::required("category", FieldKind::Related("categories")),
        Field::required("brand", FieldKind::Related("brands")),
        Field::optional("serie_number", FieldKind::Line).help(
            "Único quando há um: o código de barras, por exemplo.",
            "Unique when there is one: the bar code, for example.",
        ),
        Field::optional("description", FieldKind::Lines),
        Field::required("cost_price", FieldKind::Price)
            .section("Preços e estoque", "Prices and stock"),
        Field::required("selling_price", FieldKind::Price),
        Field::required("quantity", FieldKind::Integer).help(
            "Uma quantidade diferente vira um ajuste no livro de estoque.",
            "Another quantity becomes an adjustment in the stock ledger.",
        ),
    ],
    in_two_steps: false,
    actions: &[],
    site: Some("/products/"),
};

impl Administered for Products {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        Box::pin(async move {
            let page = products::list(state, &asked.parameters(&ABOUT)).await?;
            Ok(rows_of(page, row))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move { Ok(products::read(state, id).await?.map(record)) })
    }

    fn write<'a>(
        &'a self,
        state: &'a State,
        caller: &'a Caller,
        id: Option<i64>,
        members: Members,
    ) -> Work<'a, Written> {
        Box::pin(async move {
            let written = match id {
                None => Some(products::create(state, caller, &members).await?),
                Some(id) => products::update(state, caller, id, &members, Mode::Whole).await?,
            };
            let record = written.ok_or(Refusal::NotFound)?;
            Ok(Written::of(record.id, record.title))
        })
    }

    fn delete<'a>(&'a self, state: &'a State, caller: &'a Caller, id: i64) -> Work<'a, bool> {
        Box::pin(products::delete(state, caller, id))
    }

    fn related<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Vec<Related>> {
        Box::pin(async move {
            let referring = products::referring(state, id).await?;
            Ok(["inflows", "outflows"]
                .into_iter()
                .zip(referring)
                .map(|(path, referring)| Related {
                    path,
                    filter: "product",
                    count: referring.count.unsigned_abs(),
                    is_protecting: true,
                })
                .collect())
        })
    }
}

fn row(record: ProductRecord) -> Row {
    Row {
        id: record.id,
        text: record.title.clone(),
        cells: vec![
            Cell::Text(record.title),
            Cell::Record("categories", record.category.id, record.category.name),
            Cell::Record("brands", record.brand.id, record.brand.name),
            Cell::text(record.serie_number),
            Cell::Money(record.cost_price),
            Cell::Money(record.selling_price),
            Cell::Number(record.quantity),
            Cell::Time(record.updated_at),
        ],
        tags: Vec::new(),
    }
}

fn record(record: ProductRecord) -> Record {
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    Record {
        id: record.id,
        text: record.title.clone(),
        values: vec![
            ("title", record.title.clone()),
            ("category", record.category.id.to_string()),
            ("brand", record.brand.id.to_string()),
            ("serie_number", optional(&record.serie_number)),
            ("description", optional(&record.description)),
            ("cost_price", record.cost_price.to_string()),
            ("selling_price", record.selling_price.to_string()),
            ("quantity", record.quantity.to_string()),
        ],
        facts: vec![
            ("id", Cell::Number(record.id)),
            ("title", Cell::Text(record.title)),
            (
                "category",
                Cell::Record("categories", record.category.id, record.category.name),
            ),
            (
                "brand",
                Cell::Record("brands", record.brand.id, record.brand.name),
            ),
            ("serie_number", Cell::text(record.serie_number)),
            ("description", Cell::text(record.description)),
            ("cost_price", Cell::Money(record.cost_price)),
            ("selling_price", Cell::Money(record.selling_price)),
            ("quantity", Cell::Number(record.quantity)),
            ("created_at", Cell::Time(record.created_at)),
            ("updated_at", Cell::Time(record.updated_at)),
        ],
    }
}
