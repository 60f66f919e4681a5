//! Pages, preferences, security headers, liveness, metrics.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use askama::Template;
use axum::Router;
use axum::extract::FromRef;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::Html;
use axum::routing::get;
use web::assets::Assets;
use web::errors::TimestampedErrors;
use web::metrics::Metrics;
use web::page::{Layout, Page};
use web::security::{self, Policy};
use web::server::Shutdown;
use web::{HttpStack, Supervisor, compression, health, locale};

use crate::support::{Running, clock, in_stack, stack};

#[derive(Clone)]
struct Shop {
    assets: Assets,
}

impl FromRef<Shop> for Assets {
    fn from_ref(shop: &Shop) -> Self {
        shop.assets.clone()
    }
}

#[derive(Template)]
#[template(
    source = r#"{% extends "base.html" %}{% block content %}<h1>{{ layout.text("Olá", "Hello") }} {{ name }}</h1>{% endblock %}"#,
    ext = "html"
)]
struct Hello {
    layout: Layout,
    name: &'static str,
}

async fn hello(layout: Layout) -> Page<Hello> {
    Page::new(Hello {
        layout,
        name: "<b>Zé</b>",
    })
}

const LONG: &str = "<p>Um parágrafo entre muitos que se parecem.</p>";

/// A long page, which is compressed on a thread for blocking work.
fn long(_: Layout) -> Html<String> {
    Html(LONG.repeat(3000))
}

fn routes() -> Router {
    let shop = Shop {
        assets: Assets::shared(),
    };
    let pages = Router::new().route("/", get(hello)).merge(locale::routes());
    in_stack(
        pages
            .route("/long", get(async |layout| long(layout)))
            .layer(from_fn(locale::remember))
            .layer(from_fn_with_state(Policy::Pages, security::headers))
            .layer(from_fn(compression::pages))
            .with_state(shop),
    )
}

fn client() -> reqwest::Client {
    test_kit::tls::provide_cryptography();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_page_is_strict_html_with_everything_escaped() {
    let server = Running::start(routes()).await;
    let response = client().get(server.url("/")).send().await.unwrap();
    assert_eq!(
        response.headers()["content-type"],
        "text/html; charset=utf-8"
    );
    let page = response.text().await.unwrap();
    test_kit::html::check(&page);
    assert!(
        page.contains("lang=\"pt-BR\"") && page.contains("Olá &#60;b&#62;Zé&#60;/b&#62;"),
        "{page}"
    );
}

#[tokio::test]
async fn a_page_is_compressed_for_who_takes_it_and_short_answers_are_not() {
    let server = Running::start(routes()).await;
    let get = async |path: &str, codings: &'static str| {
        let request = client().get(server.url(path));
        let response = request.header("accept-encoding", codings).send().await;
        let response = response.unwrap();
        let coding = response.headers().get("content-encoding").cloned();
        let varies = response.headers().get("vary").is_some();
        let length = response.content_length();
        (coding, varies, length, response.bytes().await.unwrap())
    };
    for codings in ["gzip, deflate, br", "*"] {
        let (coding, varies, length, body) = get("/long", codings).await;
        assert_eq!(coding.unwrap(), "gzip");
        assert!(varies);
        assert_eq!(length, Some(body.len() as u64));
        let mut page = String::new();
        flate2::read::GzDecoder::new(&body[..])
            .read_to_string(&mut page)
            .unwrap();
        assert_eq!(page, LONG.repeat(3000));
        assert!(body.len() < page.len() / 50);
    }
    for codings in [
        "identity",
        "gzip;q=0",
        "gzip;q=0, *",
        "gzip;Q=0",
        "gzip;q=much",
        "br",
    ] {
        let (coding, varies, _, body) = get("/long", codings).await;
        assert_eq!(coding, None);
        assert!(varies, "a cache has to know");
        assert_eq!(body.len(), LONG.len() * 3000);
    }
    let (coding, _, _, body) = get("/preferences", "gzip").await;
    assert_eq!((coding, body.len() < 1024), (None, true));
}

#[tokio::test]
async fn a_choice_of_language_is_remembered() {
    let server = Running::start(routes()).await;
    let chosen = client().get(server.url("/?lang=en")).send().await.unwrap();
    let cookie = "balcao_language=en; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax";
    assert_eq!(chosen.headers()["set-cookie"], cookie);
    assert!(chosen.text().await.unwrap().contains("Hello"));
    let later = client()
        .get(server.url("/"))
        .header("cookie", "balcao_language=en")
        .send()
        .await
        .unwrap();
    assert!(later.headers().get("set-cookie").is_none());
    assert!(later.text().await.unwrap().contains("Hello"));
}

#[tokio::test]
async fn a_page_of_another_site_makes_no_choice() {
    let server = Running::start(routes()).await;
    let own = server.url("").trim_end_matches('/').to_owned();
    for (name, value, expected) in [
        ("origin", "https://evil.example", 403),
        ("sec-fetch-site", "cross-site", 403),
        ("origin", &own, 303),
        ("sec-fetch-site", "same-origin", 303),
    ] {
        let request = client()
            .post(server.url("/preferences"))
            .header("content-type", "application/x-www-form-urlencoded")
            .header(name, value)
            .body("theme=dark");
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), expected, "{name}: {value}");
        let is_kept = response.headers().contains_key("set-cookie");
        assert_eq!(is_kept, expected == 303, "{name}: {value}");
    }
}

