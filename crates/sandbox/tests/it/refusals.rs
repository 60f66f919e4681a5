//! Refusals of the provider, with their bodies and codes.

use reqwest::Method;
use sandbox::Config;
use serde_json::{Value, json};

use crate::support::{Provider, card, card_payment, pix_payment, send};

#[tokio::test]
async fn calls_without_an_access_token_are_refused() {
    let provider = Provider::start().await;
    for (method, path) in [
        (Method::POST, "/v1/card_tokens"),
        (Method::POST, "/v1/payments"),
        (Method::GET, "/v1/payments/1"),
        (Method::GET, "/v1/payments/search"),
        (Method::GET, "/v1/payment_methods"),
        (Method::PUT, "/v1/payments/1"),
        (Method::POST, "/v1/payments/1/refunds"),
    ] {
        let answer = send(provider.bare(method.clone(), path)).await;
        let message = "Must provide your access_token to proceed";
        let cause = json!([{"code": 5, "description": message, "data": null}]);
        let body =
            json!({"message": message, "error": "unauthorized", "status": 401, "cause": cause});
        assert_eq!(
            (answer.status, answer.json()),
            (401, body),
            "{method} {path}"
        );
    }
    let basic = provider
        .bare(Method::GET, "/v1/payments/1")
        .header("authorization", "Basic YTpi");
    assert_eq!(send(basic).await.status, 401);
}

#[tokio::test]
async fn only_configured_tokens_are_accepted_when_there_are_any() {
    let access_tokens = vec!["TEST-one".to_owned(), "TEST-two".to_owned()];
    let provider = Provider::with(Config {
        access_tokens,
        ..Config::default()
    })
    .await;
    let status = async |token: &str| {
        send(
            provider
                .bare(Method::GET, "/v1/payments/1")
                .bearer_auth(token),
        )
        .await
        .status
    };
    assert_eq!(status("TEST-two").await, 404);
    assert_eq!(status("TEST-three").await, 401);
}

#[tokio::test]
async fn wrong_fields_of_a_payment_have_their_codes() {
    let provider = Provider::start().await;
    let long_email = format!("{}@example.com", "m".repeat(250));
    let long_url = format!("https://example.com/{}", "x".repeat(500));
    let cases: [(&str, Value, u16); 20] = [
        ("/transaction_amount", Value::Null, 4002),
        ("/transaction_amount", json!("ten"), 4003),
        ("/transaction_amount", json!(true), 4003),
        ("/transaction_amount", json!({}), 4003),
        ("/transaction_amount", json!(0), 4037),
        ("/transaction_amount", json!(-1), 4037),
        ("/transaction_amount", json!(1.234), 4037),
        ("/transaction_amount", json!(1e15), 4037),
        ("/payment_method_id", Value::Null, 4001),
        ("/payment_method_id", json!("barter"), 3011),
        ("/payment_method_id", json!("visa"), 4000),
        ("/payer", Value::Null, 4050),
        ("/payer/email", json!("maria"), 4050),
        ("/payer/email", json!("maria silva@example.com"), 4050),
        ("/payer/email", json!(long_email), 4051),
        ("/payer/identification/number", json!("12345678900"), 2067),
        ("/payer/identification/type", json!("CNPJ"), 2067),
        ("/notification_url", json!("example.com"), 4020),
        ("/notification_url", json!(long_url), 4021),
        ("/external_reference", json!("x".repeat(257)), 1),
    ];
    for (field, value, code) in cases {
        let mut body = pix_payment();
        body["notification_url"] = Value::Null;
        *body.pointer_mut(field).unwrap() = value.clone();
        let answer = provider.post("/v1/payments", body).await;
        assert_eq!(answer.error(), (400, json!(code)), "{field} {value}");
        assert_eq!(answer.json()["error"], "bad_request");
    }
}

#[tokio::test]
async fn installments_of_a_card_are_required_and_numeric() {
    let provider = Provider::start().await;
    let token = provider.token(card(crate::support::VISA, "APRO")).await;
    for (installments, code) in [
        (Value::Null, 4004),
        (json!("many"), 4005),
        (json!(0), 4005),
        (json!(13), 4005),
    ] {
        let mut body = card_payment(&token);
        body["installments"] = installments;
        assert_eq!(
            provider.post("/v1/payments", body).await.error(),
            (400, json!(code))
        );
    }
    provider
        .post("/v1/payments", card_payment(&token))
        .await
        .has_status(201);
}

#[tokio::test]
async fn bodies_that_are_no_json_object_are_refused() {
    let provider = Provider::start().await;
    for path in ["/v1/payments", "/v1/card_tokens"] {
        for body in [
            "",
            "{",
            "null",
            "[1]",
            "\u{0}",
            "{\"payer\": 1}",
            "\"text\"",
        ] {
            let request = provider.request(Method::POST, path).body(body);
            let answer = send(request).await;
            assert_eq!(answer.status, 400, "{path} {body}: {}", answer.text);
            assert!(answer.json()["message"].is_string());
        }
    }
}

#[tokio::test]
async fn unknown_payments_and_addresses_answer_404() {
    let provider = Provider::start().await;
    for path in [
        "/v1/payments/1",
        "/v1/payments/abc",
        "/v1/payments/1/refunds",
        "/v1/payments/1/refunds/2",
    ] {
        assert_eq!(
            provider.get(path).await.error(),
            (404, json!(2000)),
            "{path}"
        );
    }
    provider
        .put("/v1/payments/1", json!({"status": "cancelled"}))
        .await
        .has_status(404);
    provider
        .post("/v1/payments/1/refunds", json!({}))
        .await
        .has_status(404);
    assert_eq!(provider.get("/v1/unheard").await.status, 404);
    provider
        .post("/sandbox/payments/1/pay", json!({}))
        .await
        .has_status(404);
}

#[tokio::test]
async fn metadata_that_no_answer_can_repeat_is_refused() {
    let provider = Provider::start().await;
    for metadata in [r#"{"a":1e999}"#, r#"{"a":"\ud800"}"#] {
        let body = pix_payment().to_string();
        let body = format!("{{\"metadata\":{metadata},{}", &body[1..]);
        let request = provider.request(Method::POST, "/v1/payments");
        let request = request.header("content-type", "application/json");
        assert_eq!(send(request.body(body)).await.status, 400, "{metadata}");
    }
}
