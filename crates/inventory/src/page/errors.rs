//! Errors of the web interface: a page for people, JSON for programs, and pages of their own for forged or stale forms and for what
//! an account may not do.

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

#[derive(Template)]
#[template(path = "page/missing.html")]
struct MissingPage<'a> {
    layout: Layout,
    permission: &'a str,
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
        let permission = error.extra.get("permission");
        if let Some(permission) = permission.and_then(serde_json::Value::as_str) {
            let layout = Layout::of(request, self.assets.clone());
            let page = MissingPage { layout, permission };
            return Page::with_status(StatusCode::FORBIDDEN, page).into_response();
        }
        self.pages.render(error, request)
    }
}
