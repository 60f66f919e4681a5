//! Restock analyses: read only, because a result never changes.

use async_trait::async_trait;
use resource::Record as _;

use crate::{
    State,
    access::{Model, Verb},
    admin::{
        about::{
            AdminModel, AdminWrites, AllowedVerbs, Application, Both, FieldValue, ModelDescription,
            ModelFilter, ModelRecord, RecordPage,
        },
        listing::ListParameters,
        models::{counted, page_range, rows_of},
    },
    analysis::{self, AnalysisSummary},
    catalogue::products,
    listing::TextQuery,
    pages::analysis::outcome,
    rest::{Refusal, list::PageNumber, page::PageRequest},
};

pub(in crate::admin) struct Analyses;

/// The note when there is more than a search covers or shows.
const CUT: Both = (
    "A busca vê as análises de até 100 produtos e as 2.000 mais novas, e mostra no máximo 1.000. Digite mais palavras para chegar a outras.",
    "The search covers the analyses of up to 100 products and the newest 2,000, and shows at most 1,000. Enter more words to reach others.",
);

#[async_trait]
impl AdminModel for Analyses {
    fn describe(&self) -> ModelDescription {
        ModelDescription {
            application: Application::Events,
            allowed: AllowedVerbs::Only(&[Verb::View]),
            search: Some(("produto, texto", "product, text")),
            filters: vec![ModelFilter::related("product", "products")],
            site: Some("/analyses/"),
            ..ModelDescription::shown("analyses", Model::Analysis, AnalysisSummary::FIELDS, &[])
        }
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let product = query.id("product");
        let words = query.words();
        if !words.is_empty() {
            let titled = products::few(state, &query.search).await?;
            let text_query = TextQuery { words, titled };
            let found = analysis::search(state, product, text_query, page_range(query)).await?;
            return Ok(counted(found, |summary| record(&summary), CUT));
        }
        let request = PageRequest {
            page: PageNumber::Number(query.page),
            size: query.size,
        };
        let page = analysis::list(state, product, request).await?;
        Ok(rows_of(page, |summary| record(&summary)))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        let Some(found) = analysis::read(state, id).await? else {
            return Ok(None);
        };
        let of_product = match found.summary.product {
            Some(id) => products::read(state, id).await?,
            None => None,
        };
        let product = product(&found.summary, of_product.map(|product| product.title));
        Ok(Some({
            let provenance = found.provenance;
            let mut record = record(&found.summary).with("product", product);
            record.facts.extend([
                ("outcome", FieldValue::Word(outcome(&provenance.outcome))),
                ("language_model", FieldValue::text(provenance.model)),
                ("user", FieldValue::text(provenance.asked_by)),
            ]);
            record
        }))
    }
}

impl AdminWrites for Analyses {}

fn product(summary: &AnalysisSummary, title: Option<String>) -> FieldValue {
    let shop = FieldValue::Word(("toda a loja", "whole shop"));
    summary.product.map_or(shop, |id| {
        let text = title.unwrap_or_else(|| format!("#{id}"));
        FieldValue::Record("products", id, text)
    })
}

fn record(summary: &AnalysisSummary) -> ModelRecord {
    ModelRecord {
        text: format!("#{}", summary.id),
        ..ModelRecord::described(summary).with("product", product(summary, None))
    }
}
