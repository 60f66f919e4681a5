//! The addresses of a product's ledger and threshold, and of the list of low products: what the resource itself has no members for.

use axum::{
    Router,
    extract::{Request, State as Extracted},
    response::Response,
    routing::any,
};
use http::{Method, StatusCode};
use serde_json::json;

use crate::{
    State,
    accounts::Model,
    rest::{
        Refusal,
        fields::{Mode, Reader, Setting},
        gate::{self, Call, Endpoint},
        metadata,
        resource::{RecordId, Wanted, answer, json, paginated, submission},
    },
};

const READ: &[Method] = &[Method::GET, Method::HEAD, Method::OPTIONS];
const READ_AND_PUT: &[Method] = &[Method::GET, Method::PUT, Method::HEAD, Method::OPTIONS];

/// The addresses of ledgers, thresholds and low stock.
pub(crate) fn routes() -> Router<State> {
    Router::new()
        .route(
            "/api/v1/products/{id}/ledger/",
            any(
                async |Extracted(state): Extracted<State>,
                       RecordId(id): RecordId,
                       request: Request| {
                    answer(READ, ledger(&state, id, request).await)
                },
            ),
        )
        .route(
            "/api/v1/products/{id}/threshold/",
            any(
                async |Extracted(state): Extracted<State>,
                       RecordId(id): RecordId,
                       request: Request| {
                    answer(READ_AND_PUT, threshold(&state, id, request).await)
                },
            ),
        )
        .route(
            "/api/v1/low-stock/",
            any(
                async |Extracted(state): Extracted<State>, request: Request| {
                    answer(READ, low_stock(&state, request).await)
                },
            ),
        )
}

async fn admit(state: &State, allow: &'static [Method], request: Request) -> Result<Call, Refusal> {
    gate::admit(
        state,
        Endpoint {
            model: Model::Product,
            allow,
        },
        request,
    )
    .await
}

async fn ledger(state: &State, id: Option<i64>, request: Request) -> Result<Response, Refusal> {
    let call = admit(state, READ, request).await?;
    if call.parts.method == Method::OPTIONS {
        return Ok(metadata::answer("Ledger List", None));
    }
    let id = id.ok_or(Refusal::NotFound)?;
    let as_of = super::read_as_of(&call.parameters)?;
    let wanted = Wanted::parse(state, &call.parameters)?;
    let page = super::ledger_list(state, id, as_of, wanted).await?;
    Ok(paginated(call, &page).await)
}

async fn threshold(state: &State, id: Option<i64>, request: Request) -> Result<Response, Refusal> {
    let call = admit(state, READ_AND_PUT, request).await?;
    if call.parts.method == Method::OPTIONS {
        return Ok(metadata::answer("Threshold", None));
    }
    let id = id.ok_or(Refusal::NotFound)?;
    // An unknown product is unknown whatever the body says.
    let mut threshold = super::threshold_read(state, id)
        .await?
        .ok_or(Refusal::NotFound)?;
    if call.parts.method == Method::PUT {
        let sent = submission(state, call).await?;
        let mut reader = Reader::new(&sent.members, Mode::Whole);
        let setting = reader.optional_integer("threshold", 0, i64::MAX);
        reader.require("threshold");
        let errors = reader.finish();
        if let (Setting::Set(value), true) = (setting, errors.is_empty()) {
            super::threshold_set(state, &sent.caller, id, value).await?;
            threshold = value;
        } else {
            return Err(errors.into());
        }
    }
    Ok(json(StatusCode::OK, &json!({"threshold": threshold})))
}

async fn low_stock(state: &State, request: Request) -> Result<Response, Refusal> {
    let call = admit(state, READ, request).await?;
    if call.parts.method == Method::OPTIONS {
        return Ok(metadata::answer("Low Stock List", None));
    }
    let wanted = Wanted::parse(state, &call.parameters)?;
    let page = super::low_stock_list(state, wanted).await?;
    Ok(paginated(call, &page).await)
}
