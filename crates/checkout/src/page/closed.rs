//! The page at `/` of a shop that accepts only orders. It tells a buyer where to pay.

use std::sync::Arc;

use askama::Template;
use axum::extract::{FromRef, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use web::Error;
use web::assets::Assets;
use web::page::{Layout, Page};

use super::Shop;
use crate::access::{CHALLENGE, Merchant};
use crate::keys::ApiKeys;

/// What the middleware needs.
#[derive(Clone)]
pub(super) struct ClosedState {
    pub(super) shop: Arc<Shop>,
    pub(super) assets: Assets,
    pub(super) keys: ApiKeys,
}

impl FromRef<ClosedState> for Assets {
    fn from_ref(state: &ClosedState) -> Self {
        state.assets.clone()
    }
}

#[derive(Template)]
#[template(path = "checkout/closed.html")]
struct ClosedPage<'a> {
    layout: Layout,
    shop: &'a Shop,
}

/// Middleware: shows the page to callers without an API key, whatever they accept.
pub(super) async fn merchants_only(
    State(ClosedState { shop, keys, .. }): State<ClosedState>,
    layout: Layout,
    request: Request,
    next: Next,
) -> Result<Response, Error> {
    if Merchant::of(&keys, request.headers()).await?.is_some() {
        return Ok(next.run(request).await);
    }
    let page = ClosedPage {
        layout,
        shop: &shop,
    };
    let page = Page::with_status(StatusCode::UNAUTHORIZED, page);
    Ok(([CHALLENGE], page).into_response())
}
