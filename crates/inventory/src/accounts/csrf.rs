//! CSRF protection of the session cookie: a token that only our pages can read, and a check of where the browser says the request
//! comes from. Pure; which requests are checked is decided by [`super::session`] and the pages.

use http::{HeaderMap, header::HOST, header::ORIGIN, request::Parts};
use subtle::ConstantTimeEq as _;
use web::{
    Random,
    client::{Origin, PublicUrl},
    cookie,
};

use super::hex;
use crate::rest::Refusal;

/// The cookie that holds the secret, readable by our scripts.
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
    #[error("Origin checking failed - {0} does not match any trusted origins.")]
    Origin(String),
    /// As [`Self::Origin`], from a browser that does not name the site.
    #[error("Origin checking failed - the request comes from another site.")]
    Elsewhere,
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
    pub fn of_cookie(headers: &HeaderMap) -> Option<Self> {
        cookie::find(headers, COOKIE).and_then(Self::parse)
    }

    /// As cookie and session keep it.
    pub fn expose(&self) -> String {
        hex(&self.0)
    }

    /// For a form: another text at every call, so that what a compressed page is long tells nothing of the secret.
    pub fn masked(&self, random: &Random) -> String {
        let mut mask = [0; BYTES];
        random.fill(&mut mask);
        format!("{}{}", hex(&mask), hex(&exclusive_or(self.0, mask)))
    }

    /// Whether a token, masked or not, is this secret's. Compared in constant time.
    ///
    /// # Errors
    ///
    /// [`Forged`]
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

/// Checks where the browser says that a request comes from. Programs say nothing.
///
/// # Errors
///
/// [`Forged::Origin`] and [`Forged::Elsewhere`]
pub fn check_origin(parts: &Parts) -> Result<(), Forged> {
    if let Some(origin) = parts.headers.get(ORIGIN) {
        let origin = String::from_utf8_lossy(origin.as_bytes());
        return if is_ours(&origin, parts) {
            Ok(())
        } else {
            Err(Forged::Origin(origin.chars().take(200).collect()))
        };
    }
    match parts.headers.get("sec-fetch-site") {
        Some(site) if site != "same-origin" && site != "none" => Err(Forged::Elsewhere),
        _ => Ok(()),
    }
}

/// The configured address, or the host that the request itself goes to. A proxy may speak HTTPS without telling us.
fn is_ours(origin: &str, parts: &Parts) -> bool {
    let configured = parts.extensions.get::<PublicUrl>();
    if configured.is_some_and(|url| origin_of(url.as_str()) == Some(origin)) {
        return true;
    }
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str));
    let is_https = Origin::known(&parts.extensions).is_https;
    match (origin.split_once("://"), host) {
        (Some(("https", from)), Some(host)) => from == host,
        (Some(("http", from)), Some(host)) => from == host && !is_https,
        _ => false,
    }
}

/// Scheme, host and port of an address.
fn origin_of(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split('/').next()?;
    url.get(..scheme.len() + 3 + host.len())
}

#[cfg(test)]
mod tests {
    use http::Request;

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

    fn checked(headers: &[(&str, &str)], public: Option<&str>) -> bool {
        let request = headers
            .iter()
            .fold(Request::builder(), |request, (name, value)| {
                request.header(*name, *value)
            });
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        if let Some(public) = public {
            parts
                .extensions
                .insert(public.parse::<PublicUrl>().unwrap());
        }
        check_origin(&parts).is_ok()
    }

    #[test]
    fn only_our_own_pages_are_trusted() {
        let host = ("host", "shop.example:8001");
        assert!(checked(&[host], None));
        assert!(checked(
            &[host, ("origin", "http://shop.example:8001")],
            None
        ));
        assert!(checked(
            &[host, ("origin", "https://shop.example:8001")],
            None
        ));
        let public = Some("https://stock.example/under");
        assert!(checked(
            &[host, ("origin", "https://stock.example")],
            public
        ));
        assert!(checked(&[host, ("sec-fetch-site", "same-origin")], None));
        for origin in [
            "null",
            "http://evil.example",
            "http://shop.example",
            "http://shop.example:8002",
            "http://stock.example",
            "",
        ] {
            assert!(!checked(&[host, ("origin", origin)], public), "{origin}");
        }
        for site in ["cross-site", "same-site", "nonsense"] {
            assert!(!checked(&[host, ("sec-fetch-site", site)], None), "{site}");
        }
    }
}
