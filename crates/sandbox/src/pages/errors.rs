//! Error pages in the sandbox's layout, which says that this is a sandbox.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use web::assets::Assets;
use web::errors::{Explanation, Facts, Public, Render};
use web::page::{Layout, Page};

/// Renders errors as pages in the reader's language.
#[derive(Clone, Debug)]
pub(crate) struct ErrorPages(Assets);

impl ErrorPages {
    /// A renderer whose pages take their styles from `assets`.
    pub(crate) const fn new(assets: Assets) -> Self {
        Self(assets)
    }
}

#[derive(Template)]
#[template(path = "sandbox/error.html")]
struct ErrorPage {
    layout: Layout,
    status: StatusCode,
    explanation: Explanation,
}

impl Render for ErrorPages {
    fn render(&self, error: &Public, request: &Facts) -> Response {
        let layout = request.layout(self.0.clone());
        let page = ErrorPage {
            explanation: Explanation::of(error, layout.locale),
            status: error.status,
            layout,
        };
        Page::with_status(error.status, page).into_response()
    }
}
