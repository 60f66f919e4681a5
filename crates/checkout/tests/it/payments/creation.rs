//! `POST /create_payment`: the specification's shapes and processing rules, and what is stored.

use serde_json::{Value, json};
use test_kit::html::has;

use super::requests::{VISA, boleto, card, pix, with};
use crate::payments::app::shop_on_both_engines;

/// Every member of a value, with dots between: `payer.identification.type`.
fn members(value: &Value, prefix: &str, names: &mut Vec<String>) {
    for (name, value) in value.as_object().unwrap() {
        let path = if prefix.is_empty() {
            name.clone()
        } else {
            format!("{prefix}.{name}")
        };
        if value.is_object() {
            members(value, &path, names);
        } else {
            names.push(path);
        }
    }
}

fn shape(value: &Value) -> Vec<String> {
    let mut names = Vec::new();
    members(value, "", &mut names);
    names.sort();
    names
}

shop_on_both_engines!(
    a_card_payment_answers_approved_with_the_members_of_the_table,
    async |shop| {
        let answer = shop.pay(&card("APRO")).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let body = answer.json();
        let mut expected = vec![
            "card.cardholder.name",
            "card.first_six_digits",
            "card.last_four_digits",
            "date_approved",
            "date_created",
            "id",
            "payer.email",
            "payer.identification.number",
            "payer.identification.type",
            "payment_method_id",
            "status",
            "status_detail",
            "transaction_amount",
        ];
        expected.sort_unstable();
        assert_eq!(shape(&body), expected);
        assert_eq!(
            (body["status"].as_str(), body["status_detail"].as_str()),
            (Some("approved"), Some("accredited"))
        );
        assert_eq!(body["payment_method_id"], "visa");
        assert_eq!(body["card"]["first_six_digits"], &VISA[..6]);
        assert_eq!(body["card"]["last_four_digits"], &VISA[12..]);
        assert_eq!(body["card"]["cardholder"]["name"], "APRO");
        assert_eq!(
            body["payer"]["identification"],
            json!({"type": "CPF", "number": "12345678909"})
        );
        has(&answer.text, &["\"transaction_amount\":100.50,"]);
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

shop_on_both_engines!(
    a_pix_payment_answers_pending_with_its_qr_code,
    async |shop| {
        let answer = shop.pay(&pix()).await;
        let body = answer.json();
        let expected = [
            "date_created",
            "id",
            "payer.email",
            "payer.identification.number",
            "payer.identification.type",
            "payment_method_id",
            "point_of_interaction.transaction_data.qr_code",
            "point_of_interaction.transaction_data.qr_code_base64",
            "point_of_interaction.transaction_data.ticket_url",
            "status",
            "status_detail",
            "transaction_amount",
        ];
        assert_eq!(shape(&body), expected);
        assert_eq!(
            (body["status"].as_str(), body["payment_method_id"].as_str()),
            (Some("pending"), Some("pix"))
        );
        let data = &body["point_of_interaction"]["transaction_data"];
        brazil::br_code::BrCode::parse(data["qr_code"].as_str().unwrap()).unwrap();
        assert!(
            data["qr_code_base64"]
                .as_str()
                .unwrap()
                .starts_with("iVBORw0KGgo")
        );
        assert!(answer.text.contains("\"transaction_amount\":12.30,"));
    }
);

shop_on_both_engines!(
    a_boleto_payment_answers_pending_with_its_document,
    async |shop| {
        let answer = shop.pay(&boleto()).await;
        let body = answer.json();
        let expected = [
            "date_created",
            "id",
            "payer.email",
            "payer.identification.number",
            "payer.identification.type",
            "payment_method_id",
            "status",
            "status_detail",
            "transaction_amount",
            "transaction_details.external_resource_url",
        ];
        assert_eq!(shape(&body), expected);
        assert_eq!(
            (body["status"].as_str(), body["payment_method_id"].as_str()),
            (Some("pending"), Some("bolbradesco"))
        );
        assert!(
            body["transaction_details"]["external_resource_url"]
                .as_str()
                .unwrap()
                .starts_with("http")
        );
        assert!(answer.text.contains("\"transaction_amount\":250.00,"));
    }
);

shop_on_both_engines!(
    a_declined_card_is_a_payment_that_was_rejected,
    async |shop| {
        let answer = shop.pay(&card("FUND")).await;
        let body = answer.json();
        assert_eq!(answer.status, 200);
        assert_eq!(body["status"], "rejected");
        assert_eq!(body["status_detail"], "cc_rejected_insufficient_amount");
        assert!(body.get("date_approved").is_none());
        assert_eq!(
            shop.history(body["id"].as_str().unwrap()).await,
            [
                "passed pending by creation",
                "reported rejected by creation"
            ]
        );
        assert_eq!(shop.sandbox.charges().await, (1, 0));
    }
);

shop_on_both_engines!(a_card_that_waits_for_review_is_in_process, async |shop| {
    let answer = shop.pay(&card("CONT")).await;
    assert_eq!(answer.json()["status"], "in_process");
    assert!(answer.json().get("date_approved").is_none());
    assert_eq!(
        shop.history(&answer.id()).await,
        [
            "passed pending by creation",
            "reported in_process by creation"
        ]
    );
});

shop_on_both_engines!(amounts_are_exact_up_to_the_largest, async |shop| {
    for (sent, answered) in [
        ("0.01", "0.01"),
        ("0.1", "0.10"),
        ("99999999.99", "99999999.99"),
        ("90071992547409.93", ""),
    ] {
        let body = pix().to_string().replace("12.3", sent);
        let request =
            http::Request::post("/create_payment").header("content-type", "application/json");
        let answer = shop
            .send(request.body(axum::body::Body::from(body)).unwrap())
            .await;
        if answered.is_empty() {
            answer.is_error(400, "Invalid amount");
        } else {
            assert!(
                answer
                    .text
                    .contains(&format!("\"transaction_amount\":{answered},")),
                "{}",
                answer.text
            );
        }
    }
});

shop_on_both_engines!(
    every_upstream_call_has_its_own_fresh_key_and_the_three_headers,
    async |shop| {
        for request in [card("APRO"), pix(), boleto()] {
            assert_eq!(shop.pay(&request).await.status, 200);
        }
        let calls = shop.sandbox.calls().await;
        let paths: Vec<_> = calls
            .iter()
            .map(|call| call["path"].as_str().unwrap())
            .collect();
        assert_eq!(
            paths,
            [
                "/v1/card_tokens",
                "/v1/payments",
                "/v1/payments",
                "/v1/payments"
            ]
        );
        let mut keys = Vec::new();
        for call in &calls {
            let headers = &call["headers"];
            assert_eq!(headers["content-type"], "application/json");
            assert!(
                headers["authorization"]
                    .as_str()
                    .unwrap()
                    .starts_with("Bearer ")
            );
            let key = headers["x-idempotency-key"].as_str().unwrap();
            assert_eq!(uuid::Uuid::parse_str(key).unwrap().get_version_num(), 4);
            keys.push(key.to_owned());
        }
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 4);
    }
);

shop_on_both_engines!(a_cnpj_is_sent_and_shown_as_one, async |shop| {
    let answer = shop
        .pay(&with(
            pix(),
            "identification_number",
            json!("11.222.333/0001-81"),
        ))
        .await;
    assert_eq!(
        answer.json()["payer"]["identification"],
        json!({"type": "CNPJ", "number": "11222333000181"})
    );
});

shop_on_both_engines!(the_intent_is_stored_before_the_first_call, async |shop| {
    shop.sandbox.fail_payment("drop before").await;
    shop.sandbox
        .fail("POST", "/v1/card_tokens", "drop before", 1)
        .await;
    assert_eq!(shop.pay(&pix()).await.status, 503);
    assert_eq!(shop.pay(&card("APRO")).await.status, 503);
    assert_eq!(shop.steps().await, ["sending", "started"]);
});

shop_on_both_engines!(
    the_payers_data_leaves_the_attempt_with_its_end,
    async |shop| {
        shop.pay(&card("APRO")).await.id();
        let left = async |conn: &mut db::Conn| {
            let sql = "SELECT count(*) FROM attempts WHERE email IS NOT NULL OR identification_number IS NOT NULL
                     OR card_token IS NOT NULL OR cardholder_name IS NOT NULL OR response IS NOT NULL";
            conn.one(sql, &[], |row| row.get::<i64>(0)).await
        };
        assert_eq!(shop.db.read::<_, db::Error, _>(left).await.unwrap(), 0);
    }
);
