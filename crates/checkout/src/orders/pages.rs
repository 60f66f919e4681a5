//! `GET /pay/{token}`: the page of an order.

use axum::Router;
use axum::extract::{FromRef, State as Extracted};
use axum::response::Response;
use db::Money;
use serde_json::{Value, json};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::Error;
use web::assets::Assets;
use web::locale::Locale;
use web::openapi::Routes;
use web::page::Layout;

use super::api::PageToken;
use super::gate::Living;
use super::model::{Customer, Order, OrderStatus};
use super::read::{self, LinkedOrder};
use crate::app::State;
use crate::page::{self, Line, Link, LinkState};
use crate::payments::database_error;

#[derive(Clone)]
struct PageState {
    state: State,
    assets: Assets,
}

impl FromRef<PageState> for Assets {
    fn from_ref(page: &PageState) -> Self {
        page.assets.clone()
    }
}

static ROUTES: Routes<PageState> = Routes::new(|| OpenApiRouter::new().routes(routes!(order_page)));

/// The pages of orders.
pub(crate) fn routes(state: State, assets: Assets) -> Router {
    page::around(ROUTES.router().with_state(PageState { state, assets }))
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
    Extracted(PageState { state, assets }): Extracted<PageState>,
    PageToken(token): PageToken,
    layout: Layout,
) -> Result<Response, Error> {
    let found = read::find_linked(&state, &token).await;
    let linked = found
        .map_err(database_error)?
        .ok_or_else(Error::not_found)?;
    let link = link(&state, &linked, &token, layout.locale);
    let LinkedOrder { order, .. } = linked;
    let order = page::Order::linked(order.amount, order.description, link, layout.locale);
    page::render(&state.config.shop, order, layout, &assets)
}

fn link(state: &State, linked: &LinkedOrder, token: &str, locale: Locale) -> Link {
    let order = &linked.order;
    let way = |url: &Option<String>| url.as_deref().map(|url| with_order(url, &order.id));
    let line = |item: &super::Item| Line {
        title: item.title.clone(),
        quantity: item.quantity,
        sum: locale.money(item.sum().unwrap_or(Money::ZERO)),
    };
    Link {
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

/// What a buyer needs to know first: that money may be moving comes before the end of the order's time.
fn link_state(state: &State, linked: &LinkedOrder) -> LinkState {
    let order = &linked.order;
    let is_timely = order.expires_at > state.clock.now();
    match (order.status, &linked.living) {
        (OrderStatus::Paid, _) if is_returned(order) => LinkState::Returned,
        (OrderStatus::Paid, _) => LinkState::Paid,
        (OrderStatus::Canceled, _) => LinkState::Canceled,
        (_, Living::Unknown) => LinkState::Confirming,
        (_, Living::Review(id)) => followed(state, id),
        (OrderStatus::Open, Living::Pending(id)) if is_timely => followed(state, id),
        (OrderStatus::Open, Living::Nothing) if is_timely => LinkState::Open,
        _ => LinkState::Expired,
    }
}

fn is_returned(order: &Order) -> bool {
    order.refunded >= order.amount
}

fn followed(state: &State, id: &str) -> LinkState {
    LinkState::Followed {
        id: id.to_owned(),
        token: state.status_token(id),
    }
}

/// The form's fields that a customer fills in.
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

/// A shop's address with the order's id in its query.
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
