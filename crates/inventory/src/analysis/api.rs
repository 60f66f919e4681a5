//! `/api/v1/analyses/`: the specification's record of an analysis, to be read; and what is known of a product's supply.

use axum::{
    Router,
    extract::{Request, State as Extracted},
    response::Response,
    routing::any,
};
use http::{Method, StatusCode};

use super::{AnalysisRecord, RestockTerms};
use crate::{
    State,
    accounts::Model,
    rest::{
        Refusal,
        gate::{self, Endpoint},
        metadata,
        resource::{RecordId, Wanted, answer, json, paginated, submission},
    },
};

const READ: &[Method] = &[Method::GET, Method::HEAD, Method::OPTIONS];
const READ_AND_PUT: &[Method] = &[Method::GET, Method::PUT, Method::HEAD, Method::OPTIONS];
const TERMS: Endpoint = Endpoint {
    model: Model::Product,
    allow: READ_AND_PUT,
};
const ENDPOINT: Endpoint = Endpoint {
    model: Model::Analysis,
    allow: READ,
};

/// The addresses of analyses.
pub(crate) fn routes() -> Router<State> {
    Router::new()
        .route(
            "/api/v1/analyses/",
            any(
                async |Extracted(state): Extracted<State>, request: Request| {
                    answer(READ, list(&state, request).await)
                },
            ),
        )
        .route(
            "/api/v1/analyses/{id}/",
            any(
                async |Extracted(state): Extracted<State>,
                       RecordId(id): RecordId,
                       request: Request| {
                    answer(READ, read(&state, id, request).await)
                },
            ),
        )
        .route(
            "/api/v1/products/{id}/restock/",
            any(
                async |Extracted(state): Extracted<State>,
                       RecordId(id): RecordId,
                       request: Request| {
                    answer(READ_AND_PUT, terms(&state, id, request).await)
                },
            ),
        )
}

async fn list(state: &State, request: Request) -> Result<Response, Refusal> {
    let call = gate::admit(state, ENDPOINT, request).await?;
    if call.parts.method == Method::OPTIONS {
        return Ok(metadata::answer("Analysis List", None));
    }
    let wanted = Wanted::parse(state, &call.parameters)?;
    let page = super::records(state, wanted).await?;
    Ok(paginated(call, &page).await)
}

async fn read(state: &State, id: Option<i64>, request: Request) -> Result<Response, Refusal> {
    let call = gate::admit(state, ENDPOINT, request).await?;
    if call.parts.method == Method::OPTIONS {
        return Ok(metadata::answer("Analysis Instance", None));
    }
    let id = id.ok_or(Refusal::NotFound)?;
    let analysis = super::read(state, id).await?.ok_or(Refusal::NotFound)?;
    Ok(json(
        StatusCode::OK,
        &AnalysisRecord::from(analysis.summary),
    ))
}

async fn terms(state: &State, id: Option<i64>, request: Request) -> Result<Response, Refusal> {
    let call = gate::admit(state, TERMS, request).await?;
    if call.parts.method == Method::OPTIONS {
        return Ok(metadata::answer("Restock Terms", None));
    }
    let id = id.ok_or(Refusal::NotFound)?;
    // An unknown product is unknown whatever the body says.
    let mut terms = super::terms_read(state, id)
        .await?
        .ok_or(Refusal::NotFound)?;
    if call.parts.method == Method::PUT {
        let sent = submission(state, call).await?;
        terms = RestockTerms::read(&sent.members)?;
        super::terms_set(state, id, terms).await?;
    }
    Ok(json(StatusCode::OK, &terms))
}
