//! The API's authentication endpoints: obtain, refresh and verify tokens. The endpoints of the web
//! flow are in `pages`.

use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use http::StatusCode;
use resource::{
    Field,
    schema::{Shape, schema},
    text, token,
};
use serde_json::json;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};
use utoipa_axum::{router::OpenApiRouter, routes};
use web::openapi::Failure;

use crate::{
    State,
    accounts::{
        Credentials,
        service::{self, AccessToken, TokenPair},
    },
    api::{answer::json, guard::Guard, openapi::Nothing, submission::read_members},
    rest::{
        Refusal,
        fields::{Members, Mode, Reader},
    },
};

/// The most characters of a user name or a password.
pub(crate) const MAX_TEXT: usize = 4096;

pub(super) const USERNAME: &Field =
    &text::<String>("Usuário", "Username", MAX_TEXT).named("username");
pub(super) const PASSWORD: &Field =
    &text::<String>("Senha", "Password", MAX_TEXT).named("password");
const OTP: &Field = &text::<Option<String>>("Código", "Code", MAX_TEXT)
    .help(
        "Um código da verificação em duas etapas, ou de recuperação.",
        "A code of the second factor, or a recovery code. Only accounts that have a second factor need it: without it they \
         are answered 401 with the code `otp_required`, with a wrong one 401 `otp_invalid`.",
    )
    .named("otp");
pub(super) const REFRESH: &Field =
    &token::<String>("Token de renovação", "Refresh").named("refresh");
const TOKEN: &Field = &token::<String>("Token", "Token").named("token");

/// The schema of a body with a refresh token.
pub(super) enum Refresh {}

/// The schema of a body with a token of either type.
enum Verify {}

/// Describes a body by its fields.
macro_rules! body_schema {
    ($body:ident, $fields:expr) => {
        impl PartialSchema for $body {
            fn schema() -> RefOr<Schema> {
                schema($fields, Shape::Input).into()
            }
        }

        impl ToSchema for $body {}
    };
}

body_schema!(Credentials, &[USERNAME, PASSWORD, OTP]);
body_schema!(Refresh, &[REFRESH]);
body_schema!(Verify, &[TOKEN]);

/// The token in examples.
pub(super) const EXAMPLE_TOKEN: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.c2lnbmF0dXJl";

fn example_pair() -> TokenPair {
    TokenPair {
        refresh: EXAMPLE_TOKEN.to_owned(),
        access: EXAMPLE_TOKEN.to_owned(),
    }
}

/// The access token in examples.
pub(super) fn example_access() -> AccessToken {
    AccessToken {
        access: EXAMPLE_TOKEN.to_owned(),
    }
}

/// The routes under `/api/v1/authentication/`.
pub(crate) fn routes() -> OpenApiRouter<State> {
    let obtain = Guard::for_anyone("Token Obtain Pair", &[USERNAME, PASSWORD]);
    let refresh = Guard::for_anyone("Token Refresh", &[REFRESH]);
    let verify = Guard::for_anyone("Token Verify", &[TOKEN]);
    OpenApiRouter::new()
        .routes(obtain.before(routes!(tokens_obtain)))
        .routes(refresh.before(routes!(token_refresh)))
        .routes(verify.before(routes!(token_verify)))
}

/// Obtain a token pair
///
/// Needs no token.
#[utoipa::path(
    post, path = "/api/v1/authentication/token/", tag = "Authentication", operation_id = "obtainTokens", security(),
    request_body(content = Credentials, example = json!({"username": "admin", "password": "demo-password"})),
    responses(
        (status = 200,
        description = "The pair. The access token lives a day, the refresh token a week, unless configured otherwise.",
        body = TokenPair, example = json!(example_pair())),
        Failure<400>, Failure<413>, Failure<415>,
    ),
)]
async fn tokens_obtain(
    Extracted(state): Extracted<State>,
    request: Request,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let members = read_members(&state, &parts.headers, body).await?;
    let pair = service::log_in(&state, &parts, credentials(&members)?).await?;
    Ok(json(StatusCode::OK, &pair))
}

/// Obtain an access token for a refresh token
///
/// Needs no token.
#[utoipa::path(
    post, path = "/api/v1/authentication/token/refresh/", tag = "Authentication", operation_id = "refreshToken", security(),
    request_body(content = Refresh, example = json!({"refresh": EXAMPLE_TOKEN})),
    responses(
        (status = 200, description = "A new access token.", body = AccessToken, example = json!(example_access())),
        Failure<400>, Failure<413>, Failure<415>,
    ),
)]
async fn token_refresh(
    Extracted(state): Extracted<State>,
    request: Request,
) -> Result<Response, Refusal> {
    let token = read_token(&state, request, REFRESH).await?;
    let access = service::refresh(&state, &token).await?;
    Ok(json(StatusCode::OK, &access))
}

/// Check a token
///
/// Needs no token.
#[utoipa::path(
    post, path = "/api/v1/authentication/token/verify/", tag = "Authentication", operation_id = "verifyToken", security(),
    request_body(content = Verify, example = json!({"token": EXAMPLE_TOKEN})),
    responses(
        (status = 200, description = "The token is valid.", body = Nothing, example = json!({})),
        Failure<400>, Failure<413>, Failure<415>,
    ),
)]
async fn token_verify(
    Extracted(state): Extracted<State>,
    request: Request,
) -> Result<Response, Refusal> {
    let token = read_token(&state, request, TOKEN).await?;
    service::verify(&state, &token).await?;
    Ok(json(StatusCode::OK, &json!({})))
}

/// Reads the token from a body.
async fn read_token(
    state: &State,
    request: Request,
    field: &'static Field,
) -> Result<String, Refusal> {
    let (parts, body) = request.into_parts();
    let members = read_members(state, &parts.headers, body).await?;
    token_of(&members, field)
}

/// Parses user name, password and the optional code, which only accounts with a second factor need.
pub(super) fn credentials(members: &Members) -> Result<Credentials, Refusal> {
    let mut reader = Reader::new(members, Mode::Whole);
    let read = (
        reader.read::<String>(USERNAME),
        reader.read::<String>(PASSWORD),
    );
    let otp = reader.read::<Option<String>>(OTP).flatten();
    match (read, reader.finish()) {
        ((Some(username), Some(password)), errors) if errors.is_empty() => Ok(Credentials {
            username,
            password,
            otp: otp.filter(|otp| !otp.is_empty()),
        }),
        (_, errors) => Err(errors.into()),
    }
}

/// Parses a token of any length. One that is too long is refused as invalid later.
pub(super) fn token_of(members: &Members, field: &'static Field) -> Result<String, Refusal> {
    let mut reader = Reader::new(members, Mode::Whole);
    let read = reader.read::<String>(field);
    read.ok_or_else(|| reader.finish().into())
}
