//! The checkout page over HTTP: strict HTML in both languages, a strict security policy, the order
//! from the address, and existing assets.

use std::net::SocketAddr;

use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use checkout::page;
use http::header::{ACCEPT_LANGUAGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, SET_COOKIE};
use http::{HeaderMap, Request, StatusCode};
use test_kit::database::{Database, Engine};
use tower::ServiceExt;
use web::Clock;
use web::assets::Assets;

use crate::payments::app::{TestApp, config, now};

async fn shop(database: &Database) -> TestApp {
    let mut config = config("http://127.0.0.1:9");
    config.shop.name = "Livraria <da> Praça".to_owned();
    config.shop.contact = Some("(11) 5555-0142".to_owned());
    TestApp::start(database.address(), config, Clock::fixed(now()), 1).await
}

async fn send(shop: &TestApp, mut request: Request<Body>) -> (StatusCode, HeaderMap, String) {
    let peer = SocketAddr::from(([127, 0, 0, 1], 40_000));
    request.extensions_mut().insert(ConnectInfo(peer));
    let response = shop.router.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    (
        parts.status,
        parts.headers,
        String::from_utf8_lossy(&body).into_owned(),
    )
}

async fn page(shop: &TestApp, path: &str, language: &str) -> String {
    let request = Request::get(path).header(ACCEPT_LANGUAGE, language);
    let (status, headers, html) = send(shop, request.body(Body::empty()).unwrap()).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(headers[CONTENT_TYPE], "text/html; charset=utf-8");
    html
}

const ORDER: &str = "/?amount=1234.5&description=Pedido%20%3Cb%3E1042%3C%2Fb%3E";

#[tokio::test]
async fn the_page_is_strict_html_in_both_languages_with_and_without_an_order() {
    let database = Database::new(Engine::Sqlite);
    let shop = shop(&database).await;
    for language in ["pt-BR", "en"] {
        for path in ["/", ORDER, "/?amount=-1", "/?amount=1&amount=2"] {
            let html = page(&shop, path, language).await;
            assert!(
                html.contains(&format!("<html lang=\"{language}\"")),
                "{language}"
            );
            test_kit::html::check(&html);
        }
    }
}

#[tokio::test]
async fn the_page_says_that_pix_is_instant_and_a_boleto_takes_days() {
    let database = Database::new(Engine::Sqlite);
    let shop = shop(&database).await;
    for (language, pix, boleto) in [
        ("pt-BR", "Na hora, no app", "leva de 1 a 3 dias úteis."),
        ("en", "Instantly, in", "takes 1 to 3 business days."),
    ] {
        let html = page(&shop, "/", language).await;
        test_kit::html::has(&html, &[pix, boleto]);
    }
}

#[tokio::test]
async fn an_order_in_the_address_is_shown_and_not_asked_for() {
    let database = Database::new(Engine::Sqlite);
    let shop = shop(&database).await;
    let html = page(&shop, ORDER, "pt-BR").await;
    assert!(html.contains("R$\u{a0}1.234,50"));
    assert!(html.contains("name=\"transaction_amount\" value=\"1234.50\""));
    assert!(!html.contains("id=\"transaction_amount\""));
    assert!(html.contains("Livraria &#60;da&#62; Praça"));
    assert!(
        !html.contains("<b>1042"),
        "the description is text, not markup"
    );
    assert!(page(&shop, ORDER, "en").await.contains("R$\u{a0}1,234.50"));
    assert!(!html.contains("noindex"), "an open page may be found");
}

#[tokio::test]
async fn an_order_that_cannot_be_paid_is_said_and_asked_for() {
    let database = Database::new(Engine::Sqlite);
    let shop = shop(&database).await;
    for path in [
        "/?amount=0",
        "/?amount=abc&description=x",
        "/?description=%00",
        "/?amount=1&amount=2",
    ] {
        let html = page(&shop, path, "en").await;
        assert!(
            html.contains("This payment link has an invalid amount or description"),
            "{path}"
        );
    }
    assert!(!page(&shop, "/", "en").await.contains("that is not valid"));
}

#[tokio::test]
async fn the_policy_allows_this_sites_files_and_nothing_inline() {
    let database = Database::new(Engine::Sqlite);
    let shop = shop(&database).await;
    let (_, headers, _) = send(&shop, Request::get("/").body(Body::empty()).unwrap()).await;
    let policy = headers[CONTENT_SECURITY_POLICY].to_str().unwrap();
    for part in [
        "default-src 'none'",
        "script-src 'self';",
        "style-src 'self';",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    ] {
        assert!(policy.contains(part), "{part} in {policy}");
    }
    for word in ["unsafe", "http", "*"] {
        assert!(!policy.contains(word), "{word} in {policy}");
    }
    assert_eq!(headers["cache-control"], "no-store");
}

