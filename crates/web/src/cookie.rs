//! Reading and writing cookies, for languages, colour schemes and sessions.

use std::borrow::Cow;
use std::time::Duration;

use axum::response::Response;
use http::HeaderMap;
use http::header::{COOKIE, HeaderValue, SET_COOKIE};
use http::request::Parts;

use crate::client::Origin;

/// The prefix of cookies that browsers accept only from the host itself, over HTTPS, for all its
/// paths.
const HOST_PREFIX: &str = "__Host-";

/// The value of the first cookie of that name.
pub fn find<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))
}

/// The cookies of a request by their names as [`host_only`] writes them.
#[derive(Clone, Copy, Debug)]
pub struct HostOnly<'a> {
    headers: &'a HeaderMap,
    is_https: bool,
}

impl<'a> HostOnly<'a> {
    /// The cookies of a request.
    pub fn of(parts: &'a Parts) -> Self {
        Self::new(&parts.headers, Origin::known(&parts.extensions).is_https)
    }

    /// The cookies of a request with these headers and this scheme.
    pub const fn new(headers: &'a HeaderMap, is_https: bool) -> Self {
        Self { headers, is_https }
    }

    /// The value of the first cookie of that name. Over HTTPS a cookie without the prefix is
    /// ignored: another host of the domain may have set it.
    pub fn find(self, name: &'static str) -> Option<&'a str> {
        find(self.headers, &host_only(name, self.is_https))
    }
}

/// The name of a cookie that no other host of the domain can set. Over HTTPS browsers guarantee
/// that for names that begin with `__Host-` (RFC 6265bis, section 4.1.3.2).
pub fn host_only(name: &'static str, is_https: bool) -> Cow<'static, str> {
    if is_https {
        format!("{HOST_PREFIX}{name}").into()
    } else {
        name.into()
    }
}

/// A `Set-Cookie` value for a choice of the reader: kept for `lifetime`, sent on same-site requests
/// and top-level visits, not readable by scripts.
///
/// `None` when the value holds a character that a cookie may not.
pub fn remember(name: &str, value: &str, lifetime: Duration, secure: bool) -> Option<HeaderValue> {
    line(name, value, Some(lifetime), "; HttpOnly", secure)
}

/// As [`remember`], until the browser is closed.
pub fn keep(name: &str, value: &str, secure: bool) -> Option<HeaderValue> {
    line(name, value, None, "; HttpOnly", secure)
}

/// As [`remember`], and readable by our scripts: for values that they send back in a header.
pub fn show(name: &str, value: &str, lifetime: Duration, secure: bool) -> Option<HeaderValue> {
    line(name, value, Some(lifetime), "", secure)
}

/// A `Set-Cookie` value that deletes a cookie of ours.
pub fn forget(name: &str, secure: bool) -> Option<HeaderValue> {
    line(name, "", Some(Duration::ZERO), "; HttpOnly", secure)
}

/// Adds a `Set-Cookie` value, if there is one, to a response.
pub fn add(response: &mut Response, line: Option<HeaderValue>) {
    if let Some(line) = line {
        response.headers_mut().append(SET_COOKIE, line);
    }
}

fn line(
    name: &str,
    value: &str,
    lifetime: Option<Duration>,
    who_reads: &str,
    secure: bool,
) -> Option<HeaderValue> {
    let is_safe = value
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte));
    let suffix = if secure { "; Secure" } else { "" };
    let lifetime = lifetime.map(|lifetime| format!("; Max-Age={}", lifetime.as_secs()));
    let lifetime = lifetime.unwrap_or_default();
    let line = format!("{name}={value}; Path=/{lifetime}{who_reads}; SameSite=Lax{suffix}");
    is_safe.then(|| HeaderValue::from_str(&line).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_among_others_and_in_several_lines() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=1; bb=2;c=3=3"));
        headers.append(COOKIE, HeaderValue::from_static("broken; d="));
        assert_eq!(find(&headers, "bb"), Some("2"));
        assert_eq!(find(&headers, "c"), Some("3=3"));
        assert_eq!(find(&headers, "d"), Some(""));
        assert_eq!(find(&headers, "b"), None);
    }

    #[test]
    fn over_https_a_cookie_of_the_host_has_a_name_that_nobody_else_can_set() {
        let planted = HeaderValue::from_static("sessionid=planted");
        let mut headers = HeaderMap::from_iter([(COOKIE, planted)]);
        assert_eq!(
            HostOnly::new(&headers, false).find("sessionid"),
            Some("planted")
        );
        assert_eq!(HostOnly::new(&headers, true).find("sessionid"), None);
        headers.append(COOKIE, HeaderValue::from_static("__Host-sessionid=ours"));
        assert_eq!(
            HostOnly::new(&headers, true).find("sessionid"),
            Some("ours")
        );
    }

    #[test]
    fn a_value_that_would_break_the_header_is_refused() {
        let day = Duration::from_secs(86_400);
        let line = remember("choice", "en", day, true).unwrap();
        assert_eq!(
            line,
            "choice=en; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax; Secure"
        );
        let shown = show("token", "ab", day, false).unwrap();
        assert_eq!(shown, "token=ab; Path=/; Max-Age=86400; SameSite=Lax");
        let kept = keep("choice", "en", false).unwrap();
        assert_eq!(kept, "choice=en; Path=/; HttpOnly; SameSite=Lax");
        let forgotten = forget("choice", false).unwrap();
        assert_eq!(
            forgotten,
            "choice=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"
        );
        for value in ["a;b", "a b", "a\r\nX: y", "é"] {
            assert_eq!(remember("choice", value, day, false), None, "{value:?}");
        }
    }
}
