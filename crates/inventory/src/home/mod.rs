//! The first page of the web interface: the way to the API's documents.

use askama::Template;
use axum::{Router, response::Response, routing::get};

use crate::page::{Frame, PageState};

#[derive(Template)]
#[template(path = "home/home.html")]
struct HomePage<'a> {
    frame: &'a Frame,
}

/// `GET /`.
pub(crate) fn routes() -> Router<PageState> {
    Router::new().route("/", get(home))
}

async fn home(frame: Frame) -> Response {
    frame.show(HomePage { frame: &frame })
}
