//! The webhook endpoint that receives paid orders from a checkout.

use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use delivery::SignatureHeaders;
use http::StatusCode;
use serde::Serialize;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{Object, RefOr, Schema, schema::ObjectBuilder},
};
use utoipa_axum::{router::OpenApiRouter, routes};
use web::openapi::{one_of, text};

use super::{OrderState, event};
use crate::{
    State,
    api::{answer::json, guard::Guard, submission::read_bytes},
    rest::{Refusal, Unauthorized},
};

/// The route `POST /integrations/orders/`.
pub(crate) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(Guard::for_signed("Orders").before(routes!(receive_order)))
}

/// The outcome of an order.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Outcome {
    #[schema(schema_with = outcomes)]
    outcome: &'static str,
}

const IGNORED: &str = "ignored";

const fn outcome(state: OrderState) -> &'static str {
    match state {
        OrderState::Booked => "booked",
        OrderState::Waiting => "needs_attention",
        OrderState::BookedByHand => "booked_by_hand",
    }
}

fn outcomes() -> Object {
    one_of([
        outcome(OrderState::Booked),
        outcome(OrderState::Waiting),
        outcome(OrderState::BookedByHand),
        IGNORED,
    ])
}

/// The request body: an event of a checkout.
enum OrderEvent {}

impl PartialSchema for OrderEvent {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .property("type", text())
            .required("type")
            .into()
    }
}

impl ToSchema for OrderEvent {}

/// Receive an event of checkout, such as a paid order
///
/// Takes Standard Webhooks 1.0, signed with a secret of `BALCAO_INVENTORY_ORDERS_SECRET` and sent
/// within the last five minutes. Items of an `order.paid` whose `sku` is the serie number of a
/// product become outflows, all of an order or none, and each order once. An order with an unknown
/// `sku` or too little stock is answered 200 as well, books nothing, and waits on the dashboard.
/// Other types of events, and orders whose `payments` were given back since, are answered 200 and do
/// nothing. Without the setting the address does not exist.
#[utoipa::path(
    post, path = "/integrations/orders/", tag = "Integrations", operation_id = "tellOrder", security(),
    params(
        ("webhook-id" = String, Header, description = "The event's id."),
        ("webhook-timestamp" = i64, Header, description = "When it was sent, in seconds since 1970."),
        ("webhook-signature" = String, Header, description = "`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several by space."),
    ),
    request_body(content = OrderEvent, example = json!({
        "type": "order.paid",
        "timestamp": "2026-11-20T12:00:00Z",
        "data": {
            "id": "ord_019aa5c8f0007cc08f0f3f5f8b8c2f11",
            "reference": "1042",
            "items": [{"title": "Arroz 5 kg", "quantity": 2, "unit_price": 32.90, "sku": "7891000000014"}],
        },
    })),
    responses(
        (status = 200, description = "The event was accepted. The response says what was done with the order.", body = Outcome,
        example = json!(Outcome { outcome: outcome(OrderState::Booked) })),
    ),
)]
async fn receive_order(
    Extracted(state): Extracted<State>,
    request: Request,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let now = state.clock.now();
    let signed = SignatureHeaders::read(&parts.headers).filter(|signed| signed.is_recent(now));
    let signed = signed.ok_or_else(unsigned)?;
    let body = read_bytes(&state, body).await?;
    if !signed.is_by(&state.config.orders_secrets, &body) {
        return Err(unsigned());
    }
    let order = event::read(&body).map_err(|error| Refusal::Event(error.to_string()))?;
    let outcome = match order {
        Some(order) => outcome(super::receive(&state, order).await?),
        None => IGNORED,
    };
    Ok(json(StatusCode::OK, &Outcome { outcome }))
}

/// A 401 that does not say what is wrong with the signature.
fn unsigned() -> Refusal {
    Unauthorized::new("The signature is missing, wrong or too old.").into()
}
