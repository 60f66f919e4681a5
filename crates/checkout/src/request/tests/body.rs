//! Content type and body, before any member is checked.

use super::*;

#[test]
fn only_json_in_utf8_is_a_content_type() {
    let body = pix().to_string();
    for good in [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=\"UTF-8\"",
        "application/json; profile=x",
    ] {
        assert!(check(Some(good), body.as_bytes(), now()).is_ok(), "{good}");
    }
    for bad in [
        None,
        Some(""),
        Some("text/json"),
        Some("application/x-www-form-urlencoded"),
        Some("application/json; charset=latin1"),
        Some("application/jsonp"),
        Some("application/problem+json"),
        Some("; application/json"),
    ] {
        let (status, detail, field) = answer(check(bad, body.as_bytes(), now()));
        assert_eq!(
            (status, detail.as_str(), field),
            (
                422,
                "Validation error: Content-Type: must be application/json",
                None
            ),
            "{bad:?}"
        );
    }
}

#[test]
fn a_body_that_is_no_json_object_is_a_validation_error() {
    let malformed = (422, "Validation error: body: must be valid JSON".to_owned());
    for body in [
        "",
        " ",
        "{",
        "{\"a\":}",
        "{\"payment_method\":\"pix\"",
        "nonsense",
        "{\"a\":NaN}",
        "{\"a\":1,}",
        "{\"a\":'b'}",
        "{} {}",
        "{\"a\":\"\n\"}",
        "\u{feff}{}",
    ] {
        assert_eq!(refused_body(body.as_bytes()), malformed, "{body}");
    }
    let other = (
        422,
        "Validation error: body: must be a JSON object".to_owned(),
    );
    for body in [
        "[]",
        "null",
        "1",
        "\"card\"",
        "true",
        "[{\"payment_method\":\"pix\"}]",
    ] {
        assert_eq!(refused_body(body.as_bytes()), other, "{body}");
    }
    assert_eq!(
        refused_body(b"{\"a\":\"\xff\"}"),
        (422, "Validation error: body: must be UTF-8".to_owned())
    );
    assert_eq!(
        refused_body(b"\xff\xfe{\x00}\x00"),
        (422, "Validation error: body: must be UTF-8".to_owned())
    );
}

#[test]
fn a_member_given_twice_is_refused_however_it_is_written() {
    for twice in [
        r#"{"payment_method":"pix","payment_method":"card"}"#,
        r#"{"payment_method":"pix","payment\u005fmethod":"pix"}"#,
        r#"{"x":1,"x":1}"#,
    ] {
        assert_eq!(
            refused_body(twice.as_bytes()),
            (
                422,
                "Validation error: body: must not have a member twice".to_owned()
            )
        );
    }
}

#[test]
fn half_a_surrogate_pair_is_refused() {
    let body = pix().to_string().replace("Coffee", "\\ud83d");
    assert_eq!(
        refused_body(body.as_bytes()),
        (
            422,
            "Validation error: body: must be valid Unicode".to_owned()
        )
    );
    let body = pix().to_string().replace("Coffee", "\\ud83d\\ude00");
    assert_eq!(
        check(JSON, body.as_bytes(), now()).unwrap().description,
        "😀"
    );
}

#[test]
fn deep_nesting_is_refused_like_any_other_wrong_type() {
    let depth = 30_000;
    let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(
        refused_body(nested.as_bytes()).1,
        "Validation error: body: must be a JSON object"
    );
    let body = pix().to_string().replace("\"Coffee\"", &nested);
    let (status, detail, _) = answer(check(JSON, body.as_bytes(), now()));
    assert_eq!(
        (status, detail.as_str()),
        (422, "Validation error: description: must be a string")
    );
    let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let body = pix().to_string().replace("\"Coffee\"", &objects);
    assert_eq!(
        answer(check(JSON, body.as_bytes(), now())).1,
        "Validation error: description: must be a string"
    );
    assert_eq!(
        refused_body("{\"a\":".repeat(depth).as_bytes()).1,
        "Validation error: body: must be valid JSON"
    );
}

#[tokio::test]
async fn a_body_is_read_up_to_its_limit() {
    let body = || axum::body::Body::from(vec![b'x'; 100]);
    assert_eq!(read_body(body(), 100).await.unwrap().len(), 100);
    assert_eq!(
        read_body(body(), 99).await.unwrap_err(),
        Refusal::too_large()
    );
}

#[tokio::test]
async fn a_body_that_says_it_is_too_long_is_refused_before_it_comes() {
    let endless = axum::body::Body::new(Declared(101));
    let refused = read_body(endless, 100).await.unwrap_err();
    assert_eq!(refused.status.as_u16(), 413);
}

/// A body that declares its length and never arrives.
struct Declared(u64);

impl axum::body::HttpBody for Declared {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        panic!("it was read");
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.0)
    }
}
