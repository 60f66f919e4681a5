//! `Authorization: Bearer …` on API calls, with the conventional body for everything that can be
//! wrong with it.

use db::Timestamp;
use http::{HeaderMap, HeaderValue, header::AUTHORIZATION};

use super::{Account, TokenError, TokenKey, TokenType};
use crate::{
    access::Caller,
    rest::{Refusal, TOKEN_NOT_VALID, Unknown},
};

/// Whether a request brings a bearer token, right or wrong. Other schemes are no credentials.
pub(super) fn is_sent(headers: &HeaderMap) -> bool {
    words(header(headers)).next().is_some_and(is_bearer)
}

/// The scheme, in any case (RFC 9110, section 11.1).
fn is_bearer(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"bearer")
}

fn header(headers: &HeaderMap) -> &[u8] {
    headers
        .get(AUTHORIZATION)
        .map_or(&[][..], HeaderValue::as_bytes)
}

/// The words of the header, whatever bytes they are of.
fn words(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    header
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

/// The token of a request.
pub(super) fn token(headers: &HeaderMap) -> Result<&str, Refusal> {
    let header = header(headers);
    // As clients write it; the rest of the grammar takes longer to read.
    if let Some(token) = header.strip_prefix(b"Bearer ")
        && !token.is_empty()
        && !token.contains(&b' ')
        && !token.contains(&b'\t')
    {
        return text(token);
    }
    let mut words = words(header);
    if !words.next().is_some_and(is_bearer) {
        return Err(Refusal::no_credentials());
    }
    match (words.next(), words.next()) {
        (Some(token), None) => text(token),
        _ => Err(
            Unknown::new("Authorization header must contain two space-delimited values")
                .code("bad_authorization_header")
                .into(),
        ),
    }
}

/// No token of ours has bytes that are no text.
fn text(token: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(token).map_err(|_| Unknown::token(TokenError::Invalid.to_string()).into())
}

/// The user that an access token names, and the second in which it was made.
pub(super) fn user_of(key: &TokenKey, token: &str, now: Timestamp) -> Result<(i64, i64), Refusal> {
    let claims = key
        .verify_type(token, TokenType::Access, now)
        .map_err(|error| Unknown::token(error.to_string()))?;
    let user = claims.user_id.ok_or_else(|| {
        Unknown::new("Token contained no recognizable user identification").code(TOKEN_NOT_VALID)
    })?;
    // Our own tokens name an id; a signed one that does not names nobody.
    let user = user.parse().map_err(|_| unknown_user())?;
    Ok((user, claims.iat))
}

/// The caller, when the account is there and active, and has not revoked the tokens made in this
/// second.
pub(super) fn admit(account: Option<Account>, iat: i64) -> Result<Caller, Refusal> {
    match account {
        None => Err(unknown_user()),
        Some(Account { active: false, .. }) => Err(Unknown::new("User is inactive")
            .code("user_inactive")
            .into()),
        Some(account) if account.has_revoked(iat) => {
            Err(Unknown::token("Token is blacklisted").into())
        }
        Some(Account { caller, .. }) => Ok(caller),
    }
}

fn unknown_user() -> Refusal {
    Unknown::new("User not found").code("user_not_found").into()
}
