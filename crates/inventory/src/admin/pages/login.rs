//! The administration's own login: the same accounts and the same second step as everywhere, for staff alone.

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::{IntoResponse as _, Response},
};
use http::request::Parts;
use web::{
    client::Origin,
    cookie::HostOnly,
    page::{Layout, Page},
};

use super::query;
use crate::{
    accounts::session::{self, cookies},
    api::gate,
    login::{api, pages::login::lead_on},
    page::{PageState, prevent_caching, redirect, request_body, safe_next, visits::Visit},
    rest::{
        fields::{Members, Mode, Reader},
        query::Parameters,
    },
};

#[derive(Template)]
#[template(path = "admin/login.html")]
struct LoginPage {
    layout: Layout,
    attempt: LoginForm,
    token: String,
    /// The account that is logged in and may not enter.
    stranger: Option<String>,
}

/// The form as it is shown.
struct LoginForm {
    username: String,
    next: String,
    is_wrong: bool,
}

/// `GET /admin/login/`
pub(super) async fn form(
    Extracted(page): Extracted<PageState>,
    layout: Layout,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let next = next(None, &parts);
    let visit = Visit::of(&parts.extensions);
    if visit.caller().is_some_and(|caller| caller.is_staff) {
        return redirect(&next);
    }
    let attempt = LoginForm {
        username: String::new(),
        next,
        is_wrong: false,
    };
    show(&page, &parts, layout, attempt)
}

/// `POST /admin/login/`
pub(super) async fn log_in(
    Extracted(page): Extracted<PageState>,
    layout: Layout,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, body) = request.into_parts();
    let members = request_body::read(&page.state, &parts, body).await?;
    gate::throttle_address(&page.state, &parts.extensions).await?;
    let next = next(Some(&members), &parts);
    let mut reader = Reader::new(&members, Mode::Whole);
    let username = reader.text("username", api::MAX_TEXT);
    let password = reader.text("password", api::MAX_TEXT);
    let step = match (username, password) {
        (Some(username), Some(password)) => {
            session::log_in_staff(&page.state, &parts, username, password).await?
        }
        _ => None,
    };
    if let Some(step) = step {
        return Ok(lead_on(&page, &parts, &step, false, &next));
    }
    let attempt = LoginForm {
        username: request_body::text(&members, "username").unwrap_or_default(),
        next,
        is_wrong: true,
    };
    Ok(show(&page, &parts, layout, attempt))
}

fn show(page: &PageState, parts: &Parts, layout: Layout, attempt: LoginForm) -> Response {
    let random = &page.state.random;
    let visit = Visit::of(&parts.extensions);
    let secret = visit.secret(HostOnly::of(parts), random);
    let login = LoginPage {
        layout,
        attempt,
        token: secret.masked(random),
        stranger: visit.caller().map(|caller| caller.username.clone()),
    };
    let mut response = Page::new(login).into_response();
    prevent_caching(&mut response);
    cookies::show_secret(
        &mut response,
        &secret,
        Origin::known(&parts.extensions).is_https,
    );
    response
}

/// Where the login leads: back to where it was asked for, else to the index.
fn next(members: Option<&Members>, parts: &Parts) -> String {
    let sent = members.and_then(|members| request_body::text(members, "next"));
    let asked = || {
        Parameters::parse(query(parts))
            .get("next")
            .map(str::to_owned)
    };
    match safe_next(sent.or_else(asked).as_deref()) {
        next if next == "/" => "/admin/".to_owned(),
        next => next,
    }
}