#[tokio::test]
async fn the_switches_post_and_come_back_to_their_page_only() {
    let server = Running::start(routes()).await;
    let post = async |body: &'static str| {
        let request = client()
            .post(server.url("/preferences"))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body);
        let response = request.send().await.unwrap();
        let cookies: Vec<_> = response
            .headers()
            .get_all("set-cookie")
            .iter()
            .map(|line| line.to_str().unwrap().split(';').next().unwrap().to_owned())
            .collect();
        (
            response.status().as_u16(),
            response.headers()["location"].to_str().unwrap().to_owned(),
            cookies,
        )
    };
    let expected = (
        303,
        "/products/?q=a".to_owned(),
        vec![
            "balcao_language=en".to_owned(),
            "balcao_theme=dark".to_owned(),
        ],
    );
    assert_eq!(
        post("lang=en&theme=dark&next=/products/%3Fq=a%26lang=pt").await,
        expected
    );
    assert_eq!(
        post("lang=pt&lang=en&theme=light&theme=dark&next=/&next=/products/?q=a").await,
        expected,
        "of a field that comes twice the last counts"
    );
    assert_eq!(
        post("lang=xx&theme=%00&next=//evil.example").await,
        (303, "/".to_owned(), Vec::new())
    );
}

#[tokio::test]
async fn every_answer_forbids_what_it_does_not_need() {
    let server = Running::start(routes()).await;
    for path in ["/", "/missing"] {
        let response = client().get(server.url(path)).send().await.unwrap();
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert!(header("content-security-policy").starts_with("default-src 'none'"));
        assert!(header("content-security-policy").contains("frame-ancestors 'none'"));
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "same-origin");
        assert_eq!(header("cache-control"), "no-store");
        assert_eq!(header("cross-origin-opener-policy"), "same-origin");
        assert!(
            response
                .headers()
                .get("strict-transport-security")
                .is_none(),
            "plain HTTP"
        );
    }
    let proxied = client()
        .get(server.url("/"))
        .header("x-forwarded-for", "203.0.113.7")
        .header("x-forwarded-proto", "https");
    let response = proxied.send().await.unwrap();
    assert_eq!(
        response.headers()["strict-transport-security"],
        "max-age=31536000"
    );
}

#[tokio::test]
async fn subdomains_keep_to_https_where_that_is_configured() {
    let stack = HttpStack {
        hsts_subdomains: true,
        ..stack()
    };
    let routes = Router::new().route("/", get(async || "ok"));
    let server = Running::start(stack.around(routes, TimestampedErrors::new(clock()))).await;
    let proxied = client()
        .get(server.url("/"))
        .header("x-forwarded-for", "203.0.113.7")
        .header("x-forwarded-proto", "https");
    let response = proxied.send().await.unwrap();
    assert_eq!(
        response.headers()["strict-transport-security"],
        "max-age=31536000; includeSubDomains"
    );
}

#[tokio::test]
async fn liveness_has_the_specified_shape_and_readiness_follows_its_check() {
    let is_up = Arc::new(AtomicBool::new(true));
    let check = {
        let is_up = Arc::clone(&is_up);
        move || {
            let outcome = if is_up.load(Ordering::SeqCst) {
                Ok(())
            } else {
                Err("database password wrong".into())
            };
            async move { outcome }
        }
    };
    let workers = Supervisor::new("checkout", &Metrics::new(), Shutdown::new());
    let probes = health::routes("checkout", "1.0.0", workers, check);
    let server = Running::start(in_stack(probes)).await;
    let get = async |path: &str| {
        let response = crate::support::get(server.url(path)).await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    assert_eq!(
        get("/health").await,
        (
            200,
            r#"{"status":"healthy","service":"checkout","version":"1.0.0"}"#.to_owned()
        )
    );
    assert_eq!(
        get("/ready").await,
        (
            200,
            r#"{"status":"ready","service":"checkout","version":"1.0.0"}"#.to_owned()
        )
    );
    is_up.store(false, Ordering::SeqCst);
    let (status, body) = get("/ready").await;
    assert_eq!(status, 503);
    assert!(
        body.contains("\"detail\":\"Service unavailable\"") && !body.contains("password"),
        "{body}"
    );
    assert_eq!(get("/health").await.0, 200);
}

#[tokio::test]
async fn figures_count_requests_by_pattern_and_never_by_what_callers_make_up() {
    let stack = stack();
    let metrics = stack.metrics.clone();
    let paid = metrics.register(
        "payments",
        "Payments made",
        prometheus_client::metrics::counter::Counter::<u64>::default(),
    );
    paid.inc();
    let routes = Router::new().route("/payments/{id}", get(async || "ok"));
    let service = Running::start(stack.around(routes, TimestampedErrors::new(clock()))).await;
    let client = client();
    for path in ["/payments/1", "/payments/2", "/made/up/1", "/made/up/2"] {
        client.get(service.url(path)).send().await.unwrap();
    }
    client
        .request("BREW".parse().unwrap(), service.url("/payments/1"))
        .send()
        .await
        .unwrap();
    let figures = Running::start(metrics.routes()).await;
    let answer = client
        .get(figures.url("/metrics"))
        .header("accept", "application/openmetrics-text; version=1.0.0")
        .send()
        .await
        .unwrap();
    let text = answer.text().await.unwrap();
    let expected = [
        r#"balcao_http_requests_total{service="test",route="/payments/{id}",method="GET",status="200"} 2"#,
        r#"balcao_http_requests_total{service="test",route="/payments/{id}",method="other",status="405"} 1"#,
        r#"balcao_http_requests_total{service="test",route="unknown",method="GET",status="404"} 2"#,
        r#"balcao_http_request_duration_seconds_count{service="test",route="/payments/{id}"} 3"#,
        "balcao_http_requests_in_flight 0",
        "balcao_payments_total 1",
        "# EOF",
    ];
    for line in expected {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
