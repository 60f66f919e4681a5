//! Faults on demand, and the record of the calls with faults.

use std::time::{Duration, Instant};

use reqwest::{Method, RequestBuilder};
use serde_json::json;

use crate::support::{Provider, pix_payment, send};

async fn payments(provider: &Provider) -> u64 {
    let charges = provider
        .get("/sandbox/charges?external_reference=order-2")
        .await
        .json();
    charges[0]["payments"].as_u64().unwrap_or(0)
}

#[tokio::test]
async fn a_status_is_answered_in_place_of_the_payment_so_often_as_asked() {
    let provider = Provider::start().await;
    for (status, error) in [
        (500, "internal_server_error"),
        (429, "too_many_requests"),
        (401, "unauthorized"),
        (400, "bad_request"),
        (503, "service_unavailable"),
    ] {
        provider
            .fail("POST", "/v1/payments", &format!("status {status}"), 2)
            .await;
        for _ in 0..2 {
            let answer = provider.post("/v1/payments", pix_payment()).await;
            assert_eq!(
                (answer.status, &answer.json()["error"]),
                (status, &json!(error))
            );
        }
    }
    assert_eq!(payments(&provider).await, 0);
    provider
        .fail("POST", "/v1/payments", "status 500 after", 1)
        .await;
    provider
        .post("/v1/payments", pix_payment())
        .await
        .has_status(500);
    assert_eq!(payments(&provider).await, 1);
    provider
        .post("/v1/payments", pix_payment())
        .await
        .has_status(201);
}

#[tokio::test]
async fn a_status_may_name_the_code_of_its_cause() {
    let provider = Provider::start().await;
    let fault = "status 400 code 2001";
    provider.fail("POST", "/v1/payments", fault, 1).await;
    let answer = provider.post("/v1/payments", pix_payment()).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["cause"][0]["code"], 2001);
    assert_eq!(payments(&provider).await, 0);
}

#[tokio::test]
async fn a_lagging_search_leaves_out_what_was_just_made_and_finds_it_later() {
    let provider = Provider::start().await;
    let payment = provider.create(pix_payment()).await;
    provider.act(&payment, "pay").await;
    let path = format!("/v1/payments/{}/refunds", payment["id"]);
    assert_eq!(provider.post(&path, json!({})).await.status, 201);
    provider.fail("GET", "/v1/payments/*", "lag 60m", 2).await;
    let search = "/v1/payments/search?external_reference=order-2";
    for found in [0, 1] {
        let results = provider.get(search).await.json();
        assert_eq!(results["results"].as_array().unwrap().len(), found);
        let refunds = provider.get(&path).await.json();
        assert_eq!(refunds.as_array().unwrap().len(), found);
    }
}

#[tokio::test]
async fn a_throttled_call_says_when_to_come_again() {
    let provider = Provider::start().await;
    provider
        .fail("GET", "/v1/payments/*", "status 429", 1)
        .await;
    let answer = provider
        .request(Method::GET, "/v1/payments/1")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.headers()["retry-after"], "1");
}

#[tokio::test]
async fn a_dropped_call_was_made_or_not_and_the_connection_just_ends() {
    for (fault, made) in [
        ("drop before", 0),
        ("drop after", 1),
        ("reset", 0),
        ("reset after", 1),
    ] {
        let provider = Provider::start().await;
        provider.fail("POST", "/v1/payments", fault, 1).await;
        let error = provider
            .request(Method::POST, "/v1/payments")
            .json(&pix_payment())
            .send()
            .await
            .unwrap_err();
        assert!(
            error.is_request() && error.status().is_none(),
            "{fault}: {error:?}"
        );
        let reset = format!("{error:?}").contains("ConnectionReset");
        assert_eq!(reset, fault.starts_with("reset"), "{fault}: {error:?}");
        assert_eq!(payments(&provider).await, made, "{fault}");
    }
}

#[tokio::test]
async fn half_an_answer_and_garbage_come_after_the_payment_was_made() {
    let provider = Provider::start().await;
    provider.fail("POST", "/v1/payments", "truncate", 1).await;
    let answer = provider
        .request(Method::POST, "/v1/payments")
        .json(&pix_payment())
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 201);
    assert!(answer.text().await.is_err());
    assert_eq!(payments(&provider).await, 1);

    provider.fail("POST", "/v1/payments", "garbage", 1).await;
    let answer = provider
        .request(Method::POST, "/v1/payments")
        .json(&pix_payment())
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    let body = answer.bytes().await.unwrap();
    assert!(serde_json::from_slice::<serde_json::Value>(&body).is_err());
    assert_eq!(payments(&provider).await, 2);
}

#[tokio::test]
async fn a_delayed_answer_is_late_while_its_payment_is_there() {
    let provider = Provider::start().await;
    provider.fail("POST", "/v1/payments", "delay 60m", 1).await;
    let request = tokio::spawn(send(pix(&provider)));
    while payments(&provider).await == 0 {}
    assert!(!request.is_finished());
    provider.clear_faults().await;
    assert_eq!(request.await.unwrap().status, 201);
}

#[tokio::test]
async fn a_delay_is_as_long_as_was_asked_for() {
    let provider = Provider::start().await;
    provider
        .fail("POST", "/v1/payments", "delay 300ms", 1)
        .await;
    let start = Instant::now();
    assert_eq!(send(pix(&provider)).await.status, 201);
    assert!(start.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn a_stalled_payment_is_made_though_its_caller_gave_up() {
    let provider = Provider::start().await;
    for (fault, is_over_by_itself) in [("stall 60m", false), ("stall 50ms", true)] {
        send(provider.bare(Method::DELETE, "/sandbox/calls")).await;
        let before = payments(&provider).await;
        provider.fail("POST", "/v1/payments", fault, 1).await;
        let request = tokio::spawn(pix(&provider).send());
        provider.called("/v1/payments").await;
        if !is_over_by_itself {
            request.abort();
            assert!(request.await.unwrap_err().is_cancelled());
            assert_eq!(payments(&provider).await, before);
            provider.clear_faults().await;
        }
        while payments(&provider).await == before {}
    }
}

fn pix(provider: &Provider) -> RequestBuilder {
    provider
        .request(Method::POST, "/v1/payments")
        .json(&pix_payment())
}

#[tokio::test]
async fn faults_are_listed_cleared_and_checked() {
    let provider = Provider::start().await;
    provider
        .fail("POST", "/v1/payments", "drop before", 3)
        .await;
    let listed = provider.get("/sandbox/faults").await.json();
    assert_eq!(
        listed,
        json!([{"match": {"method": "POST", "path": "/v1/payments"}, "fault": "drop before", "times": 3}])
    );
    provider.clear_faults().await;
    provider
        .post("/v1/payments", pix_payment())
        .await
        .has_status(201);
    provider
        .post("/sandbox/faults", json!({"fault": "explode"}))
        .await
        .has_status(422);
}

#[tokio::test]
async fn charges_count_the_money_that_moved() {
    let provider = Provider::start().await;
    let payment = provider.pay_by_card("APRO").await;
    provider.pay_by_card("OTHE").await;
    provider
        .post(
            &format!("/v1/payments/{}/refunds", payment["id"]),
            json!({"amount": 5}),
        )
        .await;
    provider.create(pix_payment()).await;
    let charges = provider.get("/sandbox/charges").await.json();
    assert_eq!(
        charges,
        json!([
            {"external_reference": "order-1", "charges": 1, "amount": 19.99, "refunded": 5.0, "payments": 2},
            {"external_reference": "order-2", "charges": 0, "amount": 0.0, "refunded": 0.0, "payments": 1},
        ])
    );
}
