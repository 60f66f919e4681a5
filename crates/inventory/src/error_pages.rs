//! Renders errors of the web interface: as JSON for programs, as a page for people. Logged-in users
//! get the error within the frame of the application, with a suggestion. Other users, and requests
//! that failed the CSRF check, get a separate page.

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::{StatusCode, request::Parts};
use web::{
    assets::Assets,
    errors::{self, Explanation, Facts, Pages, Public, Render, RestErrors},
    page::{Layout, Page},
};

use crate::{
    access::Permission,
    page::{Frame, PageState},
};

/// Renders errors in the format that the client expects.
#[derive(Clone)]
pub(crate) struct NegotiatedErrors {
    assets: Assets,
    pages: Pages,
}

#[derive(Template)]
#[template(path = "accounts/forged.html")]
struct CsrfErrorPage {
    layout: Layout,
}

#[derive(Template)]
#[template(path = "page/error.html")]
struct ErrorPage<'a> {
    frame: &'a Frame,
    status: StatusCode,
    explanation: Explanation,
    permission: Option<String>,
}

impl NegotiatedErrors {
    /// A renderer whose pages use the styles in `assets`.
    pub(crate) fn new(assets: Assets) -> Self {
        Self {
            pages: Pages::new(assets.clone()),
            assets,
        }
    }
}

impl Render for NegotiatedErrors {
    fn render(&self, error: &Public, request: &Facts) -> Response {
        if is_for_program(request) {
            return RestErrors.render(error, request);
        }
        if is_csrf_error(error) {
            let layout = request.layout(self.assets.clone());
            return Page::with_status(StatusCode::FORBIDDEN, CsrfErrorPage { layout })
                .into_response();
        }
        self.pages.render(error, request)
    }
}

fn is_for_program(request: &Facts) -> bool {
    let path = request.uri.path();
    let is_of_programs = |beginning| path.starts_with(beginning);
    request.wants_json
        || ["/api/", "/integrations/", "/token/"]
            .into_iter()
            .any(is_of_programs)
}

fn is_csrf_error(error: &Public) -> bool {
    error.status == StatusCode::FORBIDDEN && error.detail.starts_with("CSRF Failed")
}

/// Middleware: renders errors of pages. It runs within the session's middleware, so that the frame
/// can show the user.
pub(crate) async fn render(
    Extracted(page): Extracted<PageState>,
    request: Request,
    next: Next,
) -> Response {
    let (errors, parts) = (
        NegotiatedErrors::new(page.assets.clone()),
        parts_of(&request),
    );
    let renderer = move |error: &Public, facts: &Facts| {
        if is_for_program(facts) || is_csrf_error(error) {
            return errors.render(error, facts);
        }
        let layout = facts.layout(page.assets.clone());
        match Frame::of(&parts, layout, &page) {
            Some(frame) => in_frame(&frame, error),
            None => errors.render(error, facts),
        }
    };
    errors::render_with(&renderer, request, |request| next.run(request)).await
}

fn in_frame(frame: &Frame, error: &Public) -> Response {
    let permission = error.extra.get("permission");
    frame.show_with(
        error.status,
        ErrorPage {
            frame,
            status: error.status,
            explanation: Explanation::of(error, frame.locale),
            permission: permission
                .and_then(|permission| permission.as_str()?.parse().ok())
                .map(|permission: Permission| permission.label(frame.locale)),
        },
    )
}

/// A copy of the parts of a request that a frame needs, in case an error has to be rendered.
fn parts_of(request: &Request) -> Parts {
    let (mut parts, ()) = Request::new(()).into_parts();
    parts.uri = request.uri().clone();
    parts.headers = request.headers().clone();
    parts.extensions = request.extensions().clone();
    parts
}
