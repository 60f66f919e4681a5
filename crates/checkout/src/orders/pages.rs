//! `GET /pay/{token}`: the page of an order.

use axum::Router;
use axum::extract::{FromRef, FromRequestParts, Path, State as Extracted};
use axum::response::Response;
use db::Money;
use http::request::Parts;
use serde_json::{Value, json};
use utoipa::IntoParams;
use utoipa::openapi::OpenApi;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::Error;
use web::assets::Assets;
use web::locale::Locale;
use web::openapi::{self, Routes, parameter};
use web::page::Layout;

use super::gate::LivePayment;
use super::model::{Customer, Order, OrderStatus};
use super::read::{self, LinkedOrder};
use crate::errors::{database, order_not_found};
use crate::page::{self, ItemLine, OrderLink, OrderLinkState};
use crate::state::State;

/// The token in the address of an order's page. It must not appear in any log.
pub(crate) struct PageToken(pub(crate) String);

impl IntoParams for PageToken {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let what = "The last part of the order's `url`.";
        let token = parameter("token", ParameterIn::Path, Some(what), openapi::text());
        vec![token.build()]
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PageToken {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(token)| Self(token))
            .map_err(|_| order_not_found())
    }
}

#[derive(Clone)]
struct OrderPageState {
    state: State,
    assets: Assets,
}

impl FromRef<OrderPageState> for Assets {
    fn from_ref(page: &OrderPageState) -> Self {
        page.assets.clone()
    }
}

static ROUTES: Routes<OrderPageState> =
    Routes::new(|| OpenApiRouter::new().routes(routes!(order_page)));

/// The pages of orders.
pub(crate) fn routes(state: State, assets: Assets) -> Router {
    page::around(ROUTES.router().with_state(OrderPageState { state, assets }))
}

/// The description of the routes.
pub(crate) fn openapi() -> OpenApi {
    ROUTES.openapi()
}

/// The page of an order
///
/// What is to be paid, and by what; or that the order is paid, canceled or expired.
#[utoipa::path(
    get, path = "/pay/{token}", tag = "Pages", operation_id = "orderPage", security(), params(PageToken),
    responses(
        (status = 200, description = "The page.",
        content_type = "text/html; charset=utf-8", body = String),
        (status = 308, description = "Plain HTTP, when a public HTTPS address is configured.",
        headers(("Location"))),
    ),
)]
async fn order_page(
    Extracted(OrderPageState { state, assets }): Extracted<OrderPageState>,
    PageToken(token): PageToken,
    layout: Layout,
) -> Result<Response, Error> {
    let found = read::find_linked(&state.db, &token, state.clock.now()).await;
    let linked = found.map_err(database)?.ok_or_else(Error::not_found)?;
    let link = link(&state, &linked, &token, layout.locale);
    let LinkedOrder { order, .. } = linked;
    let order = page::PageOrder::linked(order.amount, order.description, link, layout.locale);
    page::render(&state.config.shop, order, layout, &assets)
}

fn link(state: &State, linked: &LinkedOrder, token: &str, locale: Locale) -> OrderLink {
    let order = &linked.order;
    let way = |url: &Option<String>| url.as_deref().map(|url| with_order(url, &order.id));
    let line = |item: &super::model::Item| ItemLine {
        title: item.title.clone(),
        quantity: item.quantity,
        sum: locale.money(item.sum().unwrap_or(Money::ZERO)),
    };
    OrderLink {
        path: format!("/pay/{token}"),
        number: order.reference.as_ref().unwrap_or(&order.id).clone(),
        items: order.items.iter().map(line).collect(),
        methods: order.payment_methods.clone(),
        max_installments: order.max_installments,
        customer: order
            .customer
            .as_ref()
            .map_or_else(|| json!({}), fields)
            .to_string(),
        state: link_state(state, linked),
        success_url: way(&order.success_url),
        cancel_url: way(&order.cancel_url),
    }
}

/// What a buyer needs to know first. That money may be moving comes before the order's expiry.
fn link_state(state: &State, linked: &LinkedOrder) -> OrderLinkState {
    let order = &linked.order;
    let is_timely = order.expires_at > state.clock.now();
    match (order.status, &linked.live) {
        (OrderStatus::Paid, _) if is_returned(order) => OrderLinkState::Returned,
        (OrderStatus::Paid, _) => OrderLinkState::Paid,
        (OrderStatus::Canceled, _) => OrderLinkState::Canceled,
        (_, LivePayment::Unknown) => OrderLinkState::Confirming,
        (_, LivePayment::Review(id)) => followed(state, id),
        (OrderStatus::Open, LivePayment::Pending(id)) if is_timely => followed(state, id),
        (OrderStatus::Open, LivePayment::Nothing) if is_timely => OrderLinkState::Open,
        _ => OrderLinkState::Expired,
    }
}

fn is_returned(order: &Order) -> bool {
    order.refunded >= order.amount
}

fn followed(state: &State, id: &str) -> OrderLinkState {
    OrderLinkState::Followed {
        id: id.to_owned(),
        token: state.status_token(id),
    }
}

/// The form fields that the order's customer prefills.
fn fields(customer: &Customer) -> Value {
    let name = customer.name.as_deref();
    let (first, last) = name.map_or((None, None), |name| match name.split_once(' ') {
        Some((first, last)) => (Some(first), Some(last.trim())),
        None => (Some(name), None),
    });
    json!({
        "cardholder_name": name, "first_name": first, "last_name": last,
        "email": customer.email, "identification_number": customer.identification_number,
        "zip_code": customer.zip_code, "street_name": customer.street_name,
        "street_number": customer.street_number, "neighborhood": customer.neighborhood,
        "city": customer.city, "federal_unit": customer.federal_unit,
    })
}

/// The shop's address, with the order's id added to its query.
fn with_order(url: &str, id: &str) -> String {
    let (address, fragment) = match url.split_once('#') {
        Some((address, fragment)) => (address, format!("#{fragment}")),
        None => (url, String::new()),
    };
    let separator = if address.contains('?') { '&' } else { '?' };
    format!("{address}{separator}order={id}{fragment}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_has_the_order_in_its_query() {
        for (url, expected) in [
            ("https://a.b/c", "https://a.b/c?order=ord_1"),
            ("https://a.b/c?d=e", "https://a.b/c?d=e&order=ord_1"),
            ("https://a.b/c#d", "https://a.b/c?order=ord_1#d"),
        ] {
            assert_eq!(with_order(url, "ord_1"), expected);
        }
    }
}
