//! The payloads that receivers get, checked against the API's document.

use http::Method;
use inventory::{Config, analysis, events::EventType, stock::AlertMode};
use serde_json::json;
use test_kit::on_both_engines;

use super::{config, receiver::Receiver};
use crate::app::{NOW, TestApp, app_on_both_engines};
use crate::openapi::DOCUMENT;

#[test]
fn every_event_of_the_document_is_one_that_endpoints_can_ask_for_with_an_example() {
    let described: Vec<&str> = DOCUMENT.value()["webhooks"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut known = EventType::DELIVERED.map(EventType::name);
    known.sort_unstable();
    assert_eq!(described, known);
    for kind in described {
        let media = DOCUMENT.webhook(kind);
        DOCUMENT.assert_valid(&media["schema"], &media["example"], kind);
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
        analysis::work_once(&app.state).await.unwrap();
        app.change_product(product, json!({"quantity": 40})).await;
        app.pass().await;
        let mut arrived = Vec::new();
        for one in receiver.received() {
            let (event, kind) = (one.json(), one.json()["type"].as_str().unwrap().to_owned());
            DOCUMENT.assert_valid(&DOCUMENT.webhook(&kind)["schema"], &event, &kind);
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

app_on_both_engines!(
    members_of_an_event_stand_in_the_order_of_its_document,
    async |app| {
        let product = app.admin().a_product("Café \"moído\"", 9).await;
        let description = json!("a\"b'\\ \u{1}\u{7f}\n\té 😀 :title -9223372036854775808 \\u0000");
        let sale = json!({"product": product, "quantity": 2, "description": description});
        let sale = sale.to_string();
        for headers in [&[][..], &[("idempotency-key", "long-way")]] {
            let body = Some(sale.clone());
            app.manager()
                .send_with(Method::POST, "/api/v1/outflows/", body, headers)
                .await;
        }
        let read = async |conn: &mut db::Conn| {
            let sql = "SELECT payload FROM events ORDER BY id";
            conn.all(sql, &[], |row| row.get::<String>(0)).await
        };
        let told: Vec<String> = app.state.db.read::<_, db::Error, _>(read).await.unwrap();
        let outflow = |id: i64, left: i64| {
            format!(
                r#"{{"type":"outflow.created","timestamp":"{NOW}","data":{{"id":{id},"product":{{"id":1,"title":"Café \"moído\""}},"quantity":2,"description":{description},"created_at":"{NOW}","updated_at":"{NOW}","product_quantity":{left}}}}}"#
            )
        };
        let alert = |left: i64| {
            format!(
                r#"{{"type":"product.low_stock","timestamp":"{NOW}","data":{{"product":{{"id":1,"title":"Café \"moído\""}},"quantity":{left},"threshold":10,"suggested_quantity":null}}}}"#
            )
        };
        assert_eq!(told, [outflow(1, 7), alert(7), outflow(2, 5), alert(5)]);
    }
);
