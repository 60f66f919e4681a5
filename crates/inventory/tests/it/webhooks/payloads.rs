//! What receivers get, held against the document that tells them of it.

use inventory::{Config, OPENAPI, analysis, events::EventType, stock::AlertMode};
use serde_json::{Value, json};
use test_kit::{on_both_engines, openapi::Document};

use super::{config, receiver::Receiver};
use crate::app::TestApp;

fn document() -> Document {
    Document::new(OPENAPI, "Detail", |_| false)
}

fn media(document: &Document, kind: &str) -> Value {
    document.value()["webhooks"][kind]["post"]["requestBody"]["content"]["application/json"].clone()
}

#[test]
fn every_event_of_the_document_is_one_that_endpoints_can_ask_for_with_an_example() {
    let document = document();
    let described: Vec<&str> = document.value()["webhooks"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut known = EventType::DELIVERED.map(EventType::name);
    known.sort_unstable();
    assert_eq!(described, known);
    for kind in described {
        let media = media(&document, kind);
        document.assert_valid(&media["schema"], &media["example"], kind);
    }
}

on_both_engines!(
    every_event_that_arrives_is_what_the_document_says,
    async |address| {
        let receiver = Receiver::start().await;
        let settings = Config {
            low_stock_alert: AlertMode::Once,
            ..config(Some(&receiver))
        };
        let app = TestApp::with(&address, settings).await;
        let product = app.admin().a_product("Açaí \"500 g\"", 12).await;
        let outflow = json!({"product": product, "quantity": 3, "description": "Balcão"});
        app.manager().post("/api/v1/outflows/", outflow).await.id();
        analysis::step(&app.state).await.unwrap();
        app.manager()
            .patch(
                &format!("/api/v1/products/{product}/"),
                json!({"quantity": 40}),
            )
            .await;
        app.pass().await;
        let document = document();
        let mut arrived = Vec::new();
        for one in receiver.received() {
            let (event, kind) = (one.json(), one.json()["type"].as_str().unwrap().to_owned());
            document.assert_valid(&media(&document, &kind)["schema"], &event, &kind);
            arrived.push(kind);
        }
        assert_eq!(
            arrived,
            [
                "outflow.created",
                "product.low_stock",
                "analysis.created",
                "product.stock_recovered"
            ]
        );
    }
);
