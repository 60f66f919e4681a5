//! CSRF protection of the session cookie: a token that only our pages can read. Where the browser
//! says that a request comes from is checked by [`check_origin`]. Pure; which requests are checked
//! is decided by [`super::session`] and the pages.

use data_encoding::HEXLOWER;
use http::HeaderMap;
use subtle::ConstantTimeEq as _;
pub(crate) use web::client::check_origin;
use web::{Random, client::ForeignOrigin, cookie::HostOnly};

use crate::rest::Refusal;

/// The cookie that holds the secret, readable by our scripts; over HTTPS `__Host-csrftoken`.
pub const COOKIE: &str = "csrftoken";
/// The field of forms.
pub const FIELD: &str = "csrfmiddlewaretoken";
/// The header of scripts.
pub const HEADER: &str = "x-csrftoken";

/// Bytes of the secret, and of the mask over it.
const BYTES: usize = 16;

/// What cookie and token prove: 128 random bits in hexadecimal.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; BYTES]);

/// A token as it was sent.
#[derive(Debug, Clone, Copy)]
pub enum Sent<'a> {
    /// In the header.
    Header(&'a str),
    /// In a form's field.
    Field(&'a str),
}

/// Why a request is taken for a forged one, in the conventional words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Forged {
    /// The browser says that a page of another site sends it.
    #[error(transparent)]
    Foreign(#[from] ForeignOrigin),
    /// There is nothing to compare a token with.
    #[error("CSRF cookie not set.")]
    NoCookie,
    /// No token came.
    #[error("CSRF token missing.")]
    NoToken,
    /// Neither as long as the secret nor as a masked one.
    #[error("CSRF token {0} has incorrect length.")]
    Length(&'static str),
    /// Another token.
    #[error("CSRF token {0} incorrect.")]
    Other(&'static str),
}

impl From<ForeignOrigin> for Refusal {
    fn from(foreign: ForeignOrigin) -> Self {
        Forged::from(foreign).into()
    }
}

impl From<Forged> for Refusal {
    fn from(forged: Forged) -> Self {
        Self::Forbidden(format!("CSRF Failed: {forged}"))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret(****)")
    }
}

impl Secret {
    /// A new secret.
    pub fn new(random: &Random) -> Self {
        let mut bytes = [0; BYTES];
        random.fill(&mut bytes);
        Self(bytes)
    }

    /// The secret of a cookie or a session.
    pub fn parse(text: &str) -> Option<Self> {
        read(text).map(Self)
    }

    /// The secret that the cookie of a request holds.
    pub fn of_cookie(cookies: HostOnly<'_>) -> Option<Self> {
        cookies.find(COOKIE).and_then(Self::parse)
    }

    /// As cookie and session keep it.
    pub fn expose(&self) -> String {
        HEXLOWER.encode(&self.0)
    }

    /// For a form: another text at every call, so that what a compressed page is long tells nothing
    /// of the secret.
    pub fn masked(&self, random: &Random) -> String {
        let mut mask = [0; BYTES];
        random.fill(&mut mask);
        format!(
            "{}{}",
            HEXLOWER.encode(&mask),
            HEXLOWER.encode(&exclusive_or(self.0, mask))
        )
    }

    /// Whether a token, masked or not, is this secret's. Compared in constant time.
    pub fn check(&self, sent: Sent<'_>) -> Result<(), Forged> {
        let (token, place) = match sent {
            Sent::Header(token) => (token, "from the 'X-Csrftoken' HTTP header"),
            Sent::Field(token) => (token, "from POST"),
        };
        let bytes = match token.len() {
            length if length == 2 * BYTES => read(token),
            length if length == 4 * BYTES => unmasked(token),
            _ => return Err(Forged::Length(place)),
        };
        match bytes {
            Some(bytes) if bool::from(bytes.ct_eq(&self.0)) => Ok(()),
            _ => Err(Forged::Other(place)),
        }
    }
}

fn exclusive_or(left: [u8; BYTES], right: [u8; BYTES]) -> [u8; BYTES] {
    let mut result = left;
    for (byte, other) in result.iter_mut().zip(right) {
        *byte ^= other;
    }
    result
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

/// The token that a script sends.
pub fn header(headers: &HeaderMap) -> Option<Sent<'_>> {
    headers.get(HEADER)?.to_str().ok().map(Sent::Header)
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
            assert_eq!(secret.check(Sent::Header(token)), Ok(()));
            assert_eq!(
                other.check(Sent::Field(token)),
                Err(Forged::Other("from POST"))
            );
        }
        let place = "from the 'X-Csrftoken' HTTP header";
        for token in ["", "abc", &first[1..]] {
            assert_eq!(
                secret.check(Sent::Header(token)),
                Err(Forged::Length(place))
            );
        }
        for token in ["g".repeat(32), "é".repeat(32), "+".repeat(64)] {
            assert_eq!(
                secret.check(Sent::Header(&token)),
                Err(Forged::Other(place))
            );
        }
    }
}
