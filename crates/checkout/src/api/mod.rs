//! The JSON API: requests, responses, and the service function that each handler calls.

pub(crate) mod errors;
pub(crate) mod examples;
mod following;
mod notifications;
mod orders;
mod outcome;
mod payments;

use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::openapi::Routes;

use crate::errors::REPLAYED;
use crate::state::State;

/// The addresses where anybody may pay an amount of their own choice, unless the shop accepts only
/// orders.
pub(crate) static OPEN_PAYMENTS: Routes<State> =
    Routes::new(|| OpenApiRouter::new().routes(routes!(payments::payment_create)));

/// The other addresses that move money.
pub(crate) static MOVING_MONEY: Routes<State> = Routes::new(|| {
    OpenApiRouter::new()
        .routes(routes!(payments::refund_create))
        .routes(routes!(orders::order_pay))
});

/// The addresses of merchants and pages that move no money.
pub(crate) static OF_CLIENTS: Routes<State> = Routes::new(|| {
    OpenApiRouter::new()
        .routes(routes!(payments::payment_list))
        .routes(routes!(outcome::payment_outcome))
        .routes(routes!(payments::payment_read, payments::payment_cancel))
        .routes(routes!(following::payment_status))
        .routes(routes!(following::payment_events))
        .routes(routes!(following::payment_artefacts))
        .routes(routes!(orders::order_create, orders::order_list))
        .routes(routes!(orders::order_read))
        .routes(routes!(orders::order_cancel))
});

/// The address for the provider's notifications.
pub(crate) static OF_THE_PROVIDER: Routes<State> =
    Routes::new(|| OpenApiRouter::new().routes(routes!(notifications::notification_receive)));

/// The OpenAPI document of every operation.
pub(crate) fn openapi() -> OpenApi {
    let mut all = OPEN_PAYMENTS.openapi();
    all.merge(MOVING_MONEY.openapi());
    all.merge(OF_CLIENTS.openapi());
    all.merge(OF_THE_PROVIDER.openapi());
    all
}

fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers
        .get(CONTENT_TYPE)
        .map(|value| value.to_str().unwrap_or("unreadable"))
}

/// A response with a stored JSON body.
fn json_text(body: String, is_replayed: bool) -> Response {
    let mut response = private(([(CONTENT_TYPE, "application/json")], body));
    if is_replayed {
        mark_replayed(&mut response);
    }
    response
}

/// Marks a response that was sent before for the same idempotency key.
fn mark_replayed(response: &mut Response) {
    response
        .headers_mut()
        .insert(REPLAYED, HeaderValue::from_static("true"));
}

/// Marks a response with personal data, which no cache may store.
fn private(answer: impl IntoResponse) -> Response {
    let mut response = answer.into_response();
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
