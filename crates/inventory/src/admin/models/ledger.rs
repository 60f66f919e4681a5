//! The stock ledger: read only.

use async_trait::async_trait;
use db::Timestamp;
use resource::Record as _;

use crate::{
    State,
    access::{Model, Verb},
    admin::{
        about::{
            AdminModel, AdminWrites, AllowedVerbs, Application, Both, FieldValue, ModelDescription,
            ModelFilter, ModelRecord, RecordPage, Words,
        },
        listing::ListParameters,
        models::{count_limit, counted, page_range},
    },
    catalogue::products,
    page::history::SYSTEM,
    rest::Refusal,
    stock::{
        LedgerEntry, Reason,
        ledger::EntryKind,
        ledger_list::{self, LedgerFilter},
    },
};

pub(in crate::admin) struct Ledger;

/// The note when more products match a search than the search covers.
const MANY: Both = (
    "Mais de 100 produtos têm estas palavras. A busca vê só os 100 primeiros, pelo título. Digite mais palavras para chegar a outros.",
    "More than 100 products have these words. The search covers only the first 100, by title. Enter more words to reach others.",
);

#[async_trait]
impl AdminModel for Ledger {
    fn describe(&self) -> ModelDescription {
        ModelDescription {
            application: Application::Stock,
            words: Words::masculine(
                ("lançamento do estoque", "ledger entry"),
                ("lançamentos do estoque", "ledger entries"),
            ),
            allowed: AllowedVerbs::Only(&[Verb::View]),
            order: "-8",
            search: Some(("produto", "product")),
            filters: vec![ModelFilter::related("product", "products")],
            has_dates: true,
            ..ModelDescription::shown(
                "ledger",
                Model::Product,
                LedgerEntry::FIELDS,
                &["created_at"],
            )
        }
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let (products, is_cut) = products_of(state, query).await?;
        let filter = LedgerFilter {
            products,
            between: query.dates.moments(),
            is_oldest_first: query.order.first().is_some_and(|(_, descends)| !descends),
        };

        let mut found = ledger_list::list(state, filter, page_range(query), count_limit()).await?;
        found.is_cut = is_cut;
        Ok(counted(found, |entry| record(&entry), MANY))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        Ok(ledger_list::read(state, id).await?.as_ref().map(record))
    }

    async fn span(&self, state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
        ledger_list::span(state).await
    }
}

/// The ids of the products to list, `None` for all, and whether more products match the search.
async fn products_of(
    state: &State,
    query: &ListParameters,
) -> Result<(Option<Vec<i64>>, bool), Refusal> {
    let (product, titled) = (query.id("product"), query.search.trim());
    if titled.is_empty() {
        return Ok((product.map(|product| vec![product]), false));
    }
    let (mut products, is_cut) = products::few(state, titled).await?;
    products.retain(|id| product.is_none_or(|product| product == *id));
    Ok((Some(products), is_cut))
}

impl AdminWrites for Ledger {}

fn product(entry: &LedgerEntry) -> FieldValue {
    match &entry.title {
        Some(title) => FieldValue::Record("products", entry.product, title.clone()),
        None => FieldValue::number(entry.product),
    }
}

/// The movement, with a link.
fn reference(entry: &LedgerEntry) -> FieldValue {
    let text = |id: i64| format!("#{id}");
    match (entry.reference, entry.kind) {
        (Some(id), EntryKind::Inflow) => FieldValue::Record("inflows", id, text(id)),
        (Some(id), EntryKind::Outflow) => FieldValue::Record("outflows", id, text(id)),
        (Some(id), _) => FieldValue::number(id),
        (None, _) => FieldValue::Empty,
    }
}

/// The reason of an adjustment.
fn reason(entry: &LedgerEntry) -> FieldValue {
    let known = entry.reason.as_deref().and_then(Reason::of);
    known.map_or(FieldValue::Empty, |reason| FieldValue::Word(reason.words()))
}

fn user(entry: &LedgerEntry) -> FieldValue {
    let name = entry.user.clone();
    name.map_or(FieldValue::Word(SYSTEM), FieldValue::Text)
}

fn record(entry: &LedgerEntry) -> ModelRecord {
    ModelRecord {
        text: format!("#{}", entry.id),
        ..ModelRecord::described(entry)
            .with("id", FieldValue::number(entry.id))
            .with("product", product(entry))
            .with("reference", reference(entry))
            .with("reason", reason(entry))
            .with("user", user(entry))
    }
}
