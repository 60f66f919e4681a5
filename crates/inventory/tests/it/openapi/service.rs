//! The document against the running service: the same addresses, and request examples that work.

use std::collections::BTreeSet;

use http::Method;
use inventory::RouteAddress;
use serde_json::json;
use test_kit::openapi::{METHODS, object};

use super::DOCUMENT;
use crate::app::app_on_both_engines;

app_on_both_engines!(
    every_address_of_the_document_is_routed_with_exactly_its_methods,
    async |app| {
        let admin = app.admin();
        let documented = inventory::documented_addresses().iter();
        for RouteAddress { path, methods } in documented.chain(inventory::page_addresses()) {
            let url = path.replace("{id}", "1");
            let ask = async |method: Method| {
                let headers = [("accept", "application/json")];
                admin.send_with(method, &url, None, &headers).await
            };
            // One minute for each address, so that the rate limit of pages is not reached.
            app.clock.advance(std::time::Duration::from_secs(60));
            let refused = ask(Method::TRACE).await;
            assert_eq!(refused.status, 405, "{path}");
            let allowed: BTreeSet<String> = refused.headers["allow"]
                .to_str()
                .unwrap()
                .split(',')
                .map(|method| method.trim().to_owned())
                .collect();
            let described = allowed.iter().filter(|method| *method != "OPTIONS");
            assert_eq!(
                described.cloned().collect::<BTreeSet<_>>(),
                methods.iter().map(Method::to_string).collect(),
                "{path}"
            );
            for method in METHODS.map(str::to_uppercase) {
                let answer = ask(method.parse().unwrap()).await;
                assert_eq!(
                    answer.status != 405,
                    allowed.contains(&method),
                    "{method} {path}: {}",
                    answer.status
                );
            }
        }
    }
);

app_on_both_engines!(
    every_request_example_of_the_catalogue_and_of_stock_is_accepted,
    async |app| {
        let admin = app.admin();
        // References of examples are to the first record of each kind, so lists come in this order.
        for resource in [
            "brands",
            "categories",
            "suppliers",
            "products",
            "inflows",
            "outflows",
        ] {
            let list = format!("/api/v1/{resource}/");
            let body = &DOCUMENT.value()["paths"][&list]["post"]["requestBody"];
            for (_, example) in DOCUMENT.examples(body) {
                admin.post(&list, example.clone()).await.id();
            }
        }
        for operation in DOCUMENT.operations() {
            let is_change = ["put", "patch"].contains(&operation.method);
            let body = operation.described.get("requestBody");
            for (_, example) in body
                .filter(|_| is_change)
                .into_iter()
                .flat_map(|body| DOCUMENT.examples(body))
            {
                let url = operation.path.replace("{id}", "1");
                let method = operation.method.to_uppercase().parse().unwrap();
                let answer = admin.send(method, &url, Some(example.clone())).await;
                assert_eq!(answer.status, 200, "{url}: {answer:?}");
            }
        }
    }
);

app_on_both_engines!(the_document_and_its_viewers_are_served, async |app| {
    let anyone = app.anonymous();
    let schema = anyone.get("/api/v1/schema/").await;
    assert_eq!(schema.json(), *DOCUMENT.value());
    for path in ["/api/v1/docs/", "/api/v1/redoc/"] {
        let answer = anyone.get(path).await;
        assert_eq!(answer.status, 200);
        assert!(
            answer.text.contains("/api/v1/schema/"),
            "{path} reads the document"
        );
    }
});

app_on_both_engines!(
    an_address_without_its_last_slash_leads_to_the_one_with_it,
    async |app| {
        let paths = object(&DOCUMENT.value()["paths"]).keys();
        for path in paths.filter(|path| path.len() > 1 && path.ends_with('/')) {
            let bare = path.trim_end_matches('/').replace("{id}", "7");
            for (method, status) in [
                (Method::GET, 301),
                (Method::HEAD, 301),
                (Method::POST, 308),
                (Method::PUT, 308),
                (Method::PATCH, 308),
                (Method::DELETE, 308),
            ] {
                let url = format!("{bare}?a=%C3%A9&b");
                let answer = app.anonymous().send(method, &url, None).await;
                assert_eq!(answer.status, status, "{url}");
                assert_eq!(
                    answer.headers["location"].to_str().unwrap(),
                    format!("{bare}/?a=%C3%A9&b")
                );
            }
        }
    }
);

app_on_both_engines!(
    a_text_that_may_not_be_empty_has_a_least_length,
    async |app| {
        let admin = app.admin();
        let mut texts = BTreeSet::new();
        for operation in DOCUMENT.operations() {
            let url = operation.path;
            let body = &operation.described["requestBody"];
            let json = &body["content"]["application/json"]["schema"]["$ref"];
            let Some(name) = json.as_str().and_then(|path| path.rsplit('/').next()) else {
                continue;
            };
            if operation.method != "post" || !url.starts_with("/api/") {
                continue;
            }
            let schema = &DOCUMENT.value()["components"]["schemas"][name];
            let required = schema["required"].as_array();
            for field in required.into_iter().flatten() {
                let field = field.as_str().unwrap();
                let property = &schema["properties"][field];
                if property["type"].to_string().contains("string") {
                    assert_eq!(property["minLength"], 1, "{name}.{field}");
                    let answer = admin.post(url, json!({field: ""})).await;
                    let blank = json!(["This field may not be blank."]);
                    assert_eq!(answer.json()[field], blank, "{url}: {answer:?}");
                    texts.insert(field);
                }
            }
        }
        let expected = ["name", "password", "refresh", "title", "token", "username"];
        assert_eq!(texts, BTreeSet::from(expected));
    }
);
