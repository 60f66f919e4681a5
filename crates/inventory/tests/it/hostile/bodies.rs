//! Bodies that are not a JSON object, or have another content type.

use axum::body::Body;
use http::{Request, header};
use serde_json::json;
use test_kit::{
    database::{Engine, run},
    on_both_engines,
};

use super::{Target, shop, stored, targets};
use crate::app::{Answer, TestApp, app_on_both_engines};

async fn send(app: &TestApp, target: &Target, content_type: Option<&str>, body: &[u8]) -> Answer {
    let mut request = Request::builder()
        .method(target.method.clone())
        .uri(target.path)
        .header(header::AUTHORIZATION, app.admin().authorization());
    if let Some(content_type) = content_type {
        request = request.header(header::CONTENT_TYPE, content_type);
    }
    app.call(request.body(Body::from(body.to_vec())).unwrap())
        .await
}

/// Bodies that are not JSON by the error, each with the place of the error in its only line.
const MALFORMED: &[(&str, &[(&str, usize)])] = &[
    (
        "Expecting property name enclosed in double quotes",
        &[
            ("{", 1),
            (r#"{"name":1,"#, 10),
            ("{name: 1}", 1),
            ("{'name': 1}", 1),
        ],
    ),
    (
        "Expecting ':' delimiter",
        &[(r#"{"name""#, 7), (r#"{"name" 1}"#, 8)],
    ),
    (
        "Expecting value",
        &[
            (r#"{"name":"#, 8),
            (r#"{"name": -}"#, 9),
            (r#"{"name": tru}"#, 9),
            ("name=Outra", 0),
            (" ", 1),
        ],
    ),
    (
        "Expecting ',' delimiter",
        &[
            (r#"{"name": 1.5e+}"#, 12),
            (r#"{"name": "Outra""#, 16),
            (r#"{"name": 01}"#, 10),
            (r#"{"name": 1.}"#, 10),
            (r#"{"name": "a" "b": 1}"#, 13),
        ],
    ),
    ("Extra data", &[("[[1],[2]] 3", 10), ("{} {}", 3)]),
    (
        "Unterminated string starting at",
        &[(r#"{"name": "b\"#, 9), (r#"{"name": "Outra"#, 9)],
    ),
    (
        "Invalid \\uXXXX escape",
        &[
            (r#"{"name": "\ud83d\u12"}"#, 17),
            (r#"{"name": "\u12"}"#, 11),
        ],
    ),
    (
        "Illegal trailing comma before end of object",
        &[(r#"{"name": "a",}"#, 12)],
    ),
    (
        "Illegal trailing comma before end of array",
        &[(r#"{"name": [1,]}"#, 11)],
    ),
    (
        "Invalid control character at",
        &[("{\"name\": \"a\nb\"}", 11)],
    ),
];

/// Other bodies that are not JSON, and their errors.
const MALFORMED_OTHERWISE: &[(&[u8], &str)] = &[
    (
        b"{\n\"name\" 1}",
        "Expecting ':' delimiter: line 2 column 8 (char 9)",
    ),
    (
        b"{\"name\": \"\xc3\xa9\n\"}",
        "Invalid control character at: line 1 column 12 (char 11)",
    ),
    (
        b"{\"name\": \"\\x\"}",
        "Invalid \\escape: line 1 column 11 (char 10)",
    ),
    (
        b"{\"name\": NaN}",
        "Out of range float values are not JSON compliant: 'NaN'",
    ),
    (
        b"{\"name\": Infinity}",
        "Out of range float values are not JSON compliant: 'Infinity'",
    ),
    (
        b"{\"name\": -Infinity}",
        "Out of range float values are not JSON compliant: '-Infinity'",
    ),
    (
        b"\xef\xbb\xbf{}",
        "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)",
    ),
    (
        b"{\"name\": \"\xff\"}",
        "'utf-8' codec can't decode byte 0xff in position 10: invalid start byte",
    ),
    (
        b"{\"name\": \"\xc3(\"}",
        "'utf-8' codec can't decode byte 0xc3 in position 10: invalid continuation byte",
    ),
];

on_both_engines!(
    a_body_that_is_no_json_is_refused_with_where_it_ends_to_be_json,
    async |address| {
        let app = shop(&address).await;
        let before = stored(&app).await;
        let in_one_line = MALFORMED.iter().flat_map(|(reason, bodies)| {
            bodies.iter().map(move |(body, at)| {
                let place = format!("line 1 column {} (char {at})", at + 1);
                (body.as_bytes(), format!("{reason}: {place}"))
            })
        });
        let others = MALFORMED_OTHERWISE.iter();
        let others = others.map(|(body, reason)| (*body, (*reason).to_owned()));
        let malformed: Vec<_> = in_one_line.chain(others).collect();
        for target in targets() {
            for (body, reason) in &malformed {
                let answer = send(&app, &target, Some("application/json"), body).await;
                let detail = format!("JSON parse error - {reason}");
                answer.is(400, &json!({"detail": detail}));
            }
        }
        assert_eq!(stored(&app).await, before);
    }
);

on_both_engines!(
    a_body_that_is_no_object_is_refused_with_what_it_is,
    async |address| {
        let app = shop(&address).await;
        let before = stored(&app).await;
        for target in targets() {
            for (body, kind) in [
                ("[]", "list"),
                ("[{}]", "list"),
                ("\"a\"", "str"),
                ("1", "int"),
                ("1.5", "float"),
                ("true", "bool"),
            ] {
                let message = format!("Invalid data. Expected a dictionary, but got {kind}.");
                send(&app, &target, Some("application/json"), body.as_bytes())
                    .await
                    .is(400, &json!({"non_field_errors": [message]}));
            }
            send(&app, &target, Some("application/json"), b"null")
                .await
                .is(400, &json!({"non_field_errors": ["No data provided"]}));
        }
        assert_eq!(stored(&app).await, before);
    }
);

#[test]
fn a_body_that_is_cut_anywhere_or_nested_too_deeply_is_refused_and_saves_nothing() {
    run(Engine::Sqlite, async |address| {
        let app = shop(&address).await;
        let before = stored(&app).await;
        for target in targets() {
            let whole = target.valid.to_string();
            for length in 1..whole.len() {
                let cut = &whole.as_bytes()[..length];
                let answer = send(&app, &target, Some("application/json"), cut).await;
                assert_eq!(answer.status, 400, "{}", String::from_utf8_lossy(cut));
            }
            for depth in [2_000, 100_000] {
                for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
                    let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
                    let field = target.fields[0].0;
                    let body = format!("{{\"{field}\":{deep}}}");
                    let answer = send(&app, &target, Some("application/json"), body.as_bytes());
                    assert_eq!(answer.await.status, 400, "{depth}");
                }
            }
        }
        assert_eq!(stored(&app).await, before);
    });
}

on_both_engines!(
    a_body_of_another_content_type_or_size_is_refused,
    async |address| {
        let app = shop(&address).await;
        let before = stored(&app).await;
        for target in targets() {
            let whole = target.valid.to_string();
            for content_type in [
                "text/plain",
                "application/xml",
                "application/vnd.api+json",
                "application/merge-patch+json",
                "application/x-www-form-urlencoded",
                "multipart/form-data",
                "garbage",
            ] {
                let detail = format!("Unsupported media type \"{content_type}\" in request.");
                send(&app, &target, Some(content_type), whole.as_bytes())
                    .await
                    .is(415, &json!({"detail": detail}));
            }
            send(&app, &target, None, whole.as_bytes()).await.is(
                415,
                &json!({"detail": "Unsupported media type \"\" in request."}),
            );
            let large = format!("{{\"x\":\"{}\"}}", "a".repeat(1 << 20));
            let answer = send(&app, &target, Some("application/json"), large.as_bytes()).await;
            assert_eq!(answer.status, 413, "{answer:?}");
            assert!(!answer.header("allow").is_empty() && !answer.header("vary").is_empty());
            // The size is the last check: of a declared body as of any other.
            let size = large.len().to_string();
            let declared = [("content-length", size.as_str())];
            let body = || Some(large.clone());
            for (client, status) in [(app.anonymous(), 401), (app.viewer(), 403)] {
                let refused =
                    client.send_with(target.method.clone(), target.path, body(), &declared);
                assert_eq!(refused.await.status, status);
            }
        }
        assert_eq!(stored(&app).await, before);
    }
);

on_both_engines!(no_body_lacks_every_required_field, async |address| {
    let app = shop(&address).await;
    let before = stored(&app).await;
    for target in targets() {
        for body in ["", "{}"] {
            let answer = send(&app, &target, Some("application/json"), body.as_bytes()).await;
            if target.method == http::Method::PATCH {
                // PATCH requires no field, so none is missing.
                assert_eq!(answer.status, 200, "{answer:?}");
                continue;
            }
            let is_required = |name: &str| target.valid.as_object().unwrap().contains_key(name);
            let missing: serde_json::Map<_, _> = target
                .fields
                .iter()
                .filter(|(name, _)| is_required(name))
                .map(|(name, _)| ((*name).to_owned(), json!(["This field is required."])))
                .collect();
            answer.is(400, &json!(missing));
        }
    }
    assert_eq!(stored(&app).await, before);
});

app_on_both_engines!(
    a_form_of_more_fields_than_any_page_has_is_refused_unread,
    async |app| {
        let manager = app.logged_in("manager").await;
        let names: Vec<String> = (0..5_000).map(|number| format!("q{number}")).collect();
        let fields: Vec<_> = names.iter().map(|name| (name.as_str(), "1")).collect();
        for path in ["/counts/new/", "/brands/new/"] {
            assert_eq!(manager.submit(path, &fields).await.status, 413, "{path}");
        }
        let fewer = manager.submit("/brands/new/", &fields[1..]).await;
        assert_eq!(fewer.status, 422, "{fewer:?}");
    }
);
