//! Holds a response against the document.

use http::HeaderMap;
use serde_json::Value;

use super::{DOCUMENT, assert_valid, object, resolved};

/// Headers that belong to HTTP, to browsers or to the server rather than to this API.
const GENERAL: [&str; 25] = [
    "allow",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-length",
    "content-security-policy",
    "content-type",
    "cross-origin-embedder-policy",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "date",
    "etag",
    "last-modified",
    "location",
    "permissions-policy",
    "pragma",
    "referrer-policy",
    "strict-transport-security",
    "transfer-encoding",
    "vary",
    "x-content-type-options",
    "x-frame-options",
    "x-permitted-cross-domain-policies",
    "x-robots-tag",
];

/// Fails unless the document describes this response: its status, its headers, its content type and its body.
pub(crate) fn assert_described(
    method: &str,
    path: &str,
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
) {
    let what = format!("{method} {path} {status}");
    let path = path.split('?').next().unwrap_or_default();
    let Some(item) = find(path) else {
        assert_eq!(
            status, 404,
            "{what}: an address that the document does not have"
        );
        return assert_error(&what, body);
    };
    let method = method.to_lowercase();
    let asked = if method == "head" {
        "get"
    } else {
        method.as_str()
    };
    let Some(operation) = item.get(asked) else {
        assert_eq!(
            status, 405,
            "{what}: a method that the document does not have"
        );
        assert!(headers.contains_key("allow"), "{what}: no Allow");
        // What goes wrong with a page is a page.
        if path != "/" || !is_html(headers) {
            assert_error(&what, body);
        }
        return;
    };
    let responses = &operation["responses"];
    let response = responses
        .get(status.to_string())
        .or_else(|| responses.get("default").filter(|_| status >= 400));
    let response =
        resolved(response.unwrap_or_else(|| {
            panic!("{what} is not described: {}", String::from_utf8_lossy(body))
        }));
    assert_headers(&what, response, headers);
    if method != "head" {
        assert_body(&what, response, headers, body);
    }
}

/// The path item whose template has the address.
fn find(path: &str) -> Option<&'static Value> {
    let fits = |template: &str| {
        let (asked, known): (Vec<_>, Vec<_>) =
            (path.split('/').collect(), template.split('/').collect());
        let fits = |(asked, known): (&&str, &&str)| {
            if known.starts_with('{') {
                !asked.is_empty()
            } else {
                asked == known
            }
        };
        asked.len() == known.len() && asked.iter().zip(&known).all(fits)
    };
    object(&DOCUMENT["paths"])
        .iter()
        .find(|(template, _)| fits(template))
        .map(|(_, item)| item)
}

fn is_html(headers: &HeaderMap) -> bool {
    headers
        .get("content-type")
        .is_some_and(|value| value == "text/html; charset=utf-8")
}

fn assert_error(what: &str, body: &[u8]) {
    let body: Value =
        serde_json::from_slice(body).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_valid(
        &serde_json::json!({"$ref": "#/components/schemas/Error"}),
        &body,
        what,
    );
}

fn assert_headers(what: &str, response: &'static Value, headers: &HeaderMap) {
    let described = response.get("headers").map(object);
    let find = |name: &str| {
        described?
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, header)| resolved(header))
    };
    for (name, value) in headers {
        let name = name.as_str();
        let text = value.to_str().unwrap();
        match find(name) {
            Some(header) => {
                let number = text.parse::<u64>().map(Value::from);
                let is_number = header["schema"]["type"] == "integer";
                let value = number
                    .ok()
                    .filter(|_| is_number)
                    .unwrap_or_else(|| text.into());
                assert_valid(&header["schema"], &value, &format!("{what}: header {name}"));
            }
            None => {
                assert!(
                    GENERAL.contains(&name),
                    "{what}: header {name} is not described"
                );
            }
        }
    }
    for (name, header) in described.into_iter().flatten() {
        let is_required = resolved(header)["required"] == true;
        assert!(
            !is_required || headers.contains_key(name),
            "{what}: header {name} is missing"
        );
    }
}

fn assert_body(what: &str, response: &'static Value, headers: &HeaderMap, body: &[u8]) {
    let Some(content) = response.get("content").map(object) else {
        return assert!(body.is_empty(), "{what}: a body that is not described");
    };
    let content_type = headers
        .get("content-type")
        .map_or("", |value| value.to_str().unwrap());
    let media = content
        .get(content_type)
        .unwrap_or_else(|| panic!("{what}: content type {content_type:?} is not described"));
    let value = if content_type == "application/json" {
        serde_json::from_slice(body).unwrap_or_else(|error| panic!("{what}: {error}"))
    } else {
        Value::from(std::str::from_utf8(body).unwrap())
    };
    assert_valid(&media["schema"], &value, what);
}

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let common = [("content-type", "application/json"), ("x-request-id", "1")];
    let all = common.iter().chain(pairs);
    all.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect()
}

const HEALTHY: &[u8] = br#"{"status":"healthy","service":"checkout","version":"1.0.0"}"#;

#[test]
fn a_described_response_passes() {
    assert_described(
        "GET",
        "/health",
        200,
        &headers(&[("vary", "accept")]),
        HEALTHY,
    );
    assert_described("HEAD", "/health", 200, &headers(&[]), b"");
    let error = br#"{"detail":"Not Found","status_code":404,"timestamp":"2026-11-20T12:00:00Z"}"#;
    assert_described("GET", "/nowhere?a=b", 404, &headers(&[]), error);
    let error =
        br#"{"detail":"Method Not Allowed","status_code":405,"timestamp":"2026-11-20T12:00:00Z"}"#;
    assert_described(
        "DELETE",
        "/payments/1",
        405,
        &headers(&[("allow", "GET,HEAD,PUT")]),
        error,
    );
}

#[test]
#[should_panic(expected = "is not described")]
fn a_status_that_the_document_does_not_have_fails() {
    assert_described("GET", "/health", 201, &headers(&[]), HEALTHY);
}

#[test]
#[should_panic(expected = "Additional properties are not allowed")]
fn a_member_that_the_document_does_not_have_fails() {
    let body = br#"{"status":"healthy","service":"checkout","version":"1.0.0","more":1}"#;
    assert_described("GET", "/health", 200, &headers(&[]), body);
}

#[test]
#[should_panic(expected = "header x-more is not described")]
fn a_header_that_the_document_does_not_have_fails() {
    assert_described("GET", "/health", 200, &headers(&[("x-more", "1")]), HEALTHY);
}

#[test]
#[should_panic(expected = "header X-Payment-Status-Token is missing")]
fn a_required_header_that_is_missing_fails() {
    assert_described("POST", "/create_payment", 200, &headers(&[]), b"{}");
}
