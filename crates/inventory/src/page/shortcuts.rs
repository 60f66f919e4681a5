//! The page of single-key shortcuts, such as `/` for the search, with a switch to turn them off.
//! WCAG 2.1.4 requires it, for users of speech input and those who press keys by accident. The
//! choice is kept in a cookie.

use std::time::Duration;

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use http::{HeaderMap, header::SET_COOKIE};
use web::{client::Origin, cookie};

use super::{
    Frame, PageState, request_body,
    routes::{PageRouter, get},
    safe_next, see_other,
};

const COOKIE: &str = "balcao_shortcuts";
const LIFETIME: Duration = Duration::from_secs(365 * 86_400);

/// `/shortcuts/`
pub(crate) fn routes() -> PageRouter {
    PageRouter::new().route("/shortcuts/", get(show).post(switch))
}

/// Whether shortcuts are on, which is the default.
pub(super) fn are_on(headers: &HeaderMap) -> bool {
    cookie::find(headers, COOKIE) != Some("off")
}

#[derive(Template)]
#[template(path = "page/shortcuts.html")]
struct ShortcutsPage<'a> {
    frame: &'a Frame,
}

async fn show(frame: Frame) -> Response {
    frame.show(ShortcutsPage { frame: &frame })
}

async fn switch(
    Extracted(page): Extracted<PageState>,
    _frame: Frame,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, body) = request.into_parts();
    let members = request_body::read(&page.state, &parts, body).await?;
    let choice = match request_body::text(&members, "shortcuts").as_deref() {
        Some("off") => "off",
        _ => "on",
    };
    let mut response = see_other(&safe_next(request_body::text(&members, "next").as_deref()));
    let is_https = Origin::known(&parts.extensions).is_https;
    if let Some(line) = cookie::remember(COOKIE, choice, LIFETIME, is_https) {
        response.headers_mut().append(SET_COOKIE, line);
    }
    Ok(response)
}
