//! The web flow's addresses, for people's forms and for scripts that speak JSON: `/login/` with its second step, `/logout/`,
//! `/token/refresh/`. Carries "The web flow also uses" and "Session and web"; who has logged in is decided in [`super::session`].

mod code;
pub(crate) mod login;
mod own;
pub(crate) mod posted;

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
use serde_json::json;
use web::{client::Origin, cookie::HostOnly, errors::wants_json};

use super::{
    api, service,
    session::{self, cookies},
};
use crate::{
    page::{PageState, redirect},
    rest::{
        Refusal, gate,
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
        .route("/login/", get(login::form).post(login::log_in))
        .route("/login/code/", get(code::form).post(code::log_in))
        .route("/logout/", any(logout))
        .route("/token/refresh/", any(token_refresh))
        .merge(own::routes())
}

/// Tells the browser to keep nothing of a page.
pub(crate) fn keep_nothing(response: &mut Response) {
    response.headers_mut().insert(CACHE_CONTROL, NOT_KEPT);
}

fn is_https(parts: &Parts) -> bool {
    Origin::known(&parts.extensions).is_https
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
        HostOnly::of(&parts),
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
