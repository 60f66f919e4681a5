//! Errors of the web interface: a page for people, JSON for programs, and a page of its own for forged or stale forms.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use web::{
    assets::Assets,
    errors::{Conventional, Facts, Pages, Public, Render},
    page::{Layout, Page},
};

/// Renders errors in the shape that their caller understands.
pub(crate) struct Shapes {
    assets: Assets,
    pages: Pages,
}

#[derive(Template)]
#[template(path = "accounts/forged.html")]
struct ForgedPage {
    layout: Layout,
}

impl Shapes {
    /// Shapes whose pages take their styles from `assets`.
    pub(crate) fn new(assets: Assets) -> Self {
        Self {
            pages: Pages::new(assets.clone()),
            assets,
        }
    }
}

impl Render for Shapes {
    fn render(&self, error: &Public, request: &Facts) -> Response {
        let path = request.uri.path();
        if request.wants_json || path.starts_with("/api/") || path.starts_with("/token/") {
            return Conventional.render(error, request);
        }
        if error.status == StatusCode::FORBIDDEN && error.detail.starts_with("CSRF Failed") {
            let layout = Layout::of(request, self.assets.clone());
            return Page::with_status(StatusCode::FORBIDDEN, ForgedPage { layout }).into_response();
        }
        self.pages.render(error, request)
    }
}
