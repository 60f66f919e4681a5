//! A sandbox with a data folder keeps its payments.

use std::io::Write;

use reqwest::Method;
use sandbox::Config;
use serde_json::json;

use crate::support::{Provider, boleto_payment, pix_payment, send};

#[tokio::test]
async fn a_restarted_sandbox_has_its_payments_and_keys_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        data: Some(folder.path().join("new")),
        public_url: Some("http://127.0.0.1:8002".to_owned()),
        ..Config::default()
    };
    let before = Provider::with(config.clone()).await;
    let card = before.pay_by_card("APRO").await;
    before
        .post(
            &format!("/v1/payments/{}/refunds", card["id"]),
            json!({"amount": 5}),
        )
        .await;
    let boleto = before.create(boleto_payment()).await;
    let with_key = |provider: &Provider| {
        let request = provider
            .bare(Method::POST, "/v1/payments")
            .bearer_auth("TEST-token");
        request
            .header("x-idempotency-key", "kept")
            .json(&pix_payment())
    };
    let pix = send(with_key(&before)).await;
    let card = before.read(&card).await;
    let clock = before.stop().await;

    let after = Provider::at(config, clock).await;
    assert_eq!(after.read(&card).await, card);
    assert_eq!(after.read(&boleto).await, boleto);
    assert_eq!(send(with_key(&after)).await.text, pix.text);
    assert_eq!(after.act(&boleto, "pay").await.status, 200);
    let next = after.create(pix_payment()).await;
    let refund = &card["refunds"][0]["id"];
    assert!(
        [&card["id"], refund, &boleto["id"]]
            .into_iter()
            .all(|id| next["id"].as_u64() > id.as_u64())
    );
    let found = after
        .get("/v1/payments/search?external_reference=order-2")
        .await
        .json();
    assert_eq!(found["paging"]["total"], 2);
}

#[tokio::test]
async fn the_journal_is_compacted_and_a_line_that_was_cut_off_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        data: Some(folder.path().to_owned()),
        ..Config::default()
    };
    let journal = folder.path().join("payments.jsonl");
    let provider = Provider::with(config.clone()).await;
    let payment = provider.create(pix_payment()).await;
    provider.act(&payment, "pay").await;
    let clock = provider.stop().await;
    assert_eq!(
        std::fs::read_to_string(&journal).unwrap().lines().count(),
        2
    );
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&journal)
        .unwrap();
    file.write_all(b"{\"id\":1,\"stat").unwrap();

    let provider = Provider::at(config, clock).await;
    assert_eq!(
        std::fs::read_to_string(&journal).unwrap().lines().count(),
        1
    );
    assert_eq!(provider.read(&payment).await["status"], "approved");
}
