//! The page at `/` of a shop that accepts only orders. It tells a buyer where to pay.

use askama::Template;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use web::Error;
use web::page::{Layout, Page};

use super::{PageState, Shop};
use crate::access::{CHALLENGE, Caller};

#[derive(Template)]
#[template(path = "checkout/closed.html")]
struct ClosedPage<'a> {
    layout: Layout,
    shop: &'a Shop,
}

/// Middleware: shows the page to callers without an API key, whatever they accept.
pub(super) async fn merchants_only(
    State(PageState { state, .. }): State<PageState>,
    layout: Layout,
    request: Request,
    next: Next,
) -> Result<Response, Error> {
    if let Caller::Merchant(_) = Caller::known(request.extensions())? {
        return Ok(next.run(request).await);
    }
    let page = ClosedPage {
        layout,
        shop: &state.config.shop,
    };
    let page = Page::with_status(StatusCode::UNAUTHORIZED, page);
    Ok(([CHALLENGE], page).into_response())
}
