//! How many statements a request runs does not depend on how many records there are.

use http::Method;
use serde_json::{Value, json};

use crate::app::{TestApp, app_on_both_engines};

/// Statements of one request, which must succeed.
async fn cost(app: &TestApp, method: Method, path: &str, body: Option<Value>) -> u64 {
    let before = app.state.db.statistics().statements;
    let answer = app.admin().send(method, path, body).await;
    assert!((200..300).contains(&answer.status), "{path}: {answer:?}");
    app.state.db.statistics().statements - before
}

fn requests() -> Vec<(Method, &'static str, Option<Value>)> {
    let mut requests = Vec::new();
    for (list, record, valid) in [
        (
            "/api/v1/brands/",
            "/api/v1/brands/1/",
            json!({"name": "Outra"}),
        ),
        (
            "/api/v1/categories/",
            "/api/v1/categories/1/",
            json!({"name": "Outra"}),
        ),
        (
            "/api/v1/suppliers/",
            "/api/v1/suppliers/1/",
            json!({"name": "Outro"}),
        ),
        (
            "/api/v1/products/",
            "/api/v1/products/1/",
            json!({"title": "Feijão", "category": 1, "brand": 1, "cost_price": "1.00", "selling_price": "2.00", "quantity": 90}),
        ),
        (
            "/api/v1/inflows/",
            "/api/v1/inflows/1/",
            json!({"supplier": 1, "product": 1, "quantity": 2}),
        ),
        (
            "/api/v1/outflows/",
            "/api/v1/outflows/1/",
            json!({"product": 1, "quantity": 1}),
        ),
    ] {
        requests.push((Method::POST, list, Some(valid)));
        requests.push((Method::GET, list, None));
        requests.push((Method::GET, record, None));
    }
    for path in [
        "/api/v1/products/?page_size=100&search=feij&ordering=-category,id&category=1&min_price=1",
        "/api/v1/products/1/ledger/?page_size=100",
        "/api/v1/products/1/threshold/",
        "/api/v1/low-stock/?page_size=100",
    ] {
        requests.push((Method::GET, path, None));
    }
    requests
}

app_on_both_engines!(
    a_request_runs_as_many_statements_with_fifty_records_as_with_one,
    async |app| {
        app.admin().a_product("Arroz", 900).await;
        // New words of a title take further statements, so they are stored before the measurement.
        app.admin().a_product("Feijão", 900).await;
        let mut with_one = Vec::new();
        for (method, path, body) in requests() {
            with_one.push(cost(&app, method, path, body).await);
        }
        for _ in 0..50 {
            for (method, path, body) in requests().into_iter().filter(|(_, _, body)| body.is_some())
            {
                cost(&app, method, path, body).await;
            }
        }
        for ((method, path, body), expected) in requests().into_iter().zip(with_one) {
            let what = format!("{method} {path}");
            assert_eq!(cost(&app, method, path, body).await, expected, "{what}");
            assert!(expected <= 16, "{what}: {expected}");
        }
    }
);
