//! The CSRF protection of the session cookie: a token that only our pages can read.
//! [`check_origin`] checks the origin that the browser reports. This module does no I/O;
//! [`super::session`] and the pages decide which requests are checked.

use data_encoding::HEXLOWER;
use http::HeaderMap;
use subtle::ConstantTimeEq as _;
pub(crate) use web::client::check_origin;
use web::{Random, client::ForeignOrigin, cookie::HostOnly};

use crate::rest::Refusal;

/// The cookie with the secret, readable by our scripts; over HTTPS `__Host-csrftoken`.
pub const COOKIE: &str = "csrftoken";
/// The form field with the token.
pub const FIELD: &str = "csrfmiddlewaretoken";
/// The header with the token, which scripts send.
pub const HEADER: &str = "x-csrftoken";

/// The length of the secret and of its mask, in bytes.
const BYTES: usize = 16;

/// The secret that cookie and token share: 128 random bits.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; BYTES]);

/// A submitted token.
#[derive(Debug, Clone, Copy)]
pub enum SubmittedToken<'a> {
    /// In the header.
    Header(&'a str),
    /// In a form's field.
    Field(&'a str),
}

/// Why the CSRF check failed, worded as the conventions prescribe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CsrfError {
    /// The browser reports that the request comes from another site.
    #[error(transparent)]
    Foreign(#[from] ForeignOrigin),
    /// There is no secret to compare a token with.
    #[error("CSRF cookie not set.")]
    NoCookie,
    /// The request has no token.
    #[error("CSRF token missing.")]
    NoToken,
    /// The token has neither the length of a secret nor that of a masked one.
    #[error("CSRF token {0} has incorrect length.")]
    Length(&'static str),
    /// The token does not match the secret.
    #[error("CSRF token {0} incorrect.")]
    Other(&'static str),
}

impl From<ForeignOrigin> for Refusal {
    fn from(foreign: ForeignOrigin) -> Self {
        CsrfError::from(foreign).into()
    }
}

impl From<CsrfError> for Refusal {
    fn from(error: CsrfError) -> Self {
        Self::Forbidden(format!("CSRF Failed: {error}"))
    }
}

web::masked_debug!(Secret);

impl Secret {
    /// A new secret.
    pub fn new(random: &Random) -> Self {
        let mut bytes = [0; BYTES];
        random.fill(&mut bytes);
        Self(bytes)
    }

    /// Parses the secret of a cookie or a session.
    pub fn parse(text: &str) -> Option<Self> {
        read(text).map(Self)
    }

    /// The secret in the cookie of a request.
    pub fn of_cookie(cookies: HostOnly<'_>) -> Option<Self> {
        cookies.find(COOKIE).and_then(Self::parse)
    }

    /// The secret in hexadecimal, as cookie and session store it.
    pub fn expose(&self) -> String {
        HEXLOWER.encode(&self.0)
    }

    /// A masked token for a form, different at every call. So the length of a compressed page
    /// reveals nothing about the secret (BREACH).
    pub fn masked(&self, random: &Random) -> String {
        let mut mask = [0; BYTES];
        random.fill(&mut mask);
        format!(
            "{}{}",
            HEXLOWER.encode(&mask),
            HEXLOWER.encode(&exclusive_or(self.0, mask))
        )
    }

    /// Compares a token, masked or not, with this secret in constant time.
    pub fn check(&self, sent: SubmittedToken<'_>) -> Result<(), CsrfError> {
        let (token, place) = match sent {
            SubmittedToken::Header(token) => (token, "from the 'X-Csrftoken' HTTP header"),
            SubmittedToken::Field(token) => (token, "from POST"),
        };
        let bytes = match token.len() {
            length if length == 2 * BYTES => read(token),
            length if length == 4 * BYTES => unmasked(token),
            _ => return Err(CsrfError::Length(place)),
        };
        match bytes {
            Some(bytes) if bool::from(bytes.ct_eq(&self.0)) => Ok(()),
            _ => Err(CsrfError::Other(place)),
        }
    }
}

fn exclusive_or(left: [u8; BYTES], right: [u8; BYTES]) -> [u8; BYTES] {
    (u128::from_ne_bytes(left) ^ u128::from_ne_bytes(right)).to_ne_bytes()
}

fn unmasked(token: &str) -> Option<[u8; BYTES]> {
    let (mask, masked) = token.split_at_checked(2 * BYTES)?;
    Some(exclusive_or(read(mask)?, read(masked)?))
}

fn read(text: &str) -> Option<[u8; BYTES]> {
    let is_hex = text.len() == 2 * BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u128::from_str_radix(text, 16).ok().filter(|_| is_hex)?;
    Some(number.to_be_bytes())
}

/// The token in the header of a request.
pub fn header(headers: &HeaderMap) -> Option<SubmittedToken<'_>> {
    headers
        .get(HEADER)?
        .to_str()
        .ok()
        .map(SubmittedToken::Header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_its_secret_plain_or_masked_and_no_other() {
        let random = Random::seeded(1);
        let (secret, other) = (Secret::new(&random), Secret::new(&random));
        assert_eq!(Secret::parse(&secret.expose()), Some(secret.clone()));
        let (first, second) = (secret.masked(&random), secret.masked(&random));
        assert_eq!(first.len(), 64);
        assert_ne!(first, second);
        for token in [&secret.expose(), &first, &second] {
            assert_eq!(secret.check(SubmittedToken::Header(token)), Ok(()));
            assert_eq!(
                other.check(SubmittedToken::Field(token)),
                Err(CsrfError::Other("from POST"))
            );
        }
        let place = "from the 'X-Csrftoken' HTTP header";
        for token in ["", "abc", &first[1..]] {
            assert_eq!(
                secret.check(SubmittedToken::Header(token)),
                Err(CsrfError::Length(place))
            );
        }
        for token in ["g".repeat(32), "é".repeat(32), "+".repeat(64)] {
            assert_eq!(
                secret.check(SubmittedToken::Header(&token)),
                Err(CsrfError::Other(place))
            );
        }
    }
}
