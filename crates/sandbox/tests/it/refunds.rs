//! Refunds, whole and in parts.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Provider, pix_payment, send};

fn refunds_of(payment: &Value) -> String {
    format!("/v1/payments/{}/refunds", payment["id"])
}

#[tokio::test]
async fn without_an_amount_all_is_given_back() {
    let provider = Provider::start().await;
    let payment = provider.pay_by_card("APRO").await;
    let answer = send(provider.request(Method::POST, &refunds_of(&payment))).await;
    assert_eq!(answer.status, 201);
    let refund = answer.json();
    assert_eq!(refund["payment_id"], payment["id"]);
    assert_eq!(
        (&refund["amount"], &refund["status"]),
        (&json!(19.99), &json!("approved"))
    );
    assert_eq!(refund["source"]["type"], "collector");
    assert_eq!(refund["date_created"], "2026-11-20T08:00:00.000-04:00");
    let after = provider.read(&payment).await;
    assert_eq!(
        (&after["status"], &after["status_detail"]),
        (&json!("refunded"), &json!("refunded"))
    );
    assert_eq!(after["transaction_amount_refunded"], json!(19.99));
    assert_eq!(after["refunds"], json!([refund]));
    assert_eq!(
        provider
            .post(&refunds_of(&payment), json!({}))
            .await
            .error(),
        (400, json!(2063))
    );
}

#[tokio::test]
async fn parts_add_up_to_the_whole() {
    let provider = Provider::start().await;
    let payment = provider.pay_by_card("APRO").await;
    let path = refunds_of(&payment);
    provider
        .post(&path, json!({"amount": 9.99}))
        .await
        .has_status(201);
    let after = provider.read(&payment).await;
    assert_eq!(
        (&after["status"], &after["status_detail"]),
        (&json!("approved"), &json!("partially_refunded"))
    );
    assert_eq!(
        provider.post(&path, json!({"amount": 10.01})).await.error(),
        (400, json!(2072))
    );
    assert_eq!(
        provider.post(&path, json!({"amount": 0})).await.error(),
        (400, json!(2072))
    );
    assert_eq!(
        provider.post(&path, json!({"amount": "ten"})).await.error(),
        (400, json!(2072))
    );
    provider
        .post(&path, json!({"amount": "10.00"}))
        .await
        .has_status(201);
    assert_eq!(provider.read(&payment).await["status"], "refunded");

    let all = provider.get(&path).await.json();
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!(provider.get(&format!("{path}/")).await.json(), all);
    let one = provider
        .get(&format!("{path}/{}", all[1]["id"]))
        .await
        .json();
    assert_eq!(one, all[1]);
    assert_eq!(provider.get(&format!("{path}/1")).await.status, 404);
}

#[tokio::test]
async fn a_repeated_key_answers_200_with_nothing_and_refunds_nothing() {
    let provider = Provider::start().await;
    let payment = provider.pay_by_card("APRO").await;
    let again = |amount: &'static str| {
        provider
            .bare(Method::POST, &refunds_of(&payment))
            .bearer_auth("TEST-token")
            .header("x-idempotency-key", "the-same")
            .body(amount)
    };
    assert_eq!(send(again("{\"amount\":5}")).await.status, 201);
    let repeated = send(again("{\"amount\":5}")).await;
    assert_eq!((repeated.status, repeated.text.as_str()), (200, ""));
    assert_eq!(send(again("{\"amount\":6}")).await.status, 409);
    assert_eq!(
        provider.read(&payment).await["transaction_amount_refunded"],
        json!(5.0)
    );
}

#[tokio::test]
async fn a_refund_needs_a_key_and_an_approved_payment_not_older_than_180_days() {
    let provider = Provider::start().await;
    let pending = provider.create(pix_payment()).await;
    assert_eq!(
        provider
            .post(&refunds_of(&pending), json!({}))
            .await
            .error(),
        (400, json!(2063))
    );
    let payment = provider.pay_by_card("APRO").await;
    let without_key = provider
        .bare(Method::POST, &refunds_of(&payment))
        .bearer_auth("TEST-token");
    assert_eq!(send(without_key).await.error(), (400, json!(4292)));
    provider.clock.advance(Duration::from_hours(181 * 24));
    assert_eq!(
        provider
            .post(&refunds_of(&payment), json!({}))
            .await
            .error(),
        (400, json!(2024))
    );
}
