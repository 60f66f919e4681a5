//! Hostile requests: fields of the wrong type and size, invalid bodies, absurd addresses. Each is
//! refused with the usual error, and changes nothing.

mod addresses;
mod bodies;
mod fields;

use http::Method;
use serde_json::{Value, json};

use crate::app::TestApp;

/// An address that takes a body, and a valid body.
struct Target {
    path: &'static str,
    method: Method,
    fields: fields::Fields,
    valid: Value,
}

fn named() -> Value {
    json!({"name": "Outra"})
}

fn product() -> Value {
    json!({"title": "Feijão", "category": 1, "brand": 1, "cost_price": "1.00", "selling_price": "2.00", "quantity": 3})
}

fn inflow() -> Value {
    json!({"supplier": 1, "product": 1, "quantity": 2})
}

fn outflow() -> Value {
    json!({"product": 1, "quantity": 2})
}

/// Every address of catalogue and stock that takes bodies.
fn targets() -> Vec<Target> {
    let mut targets = Vec::new();
    let mut add = |method, path, fields, valid| {
        targets.push(Target {
            path,
            method,
            fields,
            valid,
        });
    };
    for (list, record) in [
        ("/api/v1/brands/", "/api/v1/brands/1/"),
        ("/api/v1/categories/", "/api/v1/categories/1/"),
        ("/api/v1/suppliers/", "/api/v1/suppliers/1/"),
    ] {
        add(Method::POST, list, fields::NAMED, named());
        add(Method::PUT, record, fields::NAMED, named());
        add(Method::PATCH, record, fields::NAMED, named());
    }
    let product_path = "/api/v1/products/1/";
    add(
        Method::POST,
        "/api/v1/products/",
        fields::PRODUCT,
        product(),
    );
    add(Method::PUT, product_path, fields::PRODUCT, product());
    add(Method::PATCH, product_path, fields::PRODUCT, product());
    add(Method::POST, "/api/v1/inflows/", fields::INFLOW, inflow());
    add(
        Method::POST,
        "/api/v1/outflows/",
        fields::OUTFLOW,
        outflow(),
    );
    let threshold = json!({"threshold": 3});
    add(
        Method::PUT,
        "/api/v1/products/1/threshold/",
        fields::THRESHOLD,
        threshold,
    );
    targets
}

/// An application with one record of each kind, all of whose ids are 1.
async fn shop(address: &str) -> TestApp {
    let app = TestApp::new(address).await;
    let admin = app.admin();
    admin.a_product("Arroz", 40).await;
    admin.a_supplier("Outra").await;
    admin.receive(1, 1, 2).await;
    admin.sell(1, 2).await;
    app
}

/// Everything that a request could have changed, as text.
async fn stored(app: &TestApp) -> Vec<String> {
    let admin = app.admin();
    let mut all: Vec<String> = app.events().await.iter().map(Value::to_string).collect();
    for path in [
        "brands",
        "categories",
        "suppliers",
        "products",
        "inflows",
        "outflows",
        "low-stock",
        "products/1/ledger",
        "products/1/threshold",
    ] {
        let list = admin.get(&format!("/api/v1/{path}/?page_size=100")).await;
        all.push(list.text);
    }
    all
}
