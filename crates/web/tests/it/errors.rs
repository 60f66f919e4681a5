//! Every failure of a request is answered in the format of its router, without internal details.

use std::time::Duration;
use test_kit::html::has;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{any, get, post};
use axum::{Json, Router};
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use test_kit::logs::Logs;
use tower::ServiceExt;
use web::errors::{self, ForReaders, Pages, Renderer, RestErrors, TimestampedErrors};
use web::{Error, limits, panics};

use crate::support::{Running, clock, in_stack, stack};

#[derive(Debug, thiserror::Error)]
#[error("the ledger is out of balance")]
struct Outer(#[source] Inner);

#[derive(Debug, thiserror::Error)]
#[error("password=hunter2 refused by 10.1.2.3")]
struct Inner;

fn routes() -> Router {
    Router::new()
        .route("/ok", get(async || "ok"))
        .route("/json", post(async |Json(body): Json<Value>| Json(body)))
        .route(
            "/number/{id}",
            get(async |Path(id): Path<u32>| id.to_string()),
        )
        .route("/body", post(async |body: Bytes| body.len().to_string()))
        .route("/internal", get(async || Error::internal(Outer(Inner))))
        .route(
            "/bad-gateway",
            get(async || Error::new(StatusCode::BAD_GATEWAY, "Erro PROVIDER 401").cause(Inner)),
        )
        .route(
            "/panic",
            get(async || -> Response { panic!("secret {} of the house", "4111 1111 1111 1111") }),
        )
        .route(
            "/field",
            get(async || {
                Error::new(StatusCode::BAD_REQUEST, "Invalid amount")
                    .field("transaction_amount")
                    .extra("hint", 1)
            }),
        )
        .route(
            "/fields",
            get(async || {
                Error::new(StatusCode::BAD_REQUEST, "")
                    .messages("name", vec!["Required.".to_owned()])
                    .messages("age", vec!["Required.".to_owned()])
            }),
        )
        .route(
            "/array",
            get(async || {
                Error::new(StatusCode::BAD_REQUEST, "").body(&["Null characters are not allowed."])
            }),
        )
        .route(
            "/header",
            get(async || {
                Error::new(StatusCode::UNAUTHORIZED, "Who?")
                    .header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
            }),
        )
        .route(
            "/own",
            get(async || {
                (
                    StatusCode::UNPROCESSABLE_ENTITY,
                    [(CONTENT_TYPE, "text/html")],
                    "<p>the form again</p>",
                )
            }),
        )
        .route("/slow", any(async || std::future::pending::<&str>().await))
}

async fn call(
    router: &Router,
    method: &str,
    path: &str,
    body: impl Into<Body>,
) -> (StatusCode, http::HeaderMap, String) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(CONTENT_TYPE, "application/json")
        .body(body.into())
        .unwrap();
    let (parts, body) = router.clone().oneshot(request).await.unwrap().into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    (
        parts.status,
        parts.headers,
        String::from_utf8(bytes.to_vec()).unwrap(),
    )
}

async fn json_of(router: &Router, method: &str, path: &str, body: impl Into<Body>) -> Value {
    let (status, headers, body) = call(router, method, path, body).await;
    assert_eq!(headers[CONTENT_TYPE], "application/json", "{path}: {body}");
    let mut json: Value = serde_json::from_str(&body).unwrap();
    json["status"] = status.as_u16().into();
    json
}

#[tokio::test]
async fn errors_of_every_origin_have_the_detailed_shape() {
    let router = in_stack(routes().layer(from_fn_with_state(16, limits::body)));
    let shape = |status: u16, detail: &str| json!({"detail": detail, "status_code": status, "timestamp": "2026-11-20T12:00:00.000000Z", "status": status});
    let cases = [
        ("GET", "/missing", "", 404, "Not Found"),
        ("DELETE", "/ok", "", 405, "Method Not Allowed"),
        ("GET", "/number/abc-secret", "", 400, "Bad Request"),
        ("POST", "/json", "{not json 4111", 400, "Bad Request"),
        (
            "POST",
            "/body",
            "more than sixteen bytes",
            413,
            "Payload Too Large",
        ),
        ("GET", "/internal", "", 500, "Internal server error"),
        ("GET", "/bad-gateway", "", 502, "Erro PROVIDER 401"),
        ("GET", "/panic", "", 500, "Internal server error"),
    ];
    for (method, path, body, status, detail) in cases {
        assert_eq!(
            json_of(&router, method, path, body).await,
            shape(status, detail),
            "{path}"
        );
    }
    let mut expected = shape(400, "Invalid amount");
    expected["field"] = "transaction_amount".into();
    expected["hint"] = 1.into();
    assert_eq!(json_of(&router, "GET", "/field", "").await, expected);
}

