//! The API's authentication addresses: a token pair for a password, an access token for a refresh token, and whether a token is valid.
//! The web interface's own addresses are in `pages`.

use axum::{
    Router,
    extract::{Request, State as Extracted},
    response::Response,
    routing::any,
};
use http::{Method, StatusCode, request::Parts};
use resource::{Field, text, token};
use serde_json::json;

use super::{Credentials, service};
use crate::{
    State,
    rest::{
        Refusal,
        fields::{Members, Mode, Reader},
        gate,
        metadata::{self, Action},
        resource::{answer, json, read_members},
    },
};

const METHODS: &[Method] = &[Method::POST, Method::OPTIONS];
/// Longer names and passwords are none.
pub(crate) const MAX_TEXT: usize = 4096;

const OBTAIN: &[&Field] = &[
    &text::<String>("Usuário", "Username", MAX_TEXT).named("username"),
    &text::<String>("Senha", "Password", MAX_TEXT).named("password"),
];
const REFRESH: &[&Field] = &[&token("Token de renovação", "Refresh").named("refresh")];
const VERIFY: &[&Field] = &[&token("Token", "Token").named("token")];

/// The addresses under `/api/v1/authentication/`.
pub(crate) fn routes() -> Router<State> {
    Router::new()
        .route(
            "/api/v1/authentication/token/",
            any(
                async |Extracted(state): Extracted<State>, request: Request| {
                    answer(METHODS, obtain(&state, request).await)
                },
            ),
        )
        .route(
            "/api/v1/authentication/token/refresh/",
            any(
                async |Extracted(state): Extracted<State>, request: Request| {
                    answer(METHODS, refresh(&state, request).await)
                },
            ),
        )
        .route(
            "/api/v1/authentication/token/verify/",
            any(
                async |Extracted(state): Extracted<State>, request: Request| {
                    answer(METHODS, verify(&state, request).await)
                },
            ),
        )
}

async fn obtain(state: &State, request: Request) -> Result<Response, Refusal> {
    let Some((parts, members)) = open(state, request).await? else {
        return Ok(described("Token Obtain Pair", OBTAIN));
    };
    let pair = service::log_in(state, &parts, credentials(&members)?).await?;
    Ok(json(StatusCode::OK, &pair))
}

async fn refresh(state: &State, request: Request) -> Result<Response, Refusal> {
    let Some((_, members)) = open(state, request).await? else {
        return Ok(described("Token Refresh", REFRESH));
    };
    let token = one(&members, "refresh")?;
    Ok(json(
        StatusCode::OK,
        &json!({"access": service::refresh(state, &token).await?}),
    ))
}

async fn verify(state: &State, request: Request) -> Result<Response, Refusal> {
    let Some((_, members)) = open(state, request).await? else {
        return Ok(described("Token Verify", VERIFY));
    };
    let token = one(&members, "token")?;
    service::verify(state, &token).await?;
    Ok(json(StatusCode::OK, &json!({})))
}

/// Negotiation 406 → rate 429 → method 405 → body 415 and 400: whoever sends it, tokens in the header are not looked at. `OPTIONS` asks
/// what may be sent, and sends nothing.
async fn open(state: &State, request: Request) -> Result<Option<(Parts, Members)>, Refusal> {
    let (parts, body) = gate::admit_anyone(state, METHODS, request).await?;
    if parts.method == Method::OPTIONS {
        return Ok(None);
    }
    let members = read_members(state, &parts.headers, body).await?;
    Ok(Some((parts, members)))
}

fn described(name: &str, fields: &'static [&'static Field]) -> Response {
    let method = Method::POST;
    metadata::answer(name, Some(Action { method, fields }))
}

/// What a program proves with who it is: `otp` is looked at for accounts that have a second factor.
pub(super) fn credentials(members: &Members) -> Result<Credentials, Refusal> {
    let mut reader = Reader::new(members, Mode::Whole);
    let read = (
        reader.text("username", MAX_TEXT),
        reader.text("password", MAX_TEXT),
    );
    let otp = reader.optional_text("otp", MAX_TEXT).into_new();
    match (read, reader.finish()) {
        ((Some(username), Some(password)), errors) if errors.is_empty() => Ok(Credentials {
            username,
            password,
            otp: otp.filter(|otp| !otp.is_empty()),
        }),
        (_, errors) => Err(errors.into()),
    }
}

/// A token; one of any length is looked at, and told to be none.
pub(super) fn one(members: &Members, field: &'static str) -> Result<String, Refusal> {
    let mut reader = Reader::new(members, Mode::Whole);
    let read = reader.text(field, usize::MAX);
    read.ok_or_else(|| reader.finish().into())
}
