//! Reads and writes the cookies of a session. Over HTTPS they have the prefix `__Host-`, so no
//! other host of the domain can set them.

use std::time::Duration;

use axum::response::Response;
use http::header::SET_COOKIE;
use web::cookie::{self, HostOnly, host_only};

use super::lifetimes::{BROWSER_LIFETIME, LIFETIME, TICKET_LIFETIME};
use crate::accounts::csrf;

/// The cookie with the session's token, which scripts cannot read.
const SESSION: &str = "sessionid";
/// The cookie between the two steps of a login.
const TICKET: &str = "login_step";
/// The cookie of a browser that has logged in before, which has its own counter of failed attempts.
const BROWSER: &str = "known_browser";
/// The lifetime of the CSRF cookie: 52 weeks.
const CSRF_LIFETIME: Duration = Duration::from_secs(31_449_600);

/// The session's token in a request.
pub(crate) fn session(cookies: HostOnly<'_>) -> Option<&str> {
    cookies.find(SESSION).filter(|token| !token.is_empty())
}

/// Sets the session's token until the browser is closed.
pub(super) fn keep_until_closed(response: &mut Response, token: &str, is_https: bool) {
    let name = host_only(SESSION, is_https);
    cookie::add(response, cookie::keep(&name, token, is_https));
}

/// Sets the cookie that recognises the browser.
pub(super) fn recognise(response: &mut Response, browser: &str, is_https: bool) {
    let name = host_only(BROWSER, is_https);
    let line = cookie::remember(&name, browser, BROWSER_LIFETIME, is_https);
    cookie::add(response, line);
}

/// The sealed cookie of a browser that has logged in before.
pub(crate) fn browser(cookies: HostOnly<'_>) -> Option<&str> {
    cookies.find(BROWSER)
}

/// The sealed ticket for the second step of a login.
pub(crate) fn ticket(cookies: HostOnly<'_>) -> Option<&str> {
    cookies.find(TICKET)
}

/// Sets the ticket for the second step of a login.
pub(crate) fn set_ticket(response: &mut Response, sealed: &str, is_https: bool) {
    let name = host_only(TICKET, is_https);
    let line = cookie::remember(&name, sealed, TICKET_LIFETIME, is_https);
    cookie::add(response, line);
}

pub(crate) fn delete_ticket(response: &mut Response, is_https: bool) {
    let name = host_only(TICKET, is_https);
    cookie::add(response, cookie::forget(&name, is_https));
}

/// Sets the session's token for the full lifetime from now.
pub(crate) fn keep(response: &mut Response, token: &str, is_https: bool) {
    let name = host_only(SESSION, is_https);
    cookie::add(response, cookie::remember(&name, token, LIFETIME, is_https));
}

pub(crate) fn show_secret(response: &mut Response, secret: &csrf::Secret, is_https: bool) {
    let name = host_only(csrf::COOKIE, is_https);
    let line = cookie::show(&name, &secret.expose(), CSRF_LIFETIME, is_https);
    cookie::add(response, line);
}

/// Deletes the session's token.
pub(crate) fn end(response: &mut Response, is_https: bool) {
    let name = host_only(SESSION, is_https);
    cookie::add(response, cookie::forget(&name, is_https));
}

/// Whether a response sets or deletes the session's token already.
pub(crate) fn is_settled(response: &Response, is_https: bool) -> bool {
    let begin = format!("{}=", host_only(SESSION, is_https));
    let lines = response.headers().get_all(SET_COOKIE);
    lines
        .iter()
        .any(|line| line.as_bytes().starts_with(begin.as_bytes()))
}
