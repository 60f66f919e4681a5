//! Products.

use db::{Timestamp, Tx};

use crate::{
    State,
    accounts::Caller,
    admin::{
        about::{
            About, Administered, By, Cell, Column, Field, FieldKind, Filter, Inline, Limit, Record,
            Related, Rows, Target, Within, Words, Work, Written,
        },
        listing::Asked,
        models::rows_of,
    },
    catalogue::products::{self, ProductRecord, within},
    rest::{
        Refusal,
        fields::{FieldErrors, Members},
    },
};

pub(in crate::admin) struct Products;

pub(in crate::admin) static PRODUCTS: Products = Products;

/// A quantity is not written in the list: whoever adjusts one should see the product's form, which says what an adjustment is.
static ABOUT: About = About {
    path: "products",
    words: Words::masculine(("produto", "product"), ("produtos", "products")),
    columns: &[
        Column::sorted("title"),
        Column::sorted("category"),
        Column::sorted("brand"),
        Column::sorted("serie_number"),
        Column::sorted("cost_price").edited(),
        Column::sorted("selling_price").edited(),
        Column::sorted("quantity"),
        Column::sorted("updated_at"),
    ],
    order: "1",
    search: Some(("título", "title")),
    filters: &[
        Filter::related("category", "categories"),
        Filter::related("brand", "brands"),
    ],
    has_dates: true,
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
    inlines: &[
        Inline {
            path: "thresholds",
            key: "product",
            columns: &["threshold"],
            fields: &["threshold"],
            is_deleted: true,
            shown: 1,
            extra: 1,
            limit: Limit::InAll(1),
        },
        Inline::read(
            "ledger",
            "product",
            &["created_at", "kind", "change", "balance_after", "user"],
        ),
    ],
    saves_as_new: true,
    site: Some("/products/"),
    ..About::PLAIN
};

impl Administered for Products {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        Box::pin(async move {
            let (parameters, created) = (asked.parameters(&ABOUT), asked.dates.moments());
            let page = products::list_created(state, &parameters, created).await?;
            Ok(rows_of(page, record))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move { Ok(products::read(state, id).await?.map(record)) })
    }

    fn problems(&self, target: Target, members: &Members) -> FieldErrors {
        products::problems(members, target.mode())
    }

    fn is_written_in_parts(&self) -> bool {
        true
    }

    fn write_within<'a>(
        &'a self,
        tx: &'a mut Tx,
        by: &'a By,
        target: Target,
        members: &'a Members,
    ) -> Within<'a, Written> {
        Box::pin(async move {
            let shop = (&by.actor, by.policy);
            let written = match target.id() {
                None => within::create(tx, members, &by.actor, by.now)
                    .await
                    .map(Some),
                Some(id) => within::update(tx, id, members, target.mode(), shop, by.now).await,
            };
            let record = written?.ok_or(Refusal::NotFound)?;
            Ok(Written::of(record.id, record.title))
        })
    }

    fn read_held<'a>(&'a self, tx: &'a mut Tx, id: i64) -> Within<'a, Option<Record>> {
        Box::pin(async move { Ok(within::held(tx, id).await?.map(record)) })
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

    fn span<'a>(&'a self, state: &'a State) -> Work<'a, Option<(Timestamp, Timestamp)>> {
        Box::pin(products::created_span(state))
    }
}

fn record(record: ProductRecord) -> Record {
    Record::of(
        record.id,
        record.title.clone(),
        vec![
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
    )
}
