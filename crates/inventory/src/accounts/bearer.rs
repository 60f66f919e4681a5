//! `Authorization: Bearer …` on API calls, with the conventional body for everything that can be wrong with it.

use db::Timestamp;
use http::{HeaderMap, header::AUTHORIZATION};
use serde_json::json;

use super::{Account, Caller, TokenKey, TokenType};
use crate::rest::Refusal;

/// Whether a request brings a bearer token, right or wrong. The scheme is written `Bearer`; other schemes are no credentials.
pub(super) fn is_sent(headers: &HeaderMap) -> bool {
    header(headers).split_ascii_whitespace().next() == Some("Bearer")
}

fn header(headers: &HeaderMap) -> &str {
    headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

/// The token of a request.
pub(super) fn token(headers: &HeaderMap) -> Result<&str, Refusal> {
    let header = header(headers);
    let is_blank = |byte: u8| byte.is_ascii_whitespace();
    // As clients write it; the rest of the grammar takes longer to read.
    if let Some(token) = header.strip_prefix("Bearer ")
        && !token.is_empty()
        && !token.bytes().any(is_blank)
    {
        return Ok(token);
    }
    let mut parts = header.split_ascii_whitespace();
    if parts.next() != Some("Bearer") {
        return Err(Refusal::no_credentials());
    }
    match (parts.next(), parts.next()) {
        (Some(token), None) => Ok(token),
        _ => Err(Refusal::Unauthenticated(json!({
            "detail": "Authorization header must contain two space-delimited values",
            "code": "bad_authorization_header",
        }))),
    }
}

/// The user that an access token names, and the second in which it was made.
pub(super) fn user_of(key: &TokenKey, token: &str, now: Timestamp) -> Result<(i64, i64), Refusal> {
    let claims = key
        .verify_type(token, TokenType::Access, now)
        .map_err(|error| not_valid(&error.to_string()))?;
    let user = claims.user_id.ok_or_else(|| {
        Refusal::Unauthenticated(json!({
            "detail": "Token contained no recognizable user identification",
            "code": "token_not_valid",
        }))
    })?;
    // Our own tokens name an id; a signed one that does not names nobody.
    let user = user.parse().map_err(|_| unknown_user())?;
    Ok((user, claims.iat))
}

/// The caller, when the account is there and active, and has not revoked the tokens made in this second.
pub(super) fn admit(account: Option<Account>, iat: i64) -> Result<Caller, Refusal> {
    match account {
        None => Err(unknown_user()),
        Some(Account { active: false, .. }) => Err(Refusal::Unauthenticated(
            json!({"detail": "User is inactive", "code": "user_inactive"}),
        )),
        Some(account) if account.has_revoked(iat) => Err(not_valid("Token is blacklisted")),
        Some(Account { caller, .. }) => Ok(caller),
    }
}

fn unknown_user() -> Refusal {
    Refusal::Unauthenticated(json!({"detail": "User not found", "code": "user_not_found"}))
}

fn not_valid(message: &str) -> Refusal {
    Refusal::Unauthenticated(json!({
        "detail": "Given token not valid for any token type",
        "code": "token_not_valid",
        "messages": [{"token_class": "AccessToken", "token_type": "access", "message": message}],
    }))
}
