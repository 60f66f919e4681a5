//! The second step of a login: a code of the second factor, or a recovery code.

use askama::Template;
use axum::response::Response;
use web::{cookie::HostOnly, page::Layout};

use super::{LoginFrame, LoginPost};
use crate::{
    accounts::session::{self, cookies, ticket::Ticket},
    page::{PageResult, redirect, request_body, safe_next},
};

#[derive(Template)]
#[template(path = "accounts/code.html")]
struct CodePage {
    layout: Layout,
    token: String,
    message: &'static str,
}

/// `GET /login/code/`
pub(super) async fn form(frame: LoginFrame) -> Response {
    match ticket(&frame) {
        Some(_) => show(frame, ""),
        None => redirect("/login/"),
    }
}

/// `POST /login/code/`
pub(super) async fn log_in(frame: LoginFrame, LoginPost(members): LoginPost) -> PageResult {
    // The ticket has expired, so the login starts again.
    let Some(ticket) = ticket(&frame) else {
        return Ok(redirect("/login/"));
    };
    let code = request_body::text(&members, "code").unwrap_or_default();
    let begun = session::log_in_with_code(&frame.state, &frame.parts, &ticket, &code).await?;
    let Some(begun) = begun else {
        let message = frame.layout.text(
            "Este código não é válido ou já foi usado. Espere o próximo código do aplicativo.",
            "This code is not valid or has already been used. Wait for the next code in your app.",
        );
        return Ok(show(frame, message));
    };
    let mut response = redirect(&safe_next(Some(&ticket.next)));
    cookies::delete_ticket(&mut response, frame.is_https());
    begun.set_cookies(&mut response, frame.is_https());
    Ok(response)
}

fn ticket(frame: &LoginFrame) -> Option<Ticket> {
    let sealed = cookies::ticket(HostOnly::of(&frame.parts))?;
    Ticket::open(&frame.state, sealed)
}

fn show(frame: LoginFrame, message: &'static str) -> Response {
    frame.show(|layout, token| CodePage {
        layout,
        token,
        message,
    })
}
