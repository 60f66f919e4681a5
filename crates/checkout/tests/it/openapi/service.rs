//! The document against the running service: the same addresses, and request examples that work.

use std::collections::BTreeMap;

use axum::body::Body;
use http::Request;
use serde_json::Value;
use test_kit::openapi::{METHODS, object};

use super::DOCUMENT;
use crate::payments::app::{creation, shop_on_both_engines};

/// The request examples of an operation, by name.
fn examples(path: &str, method: &str) -> BTreeMap<&'static str, &'static Value> {
    let content =
        &DOCUMENT.value()["paths"][path][method]["requestBody"]["content"]["application/json"];
    let examples = object(&content["examples"]).iter();
    examples
        .map(|(name, example)| (name.as_str(), &example["value"]))
        .collect()
}

shop_on_both_engines!(
    every_address_of_the_document_is_routed_with_exactly_its_methods,
    async |shop| {
        for (path, item) in object(&DOCUMENT.value()["paths"]) {
            let url = path.replace("{id}", "1").replace("{token}", "1");
            for method in METHODS
                .map(str::to_uppercase)
                .iter()
                .filter(|method| *method != "HEAD")
            {
                let request = Request::builder().method(method.as_str()).uri(&url);
                let answer = shop.send(request.body(Body::empty()).unwrap()).await;
                let is_routed = item.get(method.to_lowercase()).is_some();
                assert_eq!(
                    answer.status != 405,
                    is_routed,
                    "{method} {path}: {}",
                    answer.status
                );
            }
        }
    }
);

shop_on_both_engines!(every_request_example_is_accepted, async |shop| {
    for example in examples("/orders/", "post").values() {
        let answer = shop.merchant("POST", "/orders/", Some(example)).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        let url = answer.json()["url"].as_str().unwrap().to_owned();
        for example in examples("/pay/{token}", "post").values() {
            let request = creation(example, None);
            let (mut parts, body) = request.into_parts();
            parts.uri = url[url.find("/pay/").unwrap()..].parse().unwrap();
            let answer = shop.send(Request::from_parts(parts, body)).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
        }
    }
    let payments = examples("/create_payment", "post");
    let mut ids = BTreeMap::new();
    for (name, example) in &payments {
        let answer = shop.pay(example).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text);
        ids.insert(*name, answer.id());
    }
    for (name, example) in examples("/payments/{id}", "put") {
        let path = format!("/payments/{}", ids["pix"]);
        let answer = shop.merchant("PUT", &path, Some(example)).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text);
    }
    for (name, example) in examples("/payments/{id}/refunds", "post") {
        let path = format!(
            "/payments/{}/refunds",
            shop.pay(payments["card"]).await.id()
        );
        let answer = shop.merchant("POST", &path, Some(example)).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text);
    }
});

shop_on_both_engines!(the_document_and_its_viewers_are_served, async |shop| {
    assert_eq!(shop.get("/openapi.json").await.json(), *DOCUMENT.value());
    for path in ["/docs", "/redoc"] {
        let answer = shop.get(path).await;
        assert_eq!(answer.status, 200);
        assert!(
            answer.text.contains("/openapi.json"),
            "{path} reads the document"
        );
    }
});

shop_on_both_engines!(
    addresses_that_do_not_exist_or_cannot_be_read_answer_the_error_body,
    async |shop| {
        for path in [
            "/nowhere",
            "/create_payment/",
            "/payments",
            "/payments/1/nothing",
            "/v1/payments",
            "/payments/%ff",
        ] {
            let answer = shop.get(path).await;
            assert!(
                [401, 404].contains(&answer.status),
                "{path}: {}",
                answer.status
            );
            assert_eq!(answer.json()["status_code"], answer.status);
        }
        for path in ["/payments/%ff", "/payments/?page=0"] {
            let answer = shop.merchant("GET", path, None).await;
            assert_eq!(answer.json()["status_code"], answer.status, "{path}");
        }
        let answer = shop.get("/payments/1/status?token=a&token=b").await;
        assert_eq!(answer.json()["status_code"], answer.status);
    }
);
