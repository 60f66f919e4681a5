//! The REST API of analyses (`/api/v1/analyses/`) and of products' supply terms.

use axum::{extract::State as Extracted, response::Response};
use db::Money;
use http::StatusCode;
use utoipa_axum::{router::OpenApiRouter, routes};
use web::openapi::Failure;

use super::{AnalysisRecord, RestockTerms};
use crate::{
    State,
    access::Model,
    api::{
        answer::{json, paginated},
        gate::Call,
        guard::Guard,
        openapi::{EXAMPLE_TIME, PageOf, page_example},
        submission::submission,
    },
    rest::{RecordId, Refusal, page::PageRequest},
};

pub(crate) fn routes() -> OpenApiRouter<State> {
    let guard = |name| Guard::of(Model::Analysis, name);
    let terms = Guard::of(Model::Product, "Restock Terms");
    OpenApiRouter::new()
        .routes(guard("Analysis List").before(routes!(analysis_list)))
        .routes(guard("Analysis Instance").before(routes!(analysis_read)))
        .routes(terms.before(routes!(terms_read, terms_write)))
}

type AnalysisRecordPage = PageOf<AnalysisRecord>;

fn example() -> AnalysisRecord {
    let result = "Reposição: Arroz 5 kg\n\nPeça agora 42 unidades.\nEm estoque: 9 unidades, para cerca de 3,4 dias; \
                  acaba por volta de 23/11/2026, antes que um pedido de hoje chegue (7 dias).";
    AnalysisRecord {
        id: 1,
        result: result.to_owned(),
        created_at: EXAMPLE_TIME,
    }
}

fn example_terms() -> RestockTerms {
    RestockTerms {
        lead_time_days: Some(10),
        lead_time_deviation_days: Some(Money::from_cents(2_00)),
        service_level: Some(Money::from_cents(97_50)),
        review_interval_days: None,
        pack_multiple: Some(12),
    }
}

/// Restock analyses, newest first
#[utoipa::path(
    get, path = "/api/v1/analyses/", tag = "Analyses", operation_id = "listAnalyses",
    params(PageRequest),
    responses(
        (status = 200, description = "One page.", body = AnalysisRecordPage,
        example = json!(page_example(&example()))),
    ),
)]
async fn analysis_list(
    Extracted(state): Extracted<State>,
    call: Call,
) -> Result<Response, Refusal> {
    let request = PageRequest::parse(&state, &call.parameters)?;
    let page = super::records(&state, request).await?;
    Ok(paginated(call, &page).await)
}

/// Read an analysis
#[utoipa::path(
    get, path = "/api/v1/analyses/{id}/", tag = "Analyses", operation_id = "readAnalysis",
    params(RecordId),
    responses(
        (status = 200, description = "The record.", body = AnalysisRecord, example = json!(example())),
    ),
)]
async fn analysis_read(
    Extracted(state): Extracted<State>,
    id: RecordId,
) -> Result<Response, Refusal> {
    let analysis = super::read(&state, id.known()?).await?;
    let analysis = analysis.ok_or(Refusal::NotFound)?;
    let record = AnalysisRecord::from(analysis.summary);
    Ok(json(StatusCode::OK, &record))
}

/// Supply terms of a product, for its analyses
#[utoipa::path(
    get, path = "/api/v1/products/{id}/restock/", tag = "Analyses", operation_id = "readRestockTerms",
    params(RecordId),
    responses(
        (status = 200, description = "`null` means the default of the shop's settings.", body = RestockTerms,
        example = json!(RestockTerms::default())),
    ),
)]
async fn terms_read(Extracted(state): Extracted<State>, id: RecordId) -> Result<Response, Refusal> {
    let terms = super::read_terms(&state, id.known()?).await?;
    let terms = terms.ok_or(Refusal::NotFound)?;
    Ok(json(StatusCode::OK, &terms))
}

/// Change the supply terms of a product
///
/// Needs the permission `change_product`.
#[utoipa::path(
    put, path = "/api/v1/products/{id}/restock/", tag = "Analyses", operation_id = "writeRestockTerms",
    params(RecordId),
    request_body(content = RestockTerms, example = json!(example_terms())),
    responses(
        (status = 200, description = "The record was changed.", body = RestockTerms, example = json!(example_terms())),
        Failure<400>, Failure<413>, Failure<415>,
    ),
)]
async fn terms_write(
    Extracted(state): Extracted<State>,
    id: RecordId,
    call: Call,
) -> Result<Response, Refusal> {
    let id = id.known()?;
    // The product is looked up before the body is parsed: an unknown product is 404 for any body.
    let known = super::read_terms(&state, id).await?;
    known.ok_or(Refusal::NotFound)?;
    let submission = submission(&state, call).await?;
    let terms = RestockTerms::read(&submission.members)?;
    super::write_terms(&state, &submission.caller, id, terms).await?;
    Ok(json(StatusCode::OK, &terms))
}
