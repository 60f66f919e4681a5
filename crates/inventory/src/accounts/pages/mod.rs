//! The web flow's addresses, for people's forms and for scripts that speak JSON: `/login/`, `/logout/`, `/token/refresh/`.
//! Carries "The web flow also uses" and "Session and web"; who has logged in is decided in [`super::session`].

pub(crate) mod posted;

use askama::Template;
use axum::{
    Router,
    extract::{Request, State as Extracted},
    response::{IntoResponse as _, Response},
    routing::{any, get},
};
use http::{
    HeaderValue, Method, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE},
    request::Parts,
};
use serde::Serialize;
use serde_json::json;
use web::{
    client::Origin,
    errors::wants_json,
    page::{Layout, Page},
};

use super::{
    Permission, api,
    service::{self, no_account},
    session::{self, Arrived, cookies, visits::Visit},
};
use crate::{
    page::{PageState, redirect, safe_next},
    rest::{
        Refusal,
        fields::{Members, Mode, Reader},
        gate,
        query::Parameters,
        resource::{answer, json},
    },
};

const POST_ONLY: &[Method] = &[Method::POST, Method::OPTIONS];
/// No browser keeps the form, not even for the way back.
const NOT_KEPT: HeaderValue =
    HeaderValue::from_static("max-age=0, no-cache, no-store, must-revalidate, private");

/// The addresses of the web flow.
pub(crate) fn routes() -> Router<PageState> {
    Router::new()
        .route("/login/", get(login_form).post(login))
        .route("/logout/", any(logout))
        .route("/token/refresh/", any(token_refresh))
}

/// The form as it is shown: empty, or once more with what was wrong.
#[derive(Debug, Default)]
struct Attempt {
    username: String,
    next: String,
    /// Fields that were left empty.
    is_nameless: bool,
    is_passwordless: bool,
    /// Name and password do not belong together.
    is_wrong: bool,
}

#[derive(Template)]
#[template(path = "accounts/login.html")]
struct LoginPage {
    layout: Layout,
    attempt: Attempt,
    token: String,
}

impl LoginPage {
    fn required(&self, is_empty: bool) -> &'static str {
        if is_empty {
            self.layout
                .text("Este campo é obrigatório.", "This field is required.")
        } else {
            ""
        }
    }
}

async fn login_form(
    Extracted(page): Extracted<PageState>,
    layout: Layout,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let next = safe_next(query_next(&parts).as_deref());
    if Visit::of(&parts.extensions).caller().is_some() {
        return redirect(&next);
    }
    let attempt = Attempt {
        next,
        ..Attempt::default()
    };
    show(&page, &parts, layout, attempt)
}

fn show(page: &PageState, parts: &Parts, layout: Layout, attempt: Attempt) -> Response {
    let random = &page.state.random;
    let secret = Visit::of(&parts.extensions).secret(&parts.headers, random);
    let login = LoginPage {
        layout,
        attempt,
        token: secret.masked(random),
    };
    let mut response = Page::new(login).into_response();
    response.headers_mut().insert(CACHE_CONTROL, NOT_KEPT);
    cookies::show_secret(&mut response, &secret, is_https(parts));
    response
}

fn query_next(parts: &Parts) -> Option<String> {
    let query = Parameters::parse(parts.uri.query().unwrap_or_default());
    query.get("next").map(str::to_owned)
}

fn is_https(parts: &Parts) -> bool {
    Origin::known(&parts.extensions).is_https
}

async fn login(
    Extracted(page): Extracted<PageState>,
    layout: Layout,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, body) = request.into_parts();
    let members = posted::read(&page.state, &parts, body).await?;
    gate::throttle_address(&page.state, &parts.extensions).await?;
    if wants_json(&parts.headers) {
        Ok(login_program(&page, &parts, &members).await?)
    } else {
        Ok(login_person(&page, &parts, &members, layout).await?)
    }
}

async fn login_program(
    page: &PageState,
    parts: &Parts,
    members: &Members,
) -> Result<Response, Refusal> {
    let (username, password) = api::required(members, ["username", "password"])?;
    let arrived = session::log_in(&page.state, parts, username, password)
        .await?
        .ok_or_else(no_account)?;
    let mut response = json(StatusCode::OK, &Welcome::of(&arrived));
    cookies::begin(&mut response, &arrived.begun, is_https(parts));
    Ok(response)
}

