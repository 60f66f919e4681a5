//! The same key makes one payment.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Provider, VISA, card, card_payment, pix_payment, send};

async fn with_key(provider: &Provider, key: &str, body: &Value) -> Answer {
    let request = provider
        .bare(Method::POST, "/v1/payments")
        .bearer_auth("TEST-token");
    send(request.header("x-idempotency-key", key).json(body)).await
}

#[tokio::test]
async fn a_payment_needs_a_key() {
    let provider = Provider::start().await;
    let request = provider
        .bare(Method::POST, "/v1/payments")
        .bearer_auth("TEST-token");
    assert_eq!(
        send(request.json(&pix_payment())).await.error(),
        (400, json!(4292))
    );
    assert_eq!(
        with_key(&provider, " ", &pix_payment()).await.error(),
        (400, json!(4292))
    );
}

#[tokio::test]
async fn the_same_key_gives_the_first_result_again() {
    let provider = Provider::start().await;
    let first = with_key(&provider, "one", &pix_payment()).await;
    provider.act(&first.json(), "pay").await;
    let again = with_key(&provider, "one", &pix_payment()).await;
    assert_eq!((again.status, &again.text), (201, &first.text));
    let other = with_key(&provider, "two", &pix_payment()).await;
    assert_ne!(other.json()["id"], first.json()["id"]);
}

#[tokio::test]
async fn a_repeated_card_payment_does_not_ask_for_another_token() {
    let provider = Provider::start().await;
    let body = card_payment(&provider.token(card(VISA, "FUND")).await);
    let first = with_key(&provider, "one", &body).await;
    let again = with_key(&provider, "one", &body).await;
    assert_eq!(first.json()["status"], "rejected");
    assert_eq!(again.text, first.text);
}

#[tokio::test]
async fn the_same_key_with_another_body_is_a_conflict() {
    let provider = Provider::start().await;
    with_key(&provider, "one", &pix_payment()).await;
    let mut other = pix_payment();
    other["transaction_amount"] = json!(1);
    let answer = with_key(&provider, "one", &other).await;
    assert_eq!(
        (answer.status, &answer.json()["error"]),
        (409, &json!("conflict"))
    );
}

#[tokio::test]
async fn what_was_refused_may_be_sent_again_with_the_same_key() {
    let provider = Provider::start().await;
    let mut wrong = pix_payment();
    wrong["transaction_amount"] = json!(0);
    assert_eq!(with_key(&provider, "one", &wrong).await.status, 400);
    assert_eq!(with_key(&provider, "one", &pix_payment()).await.status, 201);
}

#[tokio::test]
async fn a_key_in_flight_is_locked_and_fifty_at_once_make_one_payment() {
    let provider = Provider::start().await;
    provider.fail("POST", "/v1/payments", "stall 1s", 1).await;
    let body = pix_payment();
    let mut answers = Vec::new();
    let mut set = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let request = provider
            .bare(Method::POST, "/v1/payments")
            .bearer_auth("TEST-token");
        set.spawn(send(request.header("x-idempotency-key", "one").json(&body)));
    }
    while let Some(answer) = set.join_next().await {
        answers.push(answer.unwrap());
    }
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    let locked = answers.iter().filter(|answer| answer.status == 423).count();
    assert_eq!(made + locked, 50);
    assert!(made >= 1 && locked >= 1, "{made} {locked}");
    let charges = provider
        .get("/sandbox/charges?external_reference=order-2")
        .await
        .json();
    assert_eq!(charges[0]["payments"], 1);
    let after = with_key(&provider, "one", &body).await;
    assert_eq!(after.status, 201);
    assert!(
        answers
            .iter()
            .filter(|a| a.status == 201)
            .all(|a| a.text == after.text)
    );
}

#[tokio::test]
async fn a_key_is_forgotten_after_a_day() {
    let provider = Provider::start().await;
    let first = with_key(&provider, "one", &pix_payment()).await.json();
    provider.clock.advance(Duration::from_hours(24));
    with_key(&provider, "two", &pix_payment()).await;
    let later = with_key(&provider, "one", &pix_payment()).await.json();
    assert_ne!(later["id"], first["id"]);
}
