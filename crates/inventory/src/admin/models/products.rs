//! Products.

use std::sync::LazyLock;

use db::{Timestamp, Tx};
use resource::Record as _;

use crate::{
    State,
    access::{Caller, Verb},
    admin::{
        about::{
            About, Action, Administered, By, Filter, Inline, Limit, Pending, Record, Related, Rows,
            Target, Text, Within, Written,
        },
        listing::Asked,
        models::rows_of,
    },
    catalogue::products::{self, ProductRecord},
    page::once::Once,
    rest::{
        Refusal,
        fields::{Draft, FieldErrors, Members},
        resource::Resource as _,
    },
    stock::archive,
    work,
};

pub(in crate::admin) struct Products;

pub(in crate::admin) static PRODUCTS: Products = Products;

const INLINES: [Inline; 2] = [
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
];

const ARCHIVED: [(&str, Text); 2] = [("false", ("Não", "No")), ("true", ("Sim", "Yes"))];

const ACTIONS: [Action; 2] = [
    Action {
        name: "archive",
        text: (
            "Arquivar os produtos selecionados",
            "Archive selected products",
        ),
        done: (("Produtos arquivados: ", "Products archived: "), (".", ".")),
        verb: Verb::Change,
    },
    Action {
        name: "unarchive",
        text: (
            "Desarquivar os produtos selecionados",
            "Unarchive selected products",
        ),
        done: (
            ("Produtos desarquivados: ", "Products unarchived: "),
            (".", "."),
        ),
        verb: Verb::Change,
    },
];

/// A quantity is not written in the list: whoever adjusts one should see the product's form, which says what an adjustment is.
static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    path: "products",
    words: products::WORDS,
    order: "1",
    search: Some(("título", "title")),
    has_dates: true,
    inlines: &INLINES,
    saves_as_new: true,
    site: Some("/products/"),
    actions: &ACTIONS,
    ..About::of(ProductRecord::FIELDS).filtered_by(Filter::choices("archived", &ARCHIVED))
});

impl Administered for Products {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Pending<'a, Rows> {
        Box::pin(async move {
            let (parameters, created) = (asked.parameters(&ABOUT), asked.dates.moments());
            let page = products::list_created(state, &parameters, created).await?;
            Ok(rows_of(page, |product| Record::described(&product)))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Pending<'a, Option<Record>> {
        Box::pin(async move {
            let product = products::read(state, id).await?;
            Ok(product.map(|product| Record::described(&product)))
        })
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
            let (work, draft) = (&mut by.author.work(tx), Draft::read(members, target.mode()));
            let written = match target.id() {
                None => products::Products.create(work, &draft).await.map(Some),
                Some(id) => products::Products.change(work, id, &draft).await,
            };
            let record = written?.ok_or(Refusal::NotFound)?;
            Ok(Written::of(record.id, record.title))
        })
    }

    fn read_held<'a>(&'a self, tx: &'a mut Tx, id: i64) -> Within<'a, Option<Record>> {
        Box::pin(async move {
            let product = products::find_locked(tx, id).await?;
            Ok(product.map(|product| Record::described(&product)))
        })
    }

    fn delete<'a>(&'a self, state: &'a State, caller: &'a Caller, id: i64) -> Pending<'a, bool> {
        Box::pin(work::delete(state, caller, products::Products, id))
    }

    fn related<'a>(&'a self, state: &'a State, id: i64) -> Pending<'a, Vec<Related>> {
        Box::pin(async move {
            let references = products::references_to(state, id).await?;
            Ok(["inflows", "outflows"]
                .into_iter()
                .zip(references)
                .map(|(path, reference)| Related {
                    path,
                    filter: "product",
                    count: reference.count.unsigned_abs(),
                    is_protecting: true,
                })
                .collect())
        })
    }

    fn act<'a>(
        &'a self,
        state: &'a State,
        caller: &'a Caller,
        action: &'a str,
        id: i64,
        _once: Option<Once>,
    ) -> Pending<'a, bool> {
        Box::pin(async move {
            match archive::set(state, caller, id, action == "archive").await {
                Err(Refusal::NotFound) => Ok(false),
                set => Ok(set?.1),
            }
        })
    }

    fn span<'a>(&'a self, state: &'a State) -> Pending<'a, Option<(Timestamp, Timestamp)>> {
        Box::pin(products::created_span(state))
    }
}
