//! The endpoints of the web flow, for forms and for JSON: `/login/` with its second step,
//! `/logout/` and `/token/refresh/`. Implements "The web flow also uses" and "Session and web" of
//! the specification. Sessions are in [`session`].

mod code;
pub(crate) mod login;
mod own;

use std::{borrow::Cow, convert::Infallible};

use askama::Template;
use axum::{
    extract::{FromRequest, FromRequestParts, Request, State as Extracted},
    response::{IntoResponse as _, Response},
    routing::any,
};
use http::{
    HeaderValue, Method, StatusCode,
    header::{ALLOW, CONTENT_TYPE},
    request::Parts,
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{ObjectBuilder, SchemaType},
    },
};
use utoipa_axum::{router::UtoipaMethodRouterExt as _, routes};
use web::{
    client::Origin,
    cookie::HostOnly,
    errors::wants_json,
    openapi::Failure,
    page::{Layout, Page},
};

use super::api::{self, EXAMPLE_TOKEN, Refresh, example_access};
use crate::{
    State,
    accounts::{
        service::{self, AccessToken},
        session::{self, cookies},
    },
    api::{
        answer::{answer, json},
        gate,
        openapi::{Detail, PageFailures},
    },
    page::{
        PageResult, PageState, prevent_caching, redirect, request_body,
        routes::{PageRouter, get},
        visits::Visit,
    },
    rest::{Refusal, fields::Members, refusal::allow},
};

const POST_ONLY: &[Method] = &[Method::POST, Method::OPTIONS];

pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .described(routes!(login::form, login::log_in))
        .route("/login/code/", get(code::form).post(code::log_in))
        .described(routes!(logout).map(|_| any(logout)))
        .described(routes!(token_refresh).map(|_| any(token_refresh)))
        .merge(own::routes())
}

/// The frame of a step of the login, for users with or without a session.
pub(crate) struct LoginFrame {
    state: State,
    layout: Layout,
    parts: Parts,
}

/// The members of a posted step, which counts against the limit of the client's address.
pub(crate) struct LoginPost(pub(crate) Members);

impl FromRequestParts<PageState> for LoginFrame {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, page: &PageState) -> Result<Self, Infallible> {
        Ok(Self {
            state: page.state.clone(),
            layout: Layout::from_request_parts(parts, page).await?,
            parts: parts.clone(),
        })
    }
}

impl FromRequest<PageState> for LoginPost {
    type Rejection = Refusal;

    async fn from_request(request: Request, page: &PageState) -> Result<Self, Refusal> {
        let (parts, body) = request.into_parts();
        let members = request_body::read(&page.state, &parts, body).await?;
        gate::throttle_address(&page.state, &parts.extensions).await?;
        Ok(Self(members))
    }
}

impl LoginFrame {
    fn is_https(&self) -> bool {
        is_https(&self.parts)
    }

    /// Shows the form of a step with a CSRF token, whose secret is in a cookie.
    fn show<T: Template>(self, form: impl FnOnce(Layout, String) -> T) -> Response {
        let (random, is_https) = (&self.state.random, self.is_https());
        let visit = Visit::of(&self.parts.extensions);
        let secret = visit.secret(HostOnly::of(&self.parts), random);
        let form = form(self.layout, secret.masked(random));
        let mut response = Page::new(form).into_response();
        prevent_caching(&mut response);
        cookies::show_secret(&mut response, &secret, is_https);
        response
    }
}

fn is_https(parts: &Parts) -> bool {
    Origin::known(&parts.extensions).is_https
}

/// End the session and revoke a refresh token sent with it
#[utoipa::path(
    post, path = "/logout/", tag = "Web session", operation_id = "logOut", security((), ("session" = [])),
    request_body(content = Option<OptionalRefresh>, example = json!({"refresh": EXAMPLE_TOKEN})),
    responses(
        (status = 200, description = "Logged out.", body = Detail, headers(("RateLimit-Policy"), ("RateLimit")),
        example = json!(logged_out())),
        Failure<302>, PageFailures,
    ),
)]
async fn logout(Extracted(page): Extracted<PageState>, request: Request) -> PageResult {
    let (parts, body) = request.into_parts();
    if parts.method != Method::POST {
        return only_post(&parts);
    }
    let members = request_body::read(&page.state, &parts, body).await?;
    session::log_out(
        &page.state,
        HostOnly::of(&parts),
        request_body::text(&members, "refresh").as_deref(),
    )
    .await?;
    let mut response = if wants_json(&parts.headers) {
        json(StatusCode::OK, &logged_out())
    } else {
        redirect("/login/")
    };
    cookies::end(&mut response, is_https(&parts));
    Ok(response)
}

const fn logged_out() -> Detail {
    Detail {
        detail: Cow::Borrowed("Successfully logged out."),
    }
}

/// The schema of a body with an optional refresh token.
enum OptionalRefresh {}

impl PartialSchema for OptionalRefresh {
    fn schema() -> RefOr<Schema> {
        let refresh = ObjectBuilder::new()
            .schema_type(SchemaType::AnyValue)
            .description(Some("A refresh token; anything else is ignored."));
        ObjectBuilder::new().property("refresh", refresh).into()
    }
}

impl ToSchema for OptionalRefresh {}

/// Other methods than POST do nothing, so a link or an image cannot log a user out. The conventions
/// require this response without a page.
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

/// Obtain an access token for a refresh token, in the web flow
#[utoipa::path(
    post, path = "/token/refresh/", tag = "Web session", operation_id = "refreshSessionToken", security(),
    request_body(content = Refresh, example = json!({"refresh": EXAMPLE_TOKEN})),
    responses(
        (status = 200, description = "A new access token.", body = AccessToken, headers(("RateLimit-Policy"), ("RateLimit")),
        example = json!(example_access())),
        Failure<400>, Failure<401>, Failure<403>, Failure<404>, Failure<406>, Failure<413>, Failure<415>, Failure<429>,
        Failure<500>, Failure<503>,
    ),
)]
async fn token_refresh(Extracted(page): Extracted<PageState>, request: Request) -> Response {
    answer(&allow(POST_ONLY), renew(&page, request).await)
}

async fn renew(page: &PageState, request: Request) -> Result<Response, Refusal> {
    let (parts, body) = gate::admit_anyone(&page.state, POST_ONLY, request).await?;
    if parts.method == Method::OPTIONS {
        return Ok(StatusCode::OK.into_response());
    }
    let members = request_body::read(&page.state, &parts, body).await?;
    let token = api::token_of(&members, api::REFRESH)?;
    let access = service::refresh(&page.state, &token).await?;
    Ok(json(StatusCode::OK, &access))
}
