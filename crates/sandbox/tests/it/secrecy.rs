//! Only the first six and last four digits of a card are stored.

use reqwest::Method;
use sandbox::Config;
use serde_json::json;

use crate::support::{AMEX, Provider, VISA, card, card_payment, send};

/// Security codes that occur nowhere by chance.
const CODES: [&str; 2] = ["907", "9071"];

#[tokio::test]
async fn neither_the_journal_nor_the_calls_hold_a_card_number_or_security_code() {
    let folder = tempfile::tempdir().unwrap();
    let data = Some(folder.path().to_owned());
    let provider = Provider::with(Config {
        data,
        ..Config::default()
    })
    .await;
    for (number, code, method) in [(VISA, CODES[0], "visa"), (AMEX, CODES[1], "amex")] {
        let mut card = card(number, "APRO");
        card["security_code"] = json!(code);
        let mut body = card_payment(&provider.token(card.clone()).await);
        body["payment_method_id"] = json!(method);
        provider.create(body.clone()).await;
        // Cards where they do not belong, and bodies that nobody can read.
        body["additional"] = card.clone();
        provider.post("/v1/payments", body).await;
        provider
            .post("/v1/card_tokens", json!([card.clone()]))
            .await;
        send(
            provider
                .request(Method::POST, "/v1/card_tokens")
                .body(format!(
                    "{{\"card_number\":\"{number}\",\"security_code\":\"{code}\""
                )),
        )
        .await;
        send(provider.request(Method::GET, "/v1/payments").json(&card)).await;
    }
    let calls = provider.get("/sandbox/calls").await;
    assert!(calls.json().as_array().unwrap().len() >= 10);
    provider.stop().await;
    let journal = std::fs::read_to_string(folder.path().join("payments.jsonl")).unwrap();
    assert_eq!(journal.lines().count(), 2);
    for text in [&calls.text, &journal] {
        for secret in [VISA, AMEX] {
            assert!(!text.contains(secret));
        }
        for code in CODES {
            assert!(!text.contains(&format!("\"{code}\"")), "{code} in {text}");
        }
    }
}

#[tokio::test]
async fn calls_are_listed_with_headers_and_masked_bodies() {
    let provider = Provider::start().await;
    let request = provider
        .bare(Method::POST, "/v1/card_tokens?site=MLB")
        .bearer_auth("TEST-seen");
    send(
        request
            .header("x-idempotency-key", "seen")
            .json(&card(VISA, "APRO")),
    )
    .await;
    let call = &provider.get("/sandbox/calls").await.json()[0];
    assert_eq!(
        (&call["method"], &call["path"], &call["query"]),
        (
            &json!("POST"),
            &json!("/v1/card_tokens"),
            &json!("site=MLB")
        )
    );
    assert_eq!(call["headers"]["authorization"], "Bearer TEST-seen");
    assert_eq!(call["headers"]["x-idempotency-key"], "seen");
    assert_eq!(
        (&call["body"]["card_number"], &call["body"]["security_code"]),
        (&json!("****"), &json!("****"))
    );
    assert_eq!(call["body"]["cardholder"]["name"], "APRO");
    send(provider.bare(Method::DELETE, "/sandbox/calls"))
        .await
        .has_status(204);
    assert_eq!(provider.get("/sandbox/calls").await.json(), json!([]));
}

#[tokio::test]
async fn only_the_last_calls_are_remembered() {
    let provider = Provider::with(Config {
        calls_kept: 2,
        ..Config::default()
    })
    .await;
    for path in ["/v1/payments/1", "/v1/payments/2", "/v1/payments/3"] {
        provider.get(path).await;
    }
    let calls = provider.get("/sandbox/calls").await.json();
    assert_eq!(
        (&calls[0]["path"], &calls[1]["path"]),
        (&json!("/v1/payments/2"), &json!("/v1/payments/3"))
    );
}
