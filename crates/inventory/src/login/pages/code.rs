//! The second step of a login: a code of the second factor, or a recovery code.

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use http::request::Parts;
use web::{cookie::HostOnly, page::Layout};

use super::{is_https, read_step, show_step};
use crate::{
    accounts::session::{self, cookies, ticket::Ticket},
    page::{PageState, redirect, request_body, safe_next},
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
    let (parts, members) = read_step(&page.state, request).await?;
    // The ticket has expired, so the login starts again.
    let Some(ticket) = ticket(&page, &parts) else {
        return Ok(redirect("/login/"));
    };
    let code = request_body::text(&members, "code").unwrap_or_default();
    let begun = session::log_in_with_code(&page.state, &parts, &ticket, &code).await?;
    let Some(begun) = begun else {
        let message = layout.text(
            "Este código não é válido ou já foi usado. Espere o próximo código do aplicativo.",
            "This code is not valid or has already been used. Wait for the next code in your app.",
        );
        return Ok(show(&page, &parts, layout, message));
    };
    let mut response = redirect(&safe_next(Some(&ticket.next)));
    cookies::delete_ticket(&mut response, is_https(&parts));
    begun.set_cookies(&mut response, is_https(&parts));
    Ok(response)
}

fn ticket(page: &PageState, parts: &Parts) -> Option<Ticket> {
    let sealed = cookies::ticket(HostOnly::of(parts))?;
    Ticket::open(&page.state, sealed)
}

fn show(page: &PageState, parts: &Parts, layout: Layout, message: &'static str) -> Response {
    show_step(page, parts, |token| CodePage {
        layout,
        token,
        message,
    })
}
