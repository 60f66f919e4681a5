//! `GET /pay/{token}`: the page of an order.

use axum::extract::State as Extracted;
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::Error;
use web::openapi::Routes;
use web::page::Layout;

use super::PageState;
use super::order::{OrderLink, OrderLinkState, PageOrder};
use super::pages::render;
use crate::errors::{database, order_not_found};
use crate::ids::PageToken;
use crate::orders::{self, LinkedOrder, LivePayment, OrderStatus};
use crate::state::State;

/// The route of the pages of orders.
pub(super) static ROUTES: Routes<PageState> =
    Routes::new(|| OpenApiRouter::new().routes(routes!(order_page)));

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
    let found = orders::find_linked(&state.db, &token, state.clock.now()).await;
    let linked = found.map_err(database)?.ok_or_else(order_not_found)?;
    let link = OrderLink {
        path: format!("/pay/{token}"),
        state: link_state(&state, &linked),
        order: linked.order,
    };
    let order = PageOrder {
        amount: Some(link.order.amount),
        description: Some(link.order.description.clone()),
        is_refused: false,
        max_amounts: state.config.max_amounts.clone(),
        link: Some(link),
    };
    Ok(render(&state.config.shop, order, layout, &assets))
}

/// What a buyer needs to know first. That money may be moving comes before the order's expiry.
fn link_state(state: &State, linked: &LinkedOrder) -> OrderLinkState {
    let order = &linked.order;
    let is_timely = order.expires_at > state.clock.now();
    match (order.status, &linked.live) {
        (OrderStatus::Paid, _) if order.refunded_amount >= order.amount => OrderLinkState::Returned,
        (OrderStatus::Paid, _) => OrderLinkState::Paid,
        (OrderStatus::Canceled, _) => OrderLinkState::Canceled,
        (_, LivePayment::Unknown) => OrderLinkState::Confirming,
        (_, LivePayment::Review(id)) => followed(state, id),
        (OrderStatus::Open, LivePayment::Pending(id, _)) if is_timely => followed(state, id),
        (OrderStatus::Open, LivePayment::Nothing) if is_timely => OrderLinkState::Open,
        _ => OrderLinkState::Expired,
    }
}

fn followed(state: &State, id: &str) -> OrderLinkState {
    OrderLinkState::Followed {
        id: id.to_owned(),
        token: state.status_token(id),
    }
}
