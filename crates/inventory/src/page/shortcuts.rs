//! The page of single-key shortcuts, such as `/` for the search, with a switch to turn them off.
//! WCAG 2.1.4 requires it, for users of speech input and those who press keys by accident. The
//! choice is kept in a cookie.

use std::time::Duration;

use askama::Template;
use axum::response::Response;
use http::HeaderMap;
use web::cookie;

use super::{
    FormSubmission, Frame,
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

async fn switch(frame: Frame, post: FormSubmission) -> Response {
    let choice = match post.form.value("shortcuts") {
        "off" => "off",
        _ => "on",
    };
    let mut response = see_other(&safe_next(post.form.get("next")));
    let line = cookie::remember(COOKIE, choice, LIFETIME, frame.is_https);
    cookie::add(&mut response, line);
    response
}