/// Tokens and user data, for clients that keep both.
#[derive(Serialize)]
struct Welcome<'a> {
    access: &'a str,
    refresh: &'a str,
    user: WelcomedUser<'a>,
}

#[derive(Serialize)]
struct WelcomedUser<'a> {
    id: i64,
    username: &'a str,
    email: &'a str,
    first_name: &'a str,
    last_name: &'a str,
    groups: &'a [String],
    permissions: Vec<String>,
}

impl<'a> Welcome<'a> {
    fn of(arrived: &'a Arrived) -> Self {
        let user = &arrived.user;
        let permissions = Permission::all()
            .filter(|permission| arrived.caller.may(*permission))
            .map(|permission| permission.to_string());
        Self {
            access: &arrived.pair.access,
            refresh: &arrived.pair.refresh,
            user: WelcomedUser {
                id: user.id,
                username: &user.username,
                email: &user.email,
                first_name: &user.first_name,
                last_name: &user.last_name,
                groups: &user.groups,
                permissions: permissions.collect(),
            },
        }
    }
}

async fn login_person(
    page: &PageState,
    parts: &Parts,
    members: &Members,
    layout: Layout,
) -> Result<Response, Refusal> {
    let next = posted::text(members, "next").or_else(|| query_next(parts));
    let mut reader = Reader::new(members, Mode::Whole);
    let username = reader.text("username", api::MAX_TEXT);
    let password = reader.text("password", api::MAX_TEXT);
    let sent = |field| posted::text(members, field).unwrap_or_default();
    let attempt = Attempt {
        username: sent("username"),
        next: safe_next(next.as_deref()),
        is_nameless: sent("username").trim().is_empty(),
        is_passwordless: sent("password").trim().is_empty(),
        is_wrong: false,
    };
    if attempt.is_nameless || attempt.is_passwordless {
        return Ok(show(page, parts, layout, attempt));
    }
    let arrived = match (username, password) {
        (Some(username), Some(password)) => {
            session::log_in(&page.state, parts, username, password).await?
        }
        // Too long, or with characters that no name has.
        _ => None,
    };
    let Some(arrived) = arrived else {
        let attempt = Attempt {
            is_wrong: true,
            ..attempt
        };
        return Ok(show(page, parts, layout, attempt));
    };
    let mut response = redirect(&attempt.next);
    cookies::begin(&mut response, &arrived.begun, is_https(parts));
    Ok(response)
}

async fn logout(
    Extracted(page): Extracted<PageState>,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, body) = request.into_parts();
    if parts.method != Method::POST {
        return Ok(only_post(&parts)?);
    }
    let members = posted::read(&page.state, &parts, body).await?;
    session::log_out(
        &page.state,
        &parts.headers,
        posted::text(&members, "refresh").as_deref(),
    )
    .await?;
    let mut response = if wants_json(&parts.headers) {
        json(
            StatusCode::OK,
            &json!({"detail": "Successfully logged out."}),
        )
    } else {
        redirect("/login/")
    };
    cookies::end(&mut response, is_https(&parts));
    Ok(response)
}

/// A link or a picture must not log anybody out: other methods do nothing. Browsers get no page for it, as the conventions have it.
fn only_post(parts: &Parts) -> Result<Response, Refusal> {
    if parts.method != Method::OPTIONS && wants_json(&parts.headers) {
        return Err(Refusal::Method(parts.method.clone(), POST_ONLY));
    }
    let status = if parts.method == Method::OPTIONS {
        StatusCode::OK
    } else {
        StatusCode::METHOD_NOT_ALLOWED
    };
    let headers = [
        (ALLOW, HeaderValue::from_static("POST, OPTIONS")),
        (
            CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
    ];
    Ok((status, headers).into_response())
}

async fn token_refresh(Extracted(page): Extracted<PageState>, request: Request) -> Response {
    answer(POST_ONLY, renew(&page, request).await)
}

async fn renew(page: &PageState, request: Request) -> Result<Response, Refusal> {
    let (parts, body) = gate::admit_anyone(&page.state, POST_ONLY, request).await?;
    if parts.method == Method::OPTIONS {
        return Ok(StatusCode::OK.into_response());
    }
    let members = posted::read(&page.state, &parts, body).await?;
    let token = api::one(&members, "refresh")?;
    let access = service::refresh(&page.state, &token).await?;
    Ok(json(StatusCode::OK, &json!({"access": access})))
}
