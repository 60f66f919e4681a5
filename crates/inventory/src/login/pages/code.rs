//! The second step of a login: a code of the second factor, or a recovery code.

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::{IntoResponse as _, Response},
};
use http::request::Parts;
use web::{
    cookie::HostOnly,
    page::{Layout, Page},
};

use super::is_https;
use crate::{
    accounts::session::{self, cookies, ticket::Ticket},
    api::gate,
    page::{PageState, prevent_caching, redirect, request_body, safe_next, visits::Visit},
};

#[derive(Template)]
#[template(path = "accounts/code.html")]
struct CodePage {
    layout: Layout,
    token: String,
    message: &'static str,
}

/// `GET /login/code/`
pub(super) async fn form(
    Extracted(page): Extracted<PageState>,
    layout: Layout,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    match ticket(&page, &parts) {
        Some(_) => show(&page, &parts, layout, ""),
        None => redirect("/login/"),
    }
}

/// `POST /login/code/`
pub(super) async fn log_in(
    Extracted(page): Extracted<PageState>,
    layout: Layout,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, body) = request.into_parts();
    let members = request_body::read(&page.state, &parts, body).await?;
    gate::throttle_address(&page.state, &parts.extensions).await?;
    // The ticket has expired, so the login starts again.
    let Some(ticket) = ticket(&page, &parts) else {
        return Ok(redirect("/login/"));
    };
    let code = request_body::text(&members, "code").unwrap_or_default();
    let Ticket {
        user, remembered, ..
    } = ticket;
    let begun = session::log_in_with_code(&page.state, &parts, user, &code, remembered).await?;
    let Some(begun) = begun else {
        let message = layout.text(
            "Este código não é válido ou já foi usado. Espere o próximo código do aplicativo.",
            "This code is not valid or has already been used. Wait for the next code in your app.",
        );
        return Ok(show(&page, &parts, layout, message));
    };
    let mut response = redirect(&safe_next(Some(&ticket.next)));
    cookies::take_ticket(&mut response, is_https(&parts));
    cookies::begin(&mut response, &begun, is_https(&parts));
    Ok(response)
}

fn ticket(page: &PageState, parts: &Parts) -> Option<Ticket> {
    let sealed = cookies::ticket(HostOnly::of(parts))?;
    Ticket::open(&page.state, sealed)
}

fn show(page: &PageState, parts: &Parts, layout: Layout, message: &'static str) -> Response {
    let random = &page.state.random;
    let secret = Visit::of(&parts.extensions).secret(HostOnly::of(parts), random);
    let code = CodePage {
        layout,
        token: secret.masked(random),
        message,
    };
    let mut response = Page::new(code).into_response();
    prevent_caching(&mut response);
    cookies::show_secret(&mut response, &secret, is_https(parts));
    response
}
