//! The access token, which every call to the provider has in its headers.

use axum::extract::FromRequestParts;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, StatusCode};

use crate::refusal::{Code, Refusal};
use crate::state::State;

/// Proof that the request has an accepted access token. As an extractor it responds 401 otherwise.
pub(crate) struct Caller;

impl FromRequestParts<State> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Refusal> {
        let token =
            bearer(&parts.headers).ok_or_else(|| Refusal::of_status(StatusCode::UNAUTHORIZED))?;
        let accepted = &state.config.access_tokens;
        if accepted.is_empty() || accepted.iter().any(|known| known == token) {
            Ok(Self)
        } else {
            let message = "invalid access token";
            Err(Refusal::new(
                StatusCode::UNAUTHORIZED,
                Some(Code::Number(7)),
                message,
            ))
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
