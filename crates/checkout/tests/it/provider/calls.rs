//! What the client sends, and what it reads from valid answers.

use std::collections::BTreeSet;

use checkout::provider::{CardToken, RefundAnswer};
use checkout::request::Method;
use db::Money;
use serde_json::{Value, json};

use super::stub::{Reply, Stub, answer};
use super::*;

fn body(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn ok(body: &Value) -> Reply {
    Reply::json(200, body)
}

/// The id of the payment in every answer here.
const ID: &str = "1234567890";

#[tokio::test]
async fn every_call_has_exactly_the_three_specified_headers() {
    let search = json!({"paging": {"total": 1}, "results": [pix_answer()]});
    let refund = json!({"id": 5, "amount": 1, "status": "approved"});
    let token = json!({"id": "0123456789abcdef0123456789abcdef"});
    let replies = [
        &token,
        &pix_answer(),
        &pix_answer(),
        &search,
        &pix_answer(),
        &refund,
        &json!([refund]),
    ];
    let stub = Stub::start(replies.into_iter().map(ok).collect()).await;
    let client = client(&stub.url());
    let request = card();
    let Method::Card(card) = &request.method else {
        panic!("a card was sent")
    };
    client.create_card_token(card, &request, KEY).await.unwrap();
    create(&client, &request, Some(&CardToken::new("t")))
        .await
        .unwrap();
    client.read(ID).await.unwrap();
    client.find_by_reference(REFERENCE).await.unwrap();
    client.cancel(ID).await.unwrap();
    client
        .refund(ID, Money::from_cents(100), KEY)
        .await
        .unwrap();
    client.refunds(ID).await.unwrap();

    let calls = stub.calls();
    let lines: Vec<_> = calls
        .iter()
        .map(|call| format!("{} {}", call.method, call.path))
        .collect();
    assert_eq!(
        lines,
        [
            "POST /v1/card_tokens",
            "POST /v1/payments",
            "GET /v1/payments/1234567890",
            "GET /v1/payments/search?sort=date_created&criteria=desc&external_reference=balcao-1",
            "PUT /v1/payments/1234567890",
            "POST /v1/payments/1234567890/refunds",
            "GET /v1/payments/1234567890/refunds",
        ]
    );
    for call in &calls {
        assert_eq!(call.header("authorization"), "Bearer TEST-token");
        assert_eq!(call.header("content-type"), "application/json");
        let key: Uuid = call.header("x-idempotency-key").parse().unwrap();
        let is_given = call.method == "POST";
        assert_eq!(key == KEY, is_given, "{} {}", call.method, call.path);
        let names: BTreeSet<_> = call.headers.iter().map(|(name, _)| name.as_str()).collect();
        let needed_by_http = BTreeSet::from(["host", "content-length"]);
        let own: BTreeSet<_> = names.difference(&needed_by_http).copied().collect();
        assert_eq!(
            own,
            BTreeSet::from(["authorization", "content-type", "x-idempotency-key"])
        );
    }
    assert!(
        calls.iter().all(|call| call.connection == 0),
        "one connection serves them all"
    );
}

#[tokio::test]
async fn a_card_is_sent_for_a_token() {
    let (client, stub) = against(Reply::json(201, &json!({"id": "tok", "status": "active"}))).await;
    let request = card();
    let Method::Card(card) = &request.method else {
        panic!("a card was sent")
    };
    let token = client.create_card_token(card, &request, KEY).await.unwrap();
    assert_eq!(token.as_str(), "tok");
    assert_eq!(
        body(&stub.calls()[0].body),
        json!({
            "card_number": "5031433215406351", "expiration_month": "11", "expiration_year": "2030", "security_code": "123",
            "cardholder": {"name": "APRO", "identification": {"type": "CPF", "number": "12345678909"}},
        })
    );
}

#[tokio::test]
async fn a_card_payment_is_sent_with_its_token_and_no_card_data() {
    let (client, stub) = against(ok(&pix_answer())).await;
    create(&client, &card(), Some(&CardToken::new("tok")))
        .await
        .unwrap();
    let text = &stub.calls()[0].body;
    assert!(
        text.contains(r#""transaction_amount":100.50"#),
        "an exact decimal: {text}"
    );
    assert_eq!(
        body(text),
        json!({
            "transaction_amount": 100.5, "description": "Two \"books\"", "payment_method_id": "master", "token": "tok", "installments": 3,
            "payer": {"email": "maria@exemplo.com.br", "identification": {"type": "CPF", "number": "12345678909"}},
            "external_reference": "balcao-1",
        })
    );
}

#[tokio::test]
async fn a_pix_payment_is_sent_with_the_method_pix() {
    let (client, stub) = against(ok(&pix_answer())).await;
    let request = &pix();
    let notification_url = Some("https://shop.example/notifications?source_news=webhooks");
    let payment = NewPayment {
        request,
        token: None,
        external_reference: REFERENCE,
        notification_url,
        date_of_expiration: None,
        boleto_method: "bolbradesco",
    };
    client.create_payment(&payment, KEY).await.unwrap();
    assert_eq!(
        body(&stub.calls()[0].body),
        json!({
            "transaction_amount": 10.0, "description": "Café", "payment_method_id": "pix",
            "payer": {"email": "maria@exemplo.com.br", "identification": {"type": "CPF", "number": "12345678909"}},
            "external_reference": "balcao-1", "notification_url": "https://shop.example/notifications?source_news=webhooks",
        })
    );
}

#[tokio::test]
async fn a_boleto_is_sent_with_the_configured_method_and_the_payers_address() {
    let (client, stub) = against(ok(&pix_answer())).await;
    create(&client, &boleto(), None).await.unwrap();
    assert_eq!(
        body(&stub.calls()[0].body),
        json!({
            "transaction_amount": 0.01, "description": "Coffee", "payment_method_id": "bolbradesco",
            "payer": {
                "email": "maria@exemplo.com.br", "first_name": "Maria", "last_name": "Silva",
                "identification": {"type": "CNPJ", "number": "12ABC34501DE35"},
                "address": {"zip_code": "01310100", "street_name": "Avenida Paulista", "street_number": "1000 A",
                    "neighborhood": "Bela Vista", "city": "São Paulo", "federal_unit": "SP"},
            },
            "external_reference": "balcao-1",
        })
    );
}

#[tokio::test]
async fn the_same_call_is_sent_with_the_same_bytes() {
    let stub = Stub::start(vec![ok(&pix_answer()), ok(&pix_answer())]).await;
    let client = client(&stub.url());
    for _ in 0..2 {
        create(&client, &boleto(), None).await.unwrap();
    }
    let calls = stub.calls();
    assert_eq!(
        (&calls[0].body, &calls[0].headers),
        (&calls[1].body, &calls[1].headers)
    );
}

#[tokio::test]
async fn a_payment_is_read_with_its_id_as_text_and_its_dates_as_sent() {
    let (client, _stub) = against(Reply::json(201, &pix_answer())).await;
    let payment = create(&client, &pix(), None).await.unwrap();
    assert_eq!(payment.id, "1234567890");
    assert_eq!(
        (payment.status.as_str(), payment.status_detail.as_str()),
        ("pending", "pending_waiting_transfer")
    );
    assert_eq!(payment.amount, Money::from_cents(1000));
    assert_eq!(payment.date_created, "2026-11-20T08:00:00.000-04:00");
    assert_eq!(payment.date_approved, None);
    assert_eq!(payment.artefacts.qr_code.as_deref(), Some("00020126"));
    assert_eq!(
        payment.artefacts.ticket_url.as_deref(),
        Some("https://provider.example/t/1")
    );
}

#[tokio::test]
async fn a_declined_card_is_a_payment() {
    let mut declined = pix_answer();
    declined["status"] = json!("rejected");
    let (client, _stub) = against(Reply::json(201, &declined)).await;
    let payment = create(&client, &card(), Some(&CardToken::new("t")))
        .await
        .unwrap();
    assert_eq!(payment.status, "rejected");
}

#[tokio::test]
async fn a_search_keeps_only_what_has_our_reference() {
    let mut other = pix_answer();
    other["external_reference"] = json!("another");
    let (client, _stub) = against(ok(&json!({"results": [other, pix_answer()]}))).await;
    let found = client.find_by_reference(REFERENCE).await.unwrap();
    assert_eq!(found.len(), 1);
    let (client, _stub) = against(ok(&json!({"results": []}))).await;
    assert!(
        client
            .find_by_reference(REFERENCE)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_search_that_cannot_be_read_whole_is_not_taken_for_an_empty_one() {
    for answer in [
        json!({"results": [{"id": 1}]}),
        json!({"results": null}),
        json!({}),
        json!({"results": ["x"]}),
    ] {
        let (client, _stub) = against(ok(&answer)).await;
        let failure = client.find_by_reference(REFERENCE).await.unwrap_err();
        assert!(matches!(failure, Failure::Unreadable { .. }), "{answer}");
    }
}

#[tokio::test]
async fn a_refund_is_sent_with_its_amount() {
    let refund = json!({"id": 77, "payment_id": 1, "amount": 4.5, "status": "approved", "date_created": "2026-11-20T08:00:00.000-04:00"});
    let (client, stub) = against(Reply::json(201, &refund)).await;
    let RefundAnswer::Made(made) = client
        .refund("1", Money::from_cents(450), KEY)
        .await
        .unwrap()
    else {
        panic!("the refund was told")
    };
    assert_eq!(
        (made.id.as_str(), made.amount, made.status.as_str()),
        ("77", Some(Money::from_cents(450)), "approved")
    );
    assert_eq!(stub.calls()[0].body, r#"{"amount":4.50}"#);
}

#[tokio::test]
async fn a_repeated_refund_is_answered_with_an_empty_body() {
    let (client, _stub) = against(Reply::Bytes(answer(200, "", b""))).await;
    assert_eq!(
        client
            .refund("1", Money::from_cents(450), KEY)
            .await
            .unwrap(),
        RefundAnswer::AlreadyMade
    );
}

#[tokio::test]
async fn a_cancellation_is_a_put_of_the_status() {
    let (client, stub) = against(ok(&pix_answer())).await;
    client.cancel(ID).await.unwrap();
    assert_eq!(stub.calls()[0].body, r#"{"status":"cancelled"}"#);
}

#[tokio::test]
async fn an_id_stays_one_segment_of_the_path() {
    let (client, stub) = against(ok(&pix_answer())).await;
    // The answer is about another payment, so the client ignores it.
    client.read("../1?a=b#c d").await.unwrap_err();
    assert_eq!(
        stub.calls()[0].path,
        "/v1/payments/%2E%2E%2F1%3Fa%3Db%23c%20d"
    );
}

#[tokio::test]
async fn an_address_may_have_a_path_of_its_own() {
    let stub = Stub::start(vec![ok(&pix_answer())]).await;
    client(&format!("{}/gateway/", stub.url()))
        .read(ID)
        .await
        .unwrap();
    assert_eq!(stub.calls()[0].path, "/gateway/v1/payments/1234567890");
}
