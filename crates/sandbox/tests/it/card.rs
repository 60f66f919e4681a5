//! Tokens and payments by card.

use serde_json::{Value, json};

use crate::support::{AMEX, Provider, VISA, card, card_payment};

#[tokio::test]
async fn a_token_shows_the_card_masked() {
    let provider = Provider::start().await;
    let answer = provider.post("/v1/card_tokens", card(VISA, "APRO")).await;
    let token = answer.json();
    assert_eq!(answer.status, 201);
    assert_eq!(token["id"].as_str().unwrap().len(), 32);
    assert_eq!(token["first_six_digits"], "423564");
    assert_eq!(token["last_four_digits"], "5682");
    assert_eq!(
        (&token["expiration_month"], &token["expiration_year"]),
        (&json!(11), &json!(2030))
    );
    assert_eq!(
        token["cardholder"]["identification"],
        json!({"type": "CPF", "number": "12345678909"})
    );
    assert_eq!(
        (&token["status"], &token["luhn_validation"]),
        (&json!("active"), &json!(true))
    );
    assert_eq!(
        (&token["card_number_length"], &token["security_code_length"]),
        (&json!(16), &json!(3))
    );
    assert_eq!(
        (&token["live_mode"], &token["require_esc"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(token["date_created"], "2026-11-20T08:00:00.000-04:00");
    assert_eq!(token["date_due"], "2026-11-28T08:00:00.000-04:00");
    assert!(!answer.text.contains(VISA));
}

#[tokio::test]
async fn an_approved_card_payment_is_answered_whole() {
    let provider = Provider::start().await;
    let payment = provider.pay_by_card("APRO").await;
    assert!(payment["id"].is_u64());
    assert_eq!(
        (&payment["status"], &payment["status_detail"]),
        (&json!("approved"), &json!("accredited"))
    );
    assert_eq!(payment["transaction_amount"].to_string(), "19.99");
    assert_eq!(
        (&payment["payment_method_id"], &payment["payment_type_id"]),
        (&json!("visa"), &json!("credit_card"))
    );
    assert_eq!(payment["date_created"], "2026-11-20T08:00:00.000-04:00");
    assert_eq!(payment["date_approved"], payment["date_created"]);
    assert_eq!(payment["card"]["first_six_digits"], "423564");
    assert_eq!(payment["card"]["last_four_digits"], "5682");
    assert_eq!(payment["card"]["cardholder"]["name"], "APRO");
    assert_eq!(
        payment["payer"]["identification"],
        json!({"type": "CPF", "number": "12345678909"})
    );
    assert_eq!(
        (&payment["currency_id"], &payment["live_mode"]),
        (&json!("BRL"), &json!(false))
    );
    assert_eq!(
        (&payment["installments"], &payment["captured"]),
        (&json!(3), &json!(true))
    );
    assert_eq!(payment["external_reference"], "order-1");
    assert_eq!(payment["refunds"], json!([]));
    assert_eq!(provider.read(&payment).await, payment);
}

#[tokio::test]
async fn the_holders_name_decides() {
    let provider = Provider::start().await;
    for (holder, status, detail) in [
        ("APRO", "approved", "accredited"),
        ("OTHE", "rejected", "cc_rejected_other_reason"),
        ("CONT", "in_process", "pending_contingency"),
        ("FUND", "rejected", "cc_rejected_insufficient_amount"),
        ("Maria da Silva", "approved", "accredited"),
    ] {
        let payment = provider.pay_by_card(holder).await;
        assert_eq!(
            (&payment["status"], &payment["status_detail"]),
            (&json!(status), &json!(detail))
        );
        assert_eq!(payment["date_approved"].is_null(), status != "approved");
    }
}

#[tokio::test]
async fn a_token_is_used_once() {
    let provider = Provider::start().await;
    let token = provider.token(card(VISA, "APRO")).await;
    let path = format!("/v1/card_tokens/{token}");
    assert_eq!(provider.get(&path).await.json()["status"], "active");
    provider.create(card_payment(&token)).await;
    assert_eq!(provider.get(&path).await.json()["status"], "used");
    assert_eq!(provider.get("/v1/card_tokens/nonsense").await.status, 404);
    let again = provider.post("/v1/payments", card_payment(&token)).await;
    assert_eq!(again.error(), (400, json!(3003)));
    assert_eq!(
        again.json()["message"],
        "Card token was used, please generate new"
    );
    let unknown = provider
        .post("/v1/payments", card_payment("nonsense"))
        .await;
    assert_eq!(unknown.error(), (400, json!(2006)));
}

#[tokio::test]
async fn wrong_card_fields_have_their_codes() {
    let provider = Provider::start().await;
    let cases: [(&str, Value, &str); 13] = [
        ("card_number", Value::Null, "205"),
        ("expiration_month", json!(""), "208"),
        ("expiration_year", Value::Null, "209"),
        ("security_code", json!(" "), "224"),
        ("cardholder", Value::Null, "221"),
        ("card_number", json!("4235 6477 2802 5682"), "E301"),
        ("card_number", json!("42"), "E301"),
        ("security_code", json!("12"), "E302"),
        ("expiration_month", json!("13"), "325"),
        ("expiration_year", json!("30"), "326"),
        ("expiration_year", json!(2025), "326"),
        ("expiration_year", json!(2061), "326"),
        ("cardholder", json!({"name": " "}), "221"),
    ];
    for (field, value, code) in cases {
        let mut body = card(VISA, "APRO");
        body[field] = value.clone();
        let answer = provider.post("/v1/card_tokens", body).await;
        assert_eq!(answer.error(), (400, json!(code)), "{field} {value}");
    }
    let mut past = card(VISA, "APRO");
    past["expiration_month"] = json!(10);
    past["expiration_year"] = json!(2026);
    assert_eq!(
        provider.post("/v1/card_tokens", past).await.error(),
        (400, json!("325"))
    );
}

#[tokio::test]
async fn a_mistyped_number_is_noticed_by_the_payment() {
    let provider = Provider::start().await;
    let answer = provider
        .post("/v1/card_tokens", card("4235647728025683", "APRO"))
        .await;
    assert_eq!(
        (answer.status, &answer.json()["luhn_validation"]),
        (201, &json!(false))
    );
    let token = answer.json()["id"].as_str().unwrap().to_owned();
    let refused = provider.post("/v1/payments", card_payment(&token)).await;
    assert_eq!(refused.error(), (400, json!(3034)));
}

#[tokio::test]
async fn the_cards_network_is_held_to() {
    let provider = Provider::start().await;
    let pay = async |number: &str, security_code: &str, method: Value, installments: u8| {
        let mut card = card(number, "APRO");
        card["security_code"] = json!(security_code);
        let mut body = card_payment(&provider.token(card).await);
        body["payment_method_id"] = method;
        body["installments"] = json!(installments);
        let answer = provider.post("/v1/payments", body).await;
        if answer.status == 201 {
            (201, answer.json()["payment_method_id"].clone())
        } else {
            answer.error()
        }
    };
    assert_eq!(
        pay(AMEX, "1234", json!("amex"), 6).await,
        (201, json!("amex"))
    );
    assert_eq!(
        pay(AMEX, "1234", json!("amex"), 7).await,
        (400, json!(4005))
    );
    assert_eq!(pay(AMEX, "123", json!("amex"), 1).await, (400, json!(3012)));
    assert_eq!(
        pay(AMEX, "1234", json!("visa"), 1).await,
        (400, json!(3016))
    );
    assert_eq!(
        pay(AMEX, "1234", json!("unheard"), 1).await,
        (400, json!(3011))
    );
    assert_eq!(
        pay("5067766783888311", "123", Value::Null, 12).await,
        (201, json!("elo"))
    );
    assert_eq!(
        pay("6011000990139424", "123", json!("visa"), 1).await,
        (400, json!(2131))
    );
}

#[tokio::test]
async fn a_reserved_amount_is_captured_later_or_let_go() {
    let provider = Provider::start().await;
    let reserve = async || {
        let mut body = card_payment(&provider.token(card(VISA, "APRO")).await);
        body["capture"] = json!(false);
        provider.create(body).await
    };
    let payment = reserve().await;
    assert_eq!(
        (&payment["status"], &payment["status_detail"]),
        (&json!("authorized"), &json!("pending_capture"))
    );
    let path = format!("/v1/payments/{}", payment["id"]);
    let captured = provider
        .put(&path, json!({"capture": true, "transaction_amount": 10}))
        .await
        .json();
    assert_eq!(
        (&captured["status"], &captured["transaction_amount"]),
        (&json!("approved"), &json!(10.0))
    );

    let payment = reserve().await;
    let path = format!("/v1/payments/{}", payment["id"]);
    assert_eq!(
        provider
            .put(&path, json!({"capture": true, "transaction_amount": 20}))
            .await
            .error(),
        (400, json!(2017))
    );
    assert_eq!(
        provider
            .put(&path, json!({"status": "cancelled"}))
            .await
            .json()["status"],
        "cancelled"
    );
}
