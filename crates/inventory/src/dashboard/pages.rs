//! The routes of the dashboard: the page, its figures alone for an open page, and the event stream.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header::RETRY_AFTER, request::Parts};

use utoipa_axum::routes;
use web::{Error, openapi::Failure};

use super::{
    DashboardRequest, live,
    model::{Period, Prices},
    view::{FiguresPage, HomePage, View},
};
use crate::{
    page::{
        Frame,
        routes::{PageRouter, get},
    },
    rest::query::Parameters,
};

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
async fn home(frame: Frame, parameters: Parameters) -> Result<Response, web::Error> {
    let dashboard = super::read(&frame.state, request_of(&parameters)).await?;
    let view = View::new(&frame, &dashboard);
    Ok(frame.show(HomePage {
        frame: &frame,
        view,
    }))
}

/// Renders the figures without the page around them. A flash message is kept for the next page.
async fn figures(mut frame: Frame, parameters: Parameters) -> Result<Response, web::Error> {
    frame.flash = None;
    let dashboard = super::read(&frame.state, request_of(&parameters)).await?;
    let view = View::new(&frame, &dashboard);
    Ok(frame.show(FiguresPage {
        frame: &frame,
        view,
    }))
}

/// The parameter `frame` ensures that only logged-in users get a stream.
async fn events(parts: Parts, frame: Frame) -> Response {
    match live::open(&frame.state, parts, frame.caller.id) {
        Some(stream) => stream.into_response(),
        None => Error::new(StatusCode::SERVICE_UNAVAILABLE, "Service unavailable")
            .header(RETRY_AFTER, HeaderValue::from_static("60"))
            .expected()
            .into_response(),
    }
}

/// Parses the query string. Absent and invalid parameters get their defaults.
fn request_of(parameters: &Parameters) -> DashboardRequest {
    let prices = match parameters.get("prices") {
        Some("now") => Prices::Present,
        _ => Prices::AtSale,
    };
    DashboardRequest {
        period: parameters
            .get("period")
            .and_then(Period::parse)
            .unwrap_or_default(),
        prices,
    }
}
