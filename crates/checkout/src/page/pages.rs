//! The checkout page as a response: its template, filled in for one visitor.

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use brazil::{FederalUnit, NETWORKS};
use serde_json::{Value, json};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::assets::Assets;
use web::openapi::Routes;
use web::page::{Layout, Page};

use super::order::{OrderQuery, PageOrder};
use super::{PageState, Shop, texts};
use crate::request::{LATEST_YEAR, TEXT_LIMITS};

/// The script's modules in any order. The page names them so that the browser loads all of them at
/// once.
const MODULES: &[&str] = &[
    "attempt.js",
    "card.js",
    "checks.js",
    "copy.js",
    "fields.js",
    "follow.js",
    "masks.js",
    "page.js",
    "remember.js",
    "sale.js",
    "views.js",
];

/// The route of the open form.
pub(super) static ROUTES: Routes<PageState> =
    Routes::new(|| OpenApiRouter::new().routes(routes!(checkout)));

#[derive(Template)]
#[template(path = "checkout/page.html")]
struct CheckoutPage<'a> {
    layout: Layout,
    shop: &'a Shop,
    order: PageOrder,
    /// The table of card networks as JSON, so that the script needs no copy.
    networks: String,
    /// The length limit of each text and the latest expiry year, as JSON for the script.
    limits: String,
    /// The script's texts as JSON.
    texts: String,
    federal_units: Vec<&'static str>,
    script: String,
    modules: Vec<String>,
}

fn limits() -> Value {
    let texts = TEXT_LIMITS
        .iter()
        .map(|(field, most)| ((*field).to_owned(), Value::from(*most)));
    let latest = ("expiration_year".to_owned(), Value::from(LATEST_YEAR));
    texts.chain([latest]).collect()
}

/// The checkout page
#[utoipa::path(
    get, path = "/", tag = "Pages", operation_id = "checkoutPage", security(),
    responses(
        (status = 200, description = "The page with the payment form.",
        content_type = "text/html; charset=utf-8", body = String),
        (status = 308, description = "Plain HTTP, when a public HTTPS address is configured.",
        headers(("Location"))),
        (status = 401, description = "A page that says that the shop takes payments only by its own links.",
        content_type = "text/html; charset=utf-8", body = String, headers(("WWW-Authenticate"))),
    ),
)]
async fn checkout(
    State(page): State<PageState>,
    query: Result<Query<OrderQuery>, QueryRejection>,
    layout: Layout,
) -> Response {
    let order = query.map_or_else(
        |_unreadable| PageOrder {
            is_refused: true,
            ..PageOrder::default()
        },
        |Query(query)| PageOrder::of(&query, &page.state.config.max_amounts),
    );
    render(&page.state.config.shop, order, layout, &page.assets)
}

/// Renders the page that charges an order, or that says that the order has ended.
pub(super) fn render(shop: &Shop, order: PageOrder, layout: Layout, assets: &Assets) -> Response {
    let units = FederalUnit::ALL.iter();
    let page = CheckoutPage {
        order,
        networks: json!(NETWORKS).to_string(),
        limits: limits().to_string(),
        texts: texts::for_script(layout.locale).to_string(),
        federal_units: units.map(|unit| unit.as_str()).collect(),
        script: assets.module("checkout.js"),
        modules: MODULES.iter().map(|name| assets.module(name)).collect(),
        shop,
        layout,
    };
    Page::new(page).into_response()
}