#[tokio::test]
async fn errors_have_the_conventional_shape_where_the_service_says_so() {
    let router = stack().around(routes(), RestErrors);
    let cases = [
        (
            "DELETE",
            "/ok",
            json!({"detail": "Method \"DELETE\" not allowed.", "status": 405}),
        ),
        (
            "GET",
            "/fields",
            json!({"name": ["Required."], "age": ["Required."], "status": 400}),
        ),
        (
            "GET",
            "/internal",
            json!({"detail": "Internal server error", "status": 500}),
        ),
        (
            "GET",
            "/missing",
            json!({"detail": "Not found.", "status": 404}),
        ),
    ];
    for (method, path, expected) in cases {
        assert_eq!(json_of(&router, method, path, "").await, expected, "{path}");
    }
    let (_, _, body) = call(&router, "GET", "/array", "").await;
    assert_eq!(body, r#"["Null characters are not allowed."]"#);
}

#[tokio::test]
async fn members_of_a_body_stand_in_the_order_in_which_they_were_added() {
    let conventional = stack().around(routes(), RestErrors);
    let (_, _, body) = call(&conventional, "GET", "/fields", "").await;
    assert_eq!(body, r#"{"name":["Required."],"age":["Required."]}"#);
    let (_, _, body) = call(&in_stack(routes()), "GET", "/field", "").await;
    let places = ["detail", "status_code", "timestamp", "field", "hint"]
        .map(|member| body.find(&format!("\"{member}\":")).unwrap());
    assert!(places.is_sorted(), "{body}");
}

#[tokio::test]
async fn headers_of_the_answer_survive_its_rendering() {
    let router = in_stack(routes());
    let (_, headers, _) = call(&router, "POST", "/ok", "").await;
    assert_eq!(headers[ALLOW], "GET,HEAD");
    let (_, headers, _) = call(&router, "GET", "/header", "").await;
    assert_eq!(headers[WWW_AUTHENTICATE], "Bearer");
}

#[tokio::test]
async fn an_answer_that_a_handler_wrote_itself_is_left_alone() {
    let (status, _, body) = call(&in_stack(routes()), "GET", "/own", "").await;
    assert_eq!(
        (status.as_u16(), body.as_str()),
        (422, "<p>the form again</p>")
    );
}

#[tokio::test]
async fn pages_say_what_happened_in_the_readers_language() {
    let assets = web::assets::Assets::shared();
    let router = stack().around(routes(), Pages::new(assets));
    for path in ["/missing", "/internal", "/bad-gateway", "/panic"] {
        let (_, headers, body) = call(&router, "GET", path, "").await;
        assert_eq!(headers[CONTENT_TYPE], "text/html; charset=utf-8");
        test_kit::html::check(&body);
        assert!(
            !body.contains("hunter2") && !body.contains("ledger"),
            "{body}"
        );
        let id = headers["x-request-id"].to_str().unwrap();
        assert!(body.contains(id), "the page shows {id}: {body}");
    }
    let (_, _, body) = call(&router, "GET", "/missing", "").await;
    assert!(body.contains("<h1>Página não encontrada</h1>"), "{body}");
    let (_, _, body) = call(&router, "GET", "/missing?lang=en", "").await;
    assert!(body.contains("<h1>Page not found</h1>"), "{body}");
}

#[tokio::test]
async fn browsers_get_a_page_that_may_load_its_styles_and_programs_what_they_read() {
    const BROWSER: &str = "text/html,application/xhtml+xml,*/*;q=0.8";
    let pages = Pages::new(web::assets::Assets::shared());
    let router = stack().around(routes(), ForReaders::new(pages, RestErrors));
    let ask = async |method: &str, path: &str, accept: &str| {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(ACCEPT, accept).body(Body::empty()).unwrap();
        let (parts, body) = router.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let policy = parts.headers["content-security-policy"].to_str().unwrap();
        (parts.status.as_u16(), policy.to_owned(), body)
    };
    for (method, path, status, title) in [
        ("GET", "/missing", 404, "Página não encontrada"),
        ("GET", "/body", 405, "Esta página não pode ser aberta assim"),
        ("GET", "/panic", 500, "Algo deu errado do nosso lado"),
    ] {
        let (seen, policy, body) = ask(method, path, BROWSER).await;
        let body = String::from_utf8(body.to_vec()).unwrap();
        assert_eq!(seen, status, "{path}");
        assert!(body.contains(&format!("<h1>{title}</h1>")), "{body}");
        assert!(policy.contains("style-src 'self'"), "{policy}");
        for accept in ["*/*", "application/json"] {
            let (seen, policy, body) = ask(method, path, accept).await;
            assert_eq!(seen, status, "{path}");
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert!(body["detail"].is_string(), "{body}");
            assert!(!policy.contains("style-src"), "{policy}");
        }
    }
}

#[tokio::test]
async fn each_router_of_a_service_answers_in_its_own_shape_and_the_rest_in_the_edges() {
    let fails = || get(async || Error::new(StatusCode::CONFLICT, "Taken"));
    let assets = web::assets::Assets::shared();
    let pages = Router::new()
        .route("/page", fails())
        .layer(from_fn_with_state(
            Renderer::new(Pages::new(assets)),
            errors::render,
        ));
    let api = Router::new()
        .route("/api", fails())
        .layer(from_fn_with_state(
            Renderer::new(RestErrors),
            errors::render,
        ));
    let router = in_stack(
        Router::new()
            .merge(pages)
            .merge(api)
            .route("/other", fails()),
    );
    let (_, headers, _) = call(&router, "GET", "/page", "").await;
    assert_eq!(headers[CONTENT_TYPE], "text/html; charset=utf-8");
    assert_eq!(
        json_of(&router, "GET", "/api", "").await,
        json!({"detail": "Taken", "status": 409})
    );
    for path in ["/other", "/missing"] {
        assert!(
            json_of(&router, "GET", path, "").await["timestamp"].is_string(),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_fault_is_logged_once_with_its_causes_and_shown_without() {
    let (logs, guard) = Logs::of_this_thread();
    let router = in_stack(routes());
    let (status, headers, body) = call(&router, "GET", "/internal", "").await;
    drop(guard);
    assert_eq!(status, 500);
    has(&body, &["\"detail\":\"Internal server error\""]);
    let text = logs.text();
    let lines: Vec<_> = text.lines().filter(|line| line.contains("ERROR")).collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert!(
        lines[0].contains("the ledger is out of balance: password=hunter2 refused by 10.1.2.3"),
        "{}",
        lines[0]
    );
    assert!(
        lines[0].contains(headers["x-request-id"].to_str().unwrap()),
        "{}",
        lines[0]
    );
    assert!(
        !body.contains("ledger") && !body.contains("hunter2"),
        "{body}"
    );
}

#[tokio::test]
async fn a_panic_is_logged_with_its_place_and_without_long_numbers_and_the_server_goes_on() {
    panics::install_hook();
    let (logs, guard) = Logs::of_this_thread();
    let router = in_stack(routes());
    for _ in 0..2 {
        let (status, _, body) = call(&router, "GET", "/panic", "").await;
        assert_eq!(status, 500);
        assert!(!body.contains("secret"), "{body}");
    }
    // Restores the usual hook for the other tests of this process.
    let _ = std::panic::take_hook();
    drop(guard);
    let text = logs.text();
    assert_eq!(text.matches("ERROR").count(), 2, "{text}");
    has(&text, &["panicked at crates/web/tests/it/errors.rs:"]);
    has(&text, &["secret **** **** **** **** of the house"]);
}

#[tokio::test]
async fn what_a_request_said_is_neither_answered_nor_logged() {
    let (logs, guard) = Logs::of_this_thread();
    let router = in_stack(routes());
    let (_, _, first) = call(
        &router,
        "POST",
        "/json?token=topsecret",
        "{\"a\": 4111111111111111",
    )
    .await;
    let (_, _, second) = call(&router, "GET", "/number/4111111111111111", "").await;
    drop(guard);
    for text in [first, second, logs.text()] {
        assert!(
            !text.contains("topsecret") && !text.contains("41111111"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_slow_handler_answers_503_and_a_slow_caller_408() {
    let short = from_fn_with_state(Duration::from_millis(50), limits::timeout);
    let router = in_stack(routes().layer(short));
    assert_eq!(
        json_of(&router, "GET", "/slow", "").await["detail"],
        "Service unavailable"
    );
    assert_eq!(
        json_of(&router, "POST", "/slow", "{}").await["detail"],
        "Service unavailable",
        "nobody has begun to read what the caller sends"
    );
    let server = Running::start(router).await;
    let answer = server
        .say(b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")
        .await;
    assert!(
        answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"),
        "{answer}"
    );
    has(&answer, &["\"detail\":\"Request Timeout\""]);
}

#[tokio::test]
async fn an_error_without_the_layer_is_still_json() {
    let json = json_of(&routes(), "GET", "/field", "").await;
    assert_eq!(json, json!({"detail": "Invalid amount", "status": 400}));
    let _ = TimestampedErrors::new(clock());
}
