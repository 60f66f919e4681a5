//! The address under which the outside reaches a service: the configured one, or else the
//! request's.

use std::convert::Infallible;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Request};
use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, Uri};

use super::Origin;

/// Scheme, host and port, without a slash at the end: `https://pay.example.com`. A path is refused,
/// since the pages' own addresses begin at the root.
///
/// As an extractor: the configured address, else the request's own. `X-Forwarded-Host` is never
/// used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(String);

/// A public address that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found:?} is not a public address: write it like https://pay.example.com, with http or https, a host, and neither user, path, query nor fragment"
)]
pub struct PublicUrlError {
    found: String,
}

impl PublicUrl {
    /// The full address of one of our paths; `path` begins with a slash.
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    /// Whether clients reach the service by HTTPS.
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// The address without a slash at the end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the request's host, if it names one, can stand in an address.
    pub fn can_name_host_of(headers: &HeaderMap) -> bool {
        headers
            .get(HOST)
            .is_none_or(|host| host.to_str().is_ok_and(is_host))
    }

    fn of_request(headers: &HeaderMap, uri: &Uri, is_https: bool) -> Self {
        let scheme = if is_https { "https" } else { "http" };
        let host = requested_host(headers, uri)
            .filter(|host| is_host(host))
            .unwrap_or("localhost");
        Self(format!("{scheme}://{host}"))
    }
}

/// The host that a request goes to, with its port, as the client wrote it.
pub(super) fn requested_host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    let sent = headers.get(HOST).and_then(|host| host.to_str().ok());
    sent.or_else(|| uri.authority().map(Authority::as_str))
}

/// Whether a request names a host that is not this machine: an address that is not loopback, or a
/// name with a dot that is not below `localhost`. A name without a dot may be this machine's own.
pub(super) fn is_for_elsewhere(request: &Request) -> bool {
    let sent = request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok());
    let authority = sent.and_then(|host| host.parse::<Authority>().ok());
    let Some(authority) = authority.as_ref().or_else(|| request.uri().authority()) else {
        return false;
    };
    let host = authority.host().trim_end_matches('.').to_ascii_lowercase();
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match bare.unwrap_or(&host).parse::<IpAddr>() {
        // Clients connect to the unspecified address to reach themselves.
        Ok(address) => {
            let address = address.to_canonical();
            !address.is_loopback() && !address.is_unspecified()
        }
        Err(_) => host.contains('.') && !host.ends_with(".localhost"),
    }
}

/// Host and optional port, without user information; nothing that could break out of an address.
fn is_host(host: &str) -> bool {
    let is_safe = host.bytes().all(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':' | b'[' | b']')
    });
    is_safe
        && host.parse::<Authority>().is_ok_and(|authority| {
            let port = host.strip_prefix(authority.host()).unwrap_or_default();
            let has_port = matches!(port, "" | ":") || authority.port_u16().is_some();
            !authority.host().is_empty() && has_port
        })
}

impl FromStr for PublicUrl {
    type Err = PublicUrlError;

    fn from_str(text: &str) -> Result<Self, PublicUrlError> {
        let error = || PublicUrlError {
            found: text.to_owned(),
        };
        let uri: Uri = text.parse().map_err(|_| error())?;
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        let is_plain = matches!(uri.path(), "" | "/")
            && uri.query().is_none()
            && !text.contains('#')
            && uri
                .authority()
                .is_some_and(|authority| is_host(authority.as_str()));
        if !is_web || !is_plain {
            return Err(error());
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<S: Sync> FromRequestParts<S> for PublicUrl {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let is_https = Origin::known(&parts.extensions).is_https;
        let configured = parts.extensions.get::<Self>().cloned();
        Ok(configured.unwrap_or_else(|| Self::of_request(&parts.headers, &parts.uri, is_https)))
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_configured_address_loses_its_last_slash_and_must_be_plain() {
        let url: PublicUrl = "https://pay.example.com:8443/".parse().unwrap();
        assert_eq!(
            url.join("/notifications"),
            "https://pay.example.com:8443/notifications"
        );
        assert!(url.is_https());
        for text in [
            "",
            "pay.example.com",
            "ftp://a",
            "https://",
            "https://user:secret@a",
            "https://a/shop",
            "https://a//",
            "https://a?b",
            "https://a#b",
            "https://a b",
            "https://a:b",
            "https://a:65536",
        ] {
            assert!(text.parse::<PublicUrl>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_forged_host_does_not_get_into_our_addresses() {
        let url = |host: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_bytes(host).unwrap());
            PublicUrl::of_request(&headers, &Uri::from_static("/x"), false).to_string()
        };
        assert_eq!(url(b"shop.example:8000"), "http://shop.example:8000");
        assert_eq!(url(b"[::1]:8000"), "http://[::1]:8000");
        for host in [
            &b"a/b"[..],
            b"a b",
            b"user@a",
            b"\"><script>",
            b"\xff",
            b"",
            b"a?b",
            b"a#b",
            b"a:b",
        ] {
            assert_eq!(url(host), "http://localhost", "{host:?}");
            let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_bytes(host).unwrap())]);
            assert!(!PublicUrl::can_name_host_of(&headers), "{host:?}");
        }
        for host in ["shop.example:8000", "[::1]:8000", "shop_inventory"] {
            let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))]);
            assert!(PublicUrl::can_name_host_of(&headers), "{host}");
        }
        assert!(PublicUrl::can_name_host_of(&HeaderMap::new()));
    }
}
