//! The API document and its viewers as they are served. `browser.rs` opens them in a browser.

use axum::Router;
use serde_json::json;
use web::assets::Assets;
use web::docs::{self, Paths, Viewers};

use crate::support::{Running, in_stack};

pub(crate) const PATHS: Paths = Paths {
    swagger_ui: "/docs",
    redoc: "/redoc",
    schema: "/openapi.json",
};

fn document() -> String {
    let responses = json!({"200": {"description": "It lives", "content": {"application/json": {"schema": {"type": "object"}}}}});
    let operation = json!({"summary": "Report on liveness", "operationId": "health", "tags": ["operation"], "responses": responses});
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Example interface", "version": "1.0.0", "description": "A **description**."},
        "servers": [{"url": "/"}],
        "paths": {"/health": {"get": operation}},
    })
    .to_string()
}

pub(crate) fn router() -> Router {
    let assets = Assets::shared().with::<Viewers>();
    let documents = docs::routes("Example interface", document(), PATHS, &assets);
    in_stack(documents.merge(assets.routes()))
}

#[tokio::test]
async fn the_document_is_json_and_the_viewers_have_a_policy_of_their_own() {
    let server = Running::start(router()).await;
    let get = async |path: &str| crate::support::get(server.url(path)).await.unwrap();
    let schema = get(PATHS.schema).await;
    assert_eq!(schema.headers()["content-type"], "application/json");
    assert!(
        !schema.headers()["content-security-policy"]
            .to_str()
            .unwrap()
            .contains("unsafe")
    );
    assert_eq!(schema.text().await.unwrap(), document());
    for path in [PATHS.swagger_ui, PATHS.redoc] {
        let page = get(path).await;
        let policy = page.headers()["content-security-policy"]
            .to_str()
            .unwrap()
            .to_owned();
        assert!(
            policy.contains("script-src 'self';")
                && policy.contains("style-src 'self' 'unsafe-inline'"),
            "{policy}"
        );
        let page = page.text().await.unwrap();
        test_kit::html::check(&page);
        // The files of the viewer are loaded on demand.
        assert_eq!(page.matches("<script").count(), 1, "{path}");
        let parts = page.split(['"', ' ']);
        for file in parts.filter(|part| part.starts_with("/assets/")) {
            assert_eq!(get(file).await.status(), 200, "{path} wants {file}");
        }
    }
}
