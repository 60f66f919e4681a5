//! Assets: names, caching, compression.

use std::io::Read;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use flate2::read::GzDecoder;
use http::{HeaderMap, Response};
use http_body_util::BodyExt;
use rust_embed::RustEmbed;
use tower::ServiceExt;
use web::assets::Assets;
use web::docs::Viewers;

#[derive(RustEmbed)]
#[folder = "tests/it/"]
#[include = "support.rs"]
struct Own;

fn assets() -> Assets {
    Assets::shared().with::<Viewers>().with::<Own>()
}

async fn ask(method: &str, url: &str, headers: &[(&str, &str)]) -> Response<Vec<u8>> {
    let router: Router = assets().routes();
    let mut request = Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, body) = router
        .oneshot(request.body(Body::empty()).unwrap())
        .await
        .unwrap()
        .into_parts();
    Response::from_parts(parts, body.collect().await.unwrap().to_bytes().to_vec())
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers
        .get(name)
        .map_or("-", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn a_name_with_its_hash_may_be_kept_for_ever() {
    let url = assets().url("balcao.css");
    let response = ask("GET", &url, &[]).await;
    let headers = response.headers();
    assert_eq!(response.status(), 200);
    assert_eq!(header(headers, "content-type"), "text/css; charset=utf-8");
    assert_eq!(
        header(headers, "cache-control"),
        "public, max-age=31536000, immutable"
    );
    let hash = url.rsplit('-').next().unwrap().trim_end_matches(".css");
    assert_eq!(header(headers, "etag"), format!("\"{hash}\""));
}

#[tokio::test]
async fn a_name_without_hash_is_asked_for_again_and_a_wrong_hash_is_unknown() {
    assert_eq!(
        header(
            ask("GET", "/assets/balcao.css", &[]).await.headers(),
            "cache-control"
        ),
        "no-cache"
    );
    for url in [
        "/assets/balcao-000000000000.css",
        "/assets/missing.css",
        "/assets/../Cargo.toml",
        "/assets/%2e%2e/Cargo.toml",
        "/assets/",
    ] {
        assert_eq!(ask("GET", url, &[]).await.status(), 404, "{url}");
    }
}

#[tokio::test]
async fn what_the_browser_has_is_not_sent_again() {
    let tag = header(
        ask("GET", "/assets/balcao.css", &[]).await.headers(),
        "etag",
    )
    .to_owned();
    for known in [
        tag.clone(),
        format!("W/{tag}"),
        format!("\"other\", {tag}"),
        "*".to_owned(),
    ] {
        let response = ask("GET", "/assets/balcao.css", &[("if-none-match", &known)]).await;
        assert_eq!(
            (response.status().as_u16(), response.body().len()),
            (304, 0),
            "{known}"
        );
        assert_eq!(header(response.headers(), "etag"), tag);
    }
    assert_eq!(
        ask(
            "GET",
            "/assets/balcao.css",
            &[("if-none-match", "\"other\"")]
        )
        .await
        .status(),
        200
    );
}

#[tokio::test]
async fn large_files_travel_compressed_for_those_who_can() {
    let url = assets().url("redoc/redoc.standalone.js");
    let plain = ask("GET", &url, &[("accept-encoding", "gzip;q=0, br")]).await;
    let packed = ask("GET", &url, &[("accept-encoding", "br, gzip;q=0.5")]).await;
    assert_eq!(header(plain.headers(), "content-encoding"), "-");
    assert_eq!(header(packed.headers(), "content-encoding"), "gzip");
    for response in [&plain, &packed] {
        assert_eq!(header(response.headers(), "vary"), "Accept-Encoding");
    }
    assert_ne!(
        header(plain.headers(), "etag"),
        header(packed.headers(), "etag")
    );
    assert!(packed.body().len() * 2 < plain.body().len());
    let mut unpacked = Vec::new();
    GzDecoder::new(packed.body().as_slice())
        .read_to_end(&mut unpacked)
        .unwrap();
    assert_eq!(&unpacked, plain.body());
}

#[tokio::test]
async fn head_tells_the_size_and_sends_nothing() {
    let url = assets().url("balcao.css");
    let length = ask("GET", &url, &[]).await.body().len();
    let response = ask("HEAD", &url, &[]).await;
    assert_eq!(
        (response.status().as_u16(), response.body().len()),
        (200, 0)
    );
    assert_eq!(
        header(response.headers(), "content-length"),
        length.to_string()
    );
}

#[tokio::test]
async fn a_crate_adds_its_own_folder() {
    let response = ask("GET", &assets().url("support.rs"), &[]).await;
    assert_eq!(
        (
            response.status().as_u16(),
            header(response.headers(), "content-type")
        ),
        (200, "application/octet-stream")
    );
    assert!(response.body().starts_with(b"//! A running server"));
}

#[test]
fn a_name_that_nobody_has_gets_an_address_that_answers_404() {
    assert_eq!(assets().url("missing.css"), "/assets/missing.css");
}