#[tokio::test]
async fn every_file_that_the_page_names_is_there_to_be_kept_for_ever() {
    let database = Database::new(Engine::Sqlite);
    let shop = shop(&database).await;
    let html = page(&shop, "/", "pt-BR").await;
    let mut files: Vec<_> = html
        .split('"')
        .filter(|value| value.starts_with("/assets/"))
        .map(|value| value.split('#').next().unwrap_or(value))
        .collect();
    files.sort_unstable();
    files.dedup();
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let (status, headers, _) =
            send(&shop, Request::get(file).body(Body::empty()).unwrap()).await;
        assert_eq!(status, StatusCode::OK, "{file}");
        assert!(
            headers["cache-control"]
                .to_str()
                .unwrap()
                .contains("immutable"),
            "{file}"
        );
    }
}

#[tokio::test]
async fn the_script_loads_only_modules_that_the_page_announces() {
    let database = Database::new(Engine::Sqlite);
    let shop = shop(&database).await;
    let html = page(&shop, "/", "pt-BR").await;
    let announced = |name: &str| {
        html.contains(&format!("/{name}\">")) || html.contains(&format!("/{name}\"></script>"))
    };
    for name in page::Files::iter().filter(|name| name.ends_with(".js")) {
        assert!(announced(&name), "{name} is not announced");
        let file = page::Files::get(&name).unwrap();
        let script = String::from_utf8(file.data.into_owned()).unwrap();
        let imports = script
            .lines()
            .filter_map(|line| line.split(" from \"./").nth(1));
        for import in imports.map(|rest| rest.trim_end_matches("\";")) {
            assert!(
                page::Files::get(import).is_some(),
                "{name} imports {import}"
            );
        }
        for word in [
            "innerHTML",
            "eval(",
            "document.write",
            "localStorage",
            "http://",
            "https://",
        ] {
            assert!(!script.contains(word), "{word} in {name}");
        }
    }
}

#[tokio::test]
async fn the_icons_that_the_page_names_are_drawn() {
    let database = Database::new(Engine::Sqlite);
    let shop = shop(&database).await;
    let icons = Assets::shared();
    let address = icons.url("icons.svg");
    let (_, _, drawn) = send(&shop, Request::get(address).body(Body::empty()).unwrap()).await;
    let html = page(&shop, "/", "pt-BR").await;
    let mut named: Vec<_> = html
        .split(".svg#")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    named.sort_unstable();
    named.dedup();
    assert!(named.len() > 10);
    for name in named {
        assert!(drawn.contains(&format!("id=\"{name}\"")), "{name}");
    }
}

#[tokio::test]
async fn language_and_colours_are_switched_by_a_form_and_remembered() {
    let database = Database::new(Engine::Sqlite);
    let shop = shop(&database).await;
    let form = Request::post("/preferences")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from("next=%2F%3Famount%3D1&lang=en&theme=dark"))
        .unwrap();
    let (status, headers, _) = send(&shop, form).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    assert_eq!(headers["location"], "/?amount=1");
    let cookies: Vec<_> = headers
        .get_all(SET_COOKIE)
        .iter()
        .filter_map(|cookie| cookie.to_str().ok()?.split(';').next())
        .collect();
    let request = Request::get("/").header(COOKIE, cookies.join("; "));
    let (_, _, html) = send(&shop, request.body(Body::empty()).unwrap()).await;
    assert!(html.contains("<html lang=\"en\" data-theme=\"dark\">"));
    assert!(
        html.contains("value=\"dark\" title=\"Dark\" aria-label=\"Dark\" aria-pressed=\"true\"")
    );
}

#[tokio::test]
async fn a_form_is_no_longer_than_a_request_for_a_payment() {
    let database = Database::new(Engine::Sqlite);
    let shop = shop(&database).await;
    for (length, expected) in [
        (64 * 1024, StatusCode::SEE_OTHER),
        (64 * 1024 + 1, StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        let form =
            Request::post("/preferences").header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let (status, _, _) = send(&shop, form.body(Body::from("x".repeat(length))).unwrap()).await;
        assert_eq!(status, expected, "{length}");
    }
}

#[tokio::test]
async fn without_a_script_the_page_says_how_to_proceed() {
    let database = Database::new(Engine::Sqlite);
    let shop = shop(&database).await;
    let html = page(&shop, "/", "pt-BR").await;
    let hint = html
        .split("<noscript>")
        .nth(1)
        .and_then(|rest| rest.split("</noscript>").next())
        .unwrap();
    for text in ["precisa de JavaScript", "(11) 5555-0142", "href=\"/docs\""] {
        assert!(hint.contains(text), "{text}");
    }
    assert!(
        html.contains("id=\"pay\" disabled"),
        "nothing can be sent before the script is there"
    );
}
