//! Reading and writing cookies: the few lines that languages, colour schemes and sessions share.

use std::time::Duration;

use http::HeaderMap;
use http::header::{COOKIE, HeaderValue};

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

/// A `Set-Cookie` value for a choice of the reader: kept for `lifetime`, sent on same-site requests and top-level visits, not readable by scripts.
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

/// A `Set-Cookie` value that makes the browser forget a cookie of ours.
pub fn forget(name: &str, secure: bool) -> Option<HeaderValue> {
    line(name, "", Some(Duration::ZERO), "; HttpOnly", secure)
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
