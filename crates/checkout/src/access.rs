//! Who may call: the check that a request came over HTTPS, and merchants' API keys.

use axum::extract::{FromRequestParts, Request};
use axum::response::IntoResponse;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use web::client::Origin;
use web::{Error, Next, Step};

use crate::app::State;
use crate::keys;
use crate::payments::database_error;
use crate::request::Refusal;

/// Refuses requests that did not come over HTTPS, their body unread, unless the configuration lifts the check.
pub(crate) fn https_only(allow_http: bool) -> Step {
    Step::new(move |request: Request, next: Next| async move {
        if allow_http || Origin::known(request.extensions()).is_secure {
            next.run(request).await
        } else {
            Error::from(Refusal::https_required()).into_response()
        }
    })
}

/// A caller with a merchant's API key. As an extractor it answers 401 to everyone else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Merchant;

impl FromRequestParts<State> for Merchant {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Error> {
        let header = parts
            .headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let key = header.and_then(bearer).ok_or_else(refused)?;
        if keys::is_valid(state, key).await.map_err(database_error)? {
            Ok(Self)
        } else {
            Err(refused())
        }
    }
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, key) = header.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| key.trim())
        .filter(|key| !key.is_empty())
}

fn refused() -> Error {
    Error::new(StatusCode::UNAUTHORIZED, "Invalid credentials")
        .header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}
