//! The header `Authorization: Bearer …` of API requests. Each error has the conventional body.

use db::Timestamp;
use http::{HeaderMap, HeaderValue, header::AUTHORIZATION};

use super::{Account, TokenError, TokenKey, TokenType};
use crate::{
    access::Caller,
    rest::{Refusal, TOKEN_NOT_VALID, Unauthorized},
};

/// Whether a request has a bearer token, valid or not. Other schemes are ignored.
pub(super) fn is_sent(headers: &HeaderMap) -> bool {
    words(headers).next().is_some_and(is_bearer)
}

/// The scheme, in any case (RFC 9110, section 11.1).
fn is_bearer(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"bearer")
}

/// The words of the header, which may be any bytes.
fn words(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let header = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    let words = header.unwrap_or_default().split(u8::is_ascii_whitespace);
    words.filter(|word| !word.is_empty())
}

pub(super) fn token(headers: &HeaderMap) -> Result<&str, Refusal> {
    let mut words = words(headers);
    if !words.next().is_some_and(is_bearer) {
        return Err(Refusal::no_credentials());
    }
    match (words.next(), words.next()) {
        // A token with invalid UTF-8 is not one of ours.
        (Some(token), None) => std::str::from_utf8(token)
            .map_err(|_| Unauthorized::token(TokenError::Invalid.to_string()).into()),
        _ => Err(
            Unauthorized::new("Authorization header must contain two space-delimited values")
                .code("bad_authorization_header")
                .into(),
        ),
    }
}

/// The user id of an access token, and the second in which it was issued.
pub(super) fn user_of(key: &TokenKey, token: &str, now: Timestamp) -> Result<(i64, i64), Refusal> {
    let claims = key
        .verify_type(token, TokenType::Access, now)
        .map_err(|error| Unauthorized::token(error.to_string()))?;
    let user = claims.user_id.ok_or_else(|| {
        Unauthorized::new("Token contained no recognizable user identification")
            .code(TOKEN_NOT_VALID)
    })?;
    // Our tokens contain a numeric id. Any other signed id names no user.
    let user = user.parse().map_err(|_| unknown_user())?;
    Ok((user, claims.iat))
}

/// The caller, if the account exists, is active and has not revoked the tokens issued at `iat`.
pub(super) fn admit(account: Option<Account>, iat: i64) -> Result<Caller, Refusal> {
    match account {
        None => Err(unknown_user()),
        Some(Account { active: false, .. }) => Err(Unauthorized::new("User is inactive")
            .code("user_inactive")
            .into()),
        Some(account) if account.has_revoked(iat) => {
            Err(Unauthorized::token("Token is blacklisted").into())
        }
        Some(Account { caller, .. }) => Ok(caller),
    }
}

fn unknown_user() -> Refusal {
    Unauthorized::new("User not found")
        .code("user_not_found")
        .into()
}
