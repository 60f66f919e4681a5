//! The dashboard's addresses: the page, its figures alone for a page that is already open, and the stream that says when they have changed.

use axum::{
    extract::{RawQuery, State as Extracted},
    response::{IntoResponse as _, Response},
};
use http::{StatusCode, header::RETRY_AFTER, request::Parts};

use utoipa_axum::routes;
use web::openapi::Failure;

use super::{
    PageRequest, live,
    model::{Period, Prices},
    view::{FiguresPage, HomePage, View},
};
use crate::{
    page::{
        Frame, PageState,
        routes::{PageRouter, get},
    },
    rest::query::Parameters,
};

/// `GET /`, and what the page asks for while it is open.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .described(routes!(home))
        .route("/dashboard/figures/", get(figures))
        .route("/dashboard/events/", get(events))
}

/// The first page
#[utoipa::path(
    get, path = "/", tag = "Pages", operation_id = "home", security(),
    responses(
        (status = 200, description = "A page.", content_type = "text/html; charset=utf-8", body = String),
        Failure<302>,
    ),
)]
async fn home(
    Extracted(page): Extracted<PageState>,
    RawQuery(query): RawQuery,
    frame: Frame,
) -> Result<Response, web::Error> {
    let shown = super::read(&page.state, wanted(query.as_deref())).await?;
    let view = View::new(&frame, &shown, page.state.config.language);
    Ok(frame.show(HomePage {
        frame: &frame,
        view,
    }))
}

/// The same figures without the page around them. What is to be told once is left for the page that the reader goes to next.
async fn figures(
    Extracted(page): Extracted<PageState>,
    RawQuery(query): RawQuery,
    mut frame: Frame,
) -> Result<Response, web::Error> {
    frame.flash = None;
    let shown = super::read(&page.state, wanted(query.as_deref())).await?;
    let view = View::new(&frame, &shown, page.state.config.language);
    Ok(frame.show(FiguresPage {
        frame: &frame,
        view,
    }))
}

/// The frame is asked for so that only those who are logged in are told.
async fn events(Extracted(page): Extracted<PageState>, parts: Parts, frame: Frame) -> Response {
    match live::open(&page.state, parts, frame.caller.id) {
        Some(stream) => stream.into_response(),
        None => (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "60")]).into_response(),
    }
}

/// What the address asks for; what it does not say, or says wrongly, is as usual.
fn wanted(query: Option<&str>) -> PageRequest {
    let parameters = Parameters::parse(query.unwrap_or_default());
    let prices = match parameters.get("prices") {
        Some("now") => Prices::Present,
        _ => Prices::Sold,
    };
    PageRequest {
        period: parameters
            .get("period")
            .and_then(Period::parse)
            .unwrap_or_default(),
        prices,
    }
}
