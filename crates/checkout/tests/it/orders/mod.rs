//! Orders through the API and their page, over the real sandbox, on both engines.

mod ending;
mod events;
mod live_payment;
mod making;
mod page;
mod paying;

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use crate::payments::anonymous_clients;
use crate::payments::app::{Answer, Shop, TestApp};

/// An order as a shop asks for it.
pub(crate) fn order() -> Value {
    json!({"amount": 12.5, "description": "Pedido 1042"})
}

/// An order that was made.
pub(crate) struct OrderLink {
    pub(crate) id: String,
    /// The path of its page.
    pub(super) page: String,
}

/// Makes an order.
pub(crate) async fn make(shop: &TestApp, body: &Value) -> OrderLink {
    let answer = shop.merchant("POST", "/orders/", Some(body)).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let made = answer.json();
    let url = made["url"].as_str().unwrap();
    let path = url.find("/pay/").unwrap();
    OrderLink {
        id: made["id"].as_str().unwrap().to_owned(),
        page: url[path..].to_owned(),
    }
}

/// Reads an order as its merchant.
pub(super) async fn read(shop: &TestApp, made: &OrderLink) -> Value {
    let path = format!("/orders/{}", made.id);
    let answer = shop.merchant("GET", &path, None).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

pub(super) async fn status(shop: &TestApp, made: &OrderLink) -> String {
    read(shop, made).await["status"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// A buyer's payment of an order.
pub(super) async fn pay(
    shop: &TestApp,
    made: &OrderLink,
    body: &Value,
    key: Option<&str>,
) -> Answer {
    shop.send(payment(made, body, key)).await
}

/// A buyer's payment of an order, from elsewhere.
pub(super) async fn pay_anonymously(shop: &TestApp, made: &OrderLink, body: &Value) -> Answer {
    let request = anonymous_clients::from("203.0.113.7", payment(made, body, None));
    shop.send(request).await
}

fn payment(made: &OrderLink, body: &Value, key: Option<&str>) -> Request<Body> {
    let mut request = Request::post(&made.page).header("content-type", "application/json");
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    request.body(Body::from(body.to_string())).unwrap()
}

pub(crate) async fn cancel(shop: &TestApp, made: &OrderLink) -> Answer {
    let path = format!("/orders/{}/cancel", made.id);
    shop.merchant("POST", &path, None).await
}

/// Lets the buyer, the bank or a reviewer act, and asks the provider about it.
pub(super) async fn act(shop: &Shop, id: &str, act: &str) {
    shop.sandbox.act(id, act).await;
    learn(shop).await;
}

/// Asks the provider about every payment.
pub(super) async fn learn(app: &TestApp) {
    let scope = checkout::reconcile::Scope::All;
    checkout::reconcile::run_once(&app.state, scope)
        .await
        .unwrap();
}

/// Runs the worker of orders once.
pub(super) async fn work(app: &TestApp) {
    checkout::closing::run_due(&app.state).await.unwrap();
}

/// The number of known overpayments, and of those still to be refunded.
pub(super) async fn overpayments(app: &TestApp) -> (i64, i64) {
    let count = async |conn: &mut db::Conn| {
        let sql = "SELECT count(*), count(refund_at) FROM overpayments";
        conn.one(sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))
            .await
    };
    app.db.read::<_, db::Error, _>(count).await.unwrap()
}

/// A body without what an order fixes.
pub(super) fn of_order(mut body: Value) -> Value {
    let members = body.as_object_mut().unwrap();
    members.remove("transaction_amount");
    members.remove("description");
    body
}

pub(super) fn pix() -> Value {
    of_order(crate::payments::requests::pix())
}

pub(super) fn boleto() -> Value {
    of_order(crate::payments::requests::boleto())
}

pub(super) fn card(holder: &str) -> Value {
    of_order(crate::payments::requests::card(holder))
}
