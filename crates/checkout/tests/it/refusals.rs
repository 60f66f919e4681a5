//! Errors of the whole service: every entry of the table "Errors" with its status and its field.

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};
use test_kit::on_both_engines;

use crate::payments::{
    app::{Answer, Shop, shop_on_both_engines},
    requests::{boleto, card, pix, with, without},
};

/// Fails unless an error's body is the specification's, `outcome` aside.
fn assert_error(answer: &Answer, status: u16, detail: &str, field: Option<&str>) {
    let body = answer.json();
    assert_eq!(answer.error(), (status, detail.to_owned()));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(body["status_code"], status);
    assert_eq!(body["timestamp"], "2026-11-20T12:00:00.000000Z");
    assert_eq!(body.get("field").and_then(Value::as_str), field);
    let known = ["detail", "status_code", "timestamp", "field", "outcome"];
    assert!(
        body.as_object()
            .unwrap()
            .keys()
            .all(|name| known.contains(&name.as_str())),
        "{body}"
    );
}

shop_on_both_engines!(
    every_detail_of_the_table_is_answered_with_its_status_and_field,
    async |shop| {
        let rows = [
            (
                without(pix(), "payment_method"),
                400,
                "Payment method required",
                "payment_method",
            ),
            (
                without(pix(), "email"),
                400,
                "Missing required field",
                "email",
            ),
            (
                without(card("APRO"), "cardholder_name"),
                400,
                "Missing required field",
                "cardholder_name",
            ),
            (
                without(boleto(), "federal_unit"),
                400,
                "Missing required field",
                "federal_unit",
            ),
            (
                with(pix(), "payment_method", json!("cash")),
                400,
                "Invalid payment method",
                "payment_method",
            ),
            (
                with(pix(), "transaction_amount", json!("ten")),
                400,
                "Invalid amount",
                "transaction_amount",
            ),
            (
                with(pix(), "transaction_amount", json!(0)),
                400,
                "Transaction amount must be greater than zero",
                "transaction_amount",
            ),
            (
                with(pix(), "transaction_amount", json!(-1)),
                400,
                "Transaction amount must be greater than zero",
                "transaction_amount",
            ),
            (
                with(card("APRO"), "card_number", json!("4235647728025683")),
                400,
                "Invalid card number",
                "card_number",
            ),
            (
                with(card("APRO"), "installments", json!(13)),
                422,
                "Validation error: installments: must be between 1 and 12",
                "installments",
            ),
            (
                with(boleto(), "federal_unit", json!("XX")),
                422,
                "Validation error: federal_unit: must be the two letters of a Brazilian state",
                "federal_unit",
            ),
            (
                with(pix(), "email", json!("nobody")),
                422,
                "Validation error: email: must be a valid e-mail address",
                "email",
            ),
        ];
        for (body, status, detail, field) in rows {
            assert_error(&shop.pay(&body).await, status, detail, Some(field));
        }
        assert!(
            shop.sandbox.calls().await.is_empty(),
            "nothing of it reaches the provider"
        );
        assert!(shop.steps().await.is_empty(), "nothing of it is stored");
    }
);

shop_on_both_engines!(the_content_type_is_checked_before_the_body, async |shop| {
    for content_type in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
    ] {
        let mut request = Request::post("/create_payment");
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        let answer = shop.send(request.body(Body::from("{")).unwrap()).await;
        assert_error(
            &answer,
            422,
            "Validation error: Content-Type: must be application/json",
            None,
        );
    }
});

shop_on_both_engines!(bodies_that_are_no_request_are_refused, async |shop| {
    let send = async |body: Vec<u8>| {
        let request = Request::post("/create_payment").header("content-type", "application/json");
        shop.send(request.body(Body::from(body)).unwrap()).await
    };
    for (body, reason) in [
        (Vec::new(), "must be valid JSON"),
        (b"{".to_vec(), "must be valid JSON"),
        (b"\"\xff\"".to_vec(), "must be UTF-8"),
        (b"[]".to_vec(), "must be a JSON object"),
        ("[".repeat(60_000).into_bytes(), "must be a JSON object"),
        (
            br#"{"email":"a","email":"b"}"#.to_vec(),
            "must not have a member twice",
        ),
    ] {
        assert_error(
            &send(body).await,
            422,
            &format!("Validation error: body: {reason}"),
            None,
        );
    }
    assert_eq!(
        send(vec![b' '; 64 * 1024]).await.status,
        422,
        "64 KiB are read"
    );
    let answer = send(vec![b' '; 64 * 1024 + 1]).await;
    assert_eq!(answer.status, 413, "{}", answer.text);
});

shop_on_both_engines!(
    the_providers_errors_have_the_details_of_the_table,
    async |shop| {
        for (fault, detail) in [
            ("status 401", "Erro PROVIDER 401"),
            ("status 400", "Erro PROVIDER 400"),
        ] {
            for path in ["/v1/card_tokens", "/v1/payments"] {
                shop.sandbox.fail("POST", path, fault, 1).await;
                assert_error(&shop.pay(&card("APRO")).await, 502, detail, None);
            }
        }
        for fault in ["status 403", "status 404", "status 429", "status 500"] {
            shop.sandbox.fail_payment(fault).await;
            let answer = shop.pay(&pix()).await;
            let detail = format!("API Error: {}", fault.trim_start_matches("status "));
            assert_eq!(answer.status, 502);
            assert!(answer.detail().starts_with(&detail), "{}", answer.text);
        }
    }
);

on_both_engines!(
    more_than_the_provider_takes_is_told_with_what_is_allowed_and_costs_no_call,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.max_amounts = "card=60000,boleto=99999999.99".parse().unwrap();
        })
        .await;
        let of = |request: Value, amount: Value| with(request, "transaction_amount", amount);
        let field = Some("transaction_amount");
        let most =
            |most: &str| format!("Validation error: transaction_amount: must be at most {most}");
        for (request, detail) in [
            (of(card("APRO"), json!(60000.01)), most("60000.00 by card")),
            (
                of(boleto(), json!(100_000_000)),
                most("99999999.99 by boleto"),
            ),
        ] {
            assert_error(&shop.pay(&request).await, 422, &detail, field);
        }
        let late = with(card("APRO"), "expiration_year", json!("2061"));
        let detail = "Validation error: expiration_year: must be at most 2060";
        assert_error(&shop.pay(&late).await, 422, detail, Some("expiration_year"));
        assert_eq!(shop.sandbox.calls().await.len(), 0);
        for request in [
            of(card("APRO"), json!(60000)),
            of(boleto(), json!(99_999_999.99)),
        ] {
            shop.pay(&request).await.id();
        }
        // Values that the specification does not limit are left to the provider.
        let pix = shop.pay(&of(pix(), json!(999_999_999_999.99))).await;
        pix.is_error(502, "Erro PROVIDER 400");
    }
);
