//! The routes of ledgers, thresholds, archived products and low stock, which are not part of the
//! product resource.

use axum::{extract::State as Extracted, response::Response};
use http::StatusCode;
use serde::Serialize;
use utoipa::{
    IntoParams, ToSchema,
    openapi::path::{Parameter, ParameterIn},
};
use utoipa_axum::{router::OpenApiRouter, routes};
use web::openapi::Failure;

use super::{LowStock, OPTIONAL_THRESHOLD, archive, ledger::EntryKind, model::LedgerRow};
use crate::{
    State,
    access::Model,
    api::{
        answer::{json, paginated},
        gate::Call,
        guard::Guard,
        openapi::{EXAMPLE_TIME, PageOf, only_here, page_example},
        submission::submission,
    },
    rest::{
        Message, RecordId, Refusal,
        fields::{FieldErrors, Members, Mode, Reader},
        json::Titled,
        page::PageRequest,
    },
};

pub(crate) fn routes() -> OpenApiRouter<State> {
    let guard = |name| Guard::of(Model::Product, name);
    OpenApiRouter::new()
        .routes(guard("Ledger List").before(routes!(ledger_list)))
        .routes(guard("Threshold").before(routes!(threshold_read, threshold_write)))
        .routes(guard("Archived").before(routes!(archived_read, archived_write)))
        .routes(guard("Low Stock List").before(routes!(low_stock_list)))
}

type LedgerPage = PageOf<LedgerRow>;
type LowStockPage = PageOf<LowStock>;

/// The query parameter `as_of` of a ledger.
struct AsOf;

impl IntoParams for AsOf {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let description =
            "A day (its end, in UTC) or a date-time, in UTC where it does not say otherwise.";
        let pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})?)?$";
        vec![only_here("as_of", description, pattern)]
    }
}

/// Every change of a product's quantity, newest first
///
/// With `as_of` the rows up to then, so that the first row's balance is the quantity of that
/// moment. The ledger of a deleted product can still be read.
#[utoipa::path(
    get, path = "/api/v1/products/{id}/ledger/", tag = "Stock", operation_id = "readLedger",
    params(RecordId, PageRequest, AsOf),
    responses(
        (status = 200, description = "One page.", body = LedgerPage, example = json!(page_example(&LedgerRow {
            id: 1,
            kind: EntryKind::Opening,
            change: 40,
            balance_after: 40,
            created_at: EXAMPLE_TIME,
            user: Some("admin".to_owned()),
            reference: None,
            reason: None,
            note: None,
        }))),
        Failure<400>,
    ),
)]
async fn ledger_list(
    Extracted(state): Extracted<State>,
    id: RecordId,
    call: Call,
) -> Result<Response, Refusal> {
    let id = id.known()?;
    let as_of = super::read_as_of(&call.parameters)?;
    let request = PageRequest::parse(&state, &call.parameters)?;
    let page = super::ledger_list(&state, id, as_of, request).await?;
    Ok(paginated(call, &page).await)
}

/// A product's own low-stock threshold.
#[derive(Serialize, ToSchema)]
struct Threshold {
    /// `null`: the shop's threshold holds.
    #[schema(required, minimum = 0)]
    threshold: Option<i64>,
}

/// A product's own low-stock threshold
#[utoipa::path(
    get, path = "/api/v1/products/{id}/threshold/", tag = "Stock", operation_id = "readThreshold",
    params(RecordId),
    responses(
        (status = 200, description = "`null`: the shop's threshold holds.", body = Threshold,
        example = json!(Threshold { threshold: None })),
    ),
)]
async fn threshold_read(
    Extracted(state): Extracted<State>,
    id: RecordId,
) -> Result<Response, Refusal> {
    let threshold = super::stock_state(&state, id.known()?).await?.threshold;
    Ok(json(StatusCode::OK, &Threshold { threshold }))
}

