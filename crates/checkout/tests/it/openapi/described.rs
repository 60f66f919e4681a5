//! Tests of the check itself: it accepts responses that the document describes, and no others.

use http::HeaderMap;

use super::assert_described;

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
