//! Whether a request that changes something comes from a page of ours, by the headers that browsers
//! send.

use http::{
    header::{ORIGIN, REFERER},
    request::Parts,
};

use super::{Origin, PublicUrl, public_url::requested_host};

/// A request from another site.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForeignOrigin {
    /// The browser names it.
    #[error("Origin checking failed - {0} does not match any trusted origins.")]
    Named(String),
    /// The browser says that it is another one.
    #[error("Origin checking failed - the request comes from another site.")]
    Unnamed,
}

/// Checks the origin that the browser sends. Programs send none, and pass.
pub fn check_origin(parts: &Parts) -> Result<(), ForeignOrigin> {
    if let Some(origin) = parts.headers.get(ORIGIN) {
        let origin = String::from_utf8_lossy(origin.as_bytes());
        return if is_ours(&origin, parts) {
            Ok(())
        } else {
            Err(ForeignOrigin::Named(origin.chars().take(200).collect()))
        };
    }
    match parts.headers.get("sec-fetch-site") {
        Some(site) if site != "same-origin" && site != "none" => Err(ForeignOrigin::Unnamed),
        _ => Ok(()),
    }
}

/// The path and query of the page of ours that the request comes from, by its `Referer`.
pub fn referring_path(parts: &Parts) -> Option<&str> {
    let referrer = parts.headers.get(REFERER)?.to_str().ok()?;
    let origin = origin_of(referrer).filter(|origin| is_ours(origin, parts))?;
    referrer.strip_prefix(origin)
}

/// The configured address, or the host that the request itself goes to. A proxy may use HTTPS and
/// not report it.
fn is_ours(origin: &str, parts: &Parts) -> bool {
    let configured = parts.extensions.get::<PublicUrl>();
    if configured.is_some_and(|url| origin_of(url.as_str()) == Some(origin)) {
        return true;
    }
    let host = requested_host(&parts.headers, &parts.uri);
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
    fn only_a_page_of_ours_is_the_one_that_a_request_comes_from() {
        let referring = |referrer: &str| {
            let request = Request::builder()
                .header("host", "shop.example")
                .header("referer", referrer);
            let (parts, ()) = request.body(()).unwrap().into_parts();
            referring_path(&parts).map(str::to_owned)
        };
        let ours = referring("https://shop.example/products/?page=2");
        assert_eq!(ours.as_deref(), Some("/products/?page=2"));
        for other in [
            "https://evil.example/products/",
            "https://shop.example.evil.example/",
            "/products/",
            "",
        ] {
            assert_eq!(referring(other), None, "{other}");
        }
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
        let public = Some("https://stock.example");
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