/// Give a product a threshold of its own, or the shop's again
///
/// Needs the permission `change_product`.
#[utoipa::path(
    put, path = "/api/v1/products/{id}/threshold/", tag = "Stock", operation_id = "writeThreshold",
    params(RecordId),
    request_body(content = Threshold, example = json!(Threshold { threshold: Some(5) })),
    responses(
        (status = 200, description = "The record was changed.", body = Threshold,
        example = json!(Threshold { threshold: Some(5) })),
        Failure<400>, Failure<413>, Failure<415>,
    ),
)]
async fn threshold_write(
    Extracted(state): Extracted<State>,
    id: RecordId,
    call: Call,
) -> Result<Response, Refusal> {
    let id = id.known()?;
    // The product is looked up before the body is parsed: an unknown product is 404 for any body.
    super::stock_state(&state, id).await?;
    let request_body = submission(&state, call).await?;
    let mut reader = Reader::new(&request_body.members, Mode::Whole);
    let Some(threshold) = reader.read(OPTIONAL_THRESHOLD) else {
        return Err(FieldErrors::of(OPTIONAL_THRESHOLD.name, Message::REQUIRED).into());
    };
    reader.finish().into_result()?;
    super::set_threshold(&state, &request_body.caller, id, threshold).await?;
    Ok(json(StatusCode::OK, &Threshold { threshold }))
}

/// Whether the product is archived.
#[derive(Serialize, ToSchema)]
struct Archived {
    /// Whether the product is archived. Its movements are refused then, and it never counts as low.
    archived: bool,
}

/// Whether a product is archived
#[utoipa::path(
    get, path = "/api/v1/products/{id}/archived/", tag = "Stock", operation_id = "readArchived",
    params(RecordId),
    responses(
        (status = 200, description = "Whether the product is archived.", body = Archived, example = json!(Archived { archived: false })),
    ),
)]
async fn archived_read(
    Extracted(state): Extracted<State>,
    id: RecordId,
) -> Result<Response, Refusal> {
    let archived = super::stock_state(&state, id.known()?).await?.is_archived();
    Ok(json(StatusCode::OK, &Archived { archived }))
}

/// Archive a product, or unarchive it
///
/// Needs the permission `change_product`.
#[utoipa::path(
    put, path = "/api/v1/products/{id}/archived/", tag = "Stock", operation_id = "writeArchived",
    params(RecordId),
    request_body(content = Archived, example = json!(Archived { archived: true })),
    responses(
        (status = 200, description = "The record was changed.", body = Archived, example = json!(Archived { archived: true })),
        Failure<400>, Failure<413>, Failure<415>,
    ),
)]
async fn archived_write(
    Extracted(state): Extracted<State>,
    id: RecordId,
    call: Call,
) -> Result<Response, Refusal> {
    let id = id.known()?;
    // The product is looked up before the body is parsed: an unknown product is 404 for any body.
    super::stock_state(&state, id).await?;
    let request_body = submission(&state, call).await?;
    let archived = read_archived(&request_body.members)?;
    archive::set(&state, &request_body.caller, id, archived).await?;
    Ok(json(StatusCode::OK, &Archived { archived }))
}

fn read_archived(members: &Members) -> Result<bool, FieldErrors> {
    let message = match members.get("archived").map(|sent| sent.get()) {
        Some("true") => return Ok(true),
        Some("false") => return Ok(false),
        None => Message::REQUIRED,
        Some("null") => Message::NULL,
        Some(_) => Message::NOT_A_TRUTH,
    };
    Err(FieldErrors::of("archived", message))
}

/// Products below their thresholds, lowest first
#[utoipa::path(
    get, path = "/api/v1/low-stock/", tag = "Stock", operation_id = "listLowStock",
    params(PageRequest),
    responses(
        (status = 200, description = "One page.", body = LowStockPage, example = json!(page_example(&LowStock {
            product: Titled { id: 1, title: "Arroz 5 kg".to_owned() },
            quantity: 3,
            threshold: 10,
        }))),
    ),
)]
async fn low_stock_list(
    Extracted(state): Extracted<State>,
    call: Call,
) -> Result<Response, Refusal> {
    let request = PageRequest::parse(&state, &call.parameters)?;
    let page = super::low_stock_list(&state, request).await?;
    Ok(paginated(call, &page).await)
}
