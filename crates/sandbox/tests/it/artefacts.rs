//! Pix and boleto: the codes for the payer, and their expiry.

use std::time::Duration;

use brazil::boleto::{Barcode, DigitableLine, due_date};
use brazil::br_code::BrCode;
use jiff::civil::date;
use serde_json::{Value, json};

use crate::support::{Provider, boleto_payment, pix_payment};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[tokio::test]
async fn a_pix_payment_answers_pending_with_its_qr_code() {
    let provider = Provider::start().await;
    let payment = provider.create(pix_payment()).await;
    assert_eq!(
        (&payment["status"], &payment["status_detail"]),
        (&json!("pending"), &json!("pending_waiting_transfer"))
    );
    assert_eq!(
        (&payment["payment_method_id"], &payment["payment_type_id"]),
        (&json!("pix"), &json!("bank_transfer"))
    );
    assert_eq!(
        (&payment["date_approved"], &payment["card"]),
        (&Value::Null, &json!({}))
    );
    assert_eq!(
        payment["date_of_expiration"],
        "2026-11-21T08:00:00.000-04:00"
    );
    assert_eq!(payment["point_of_interaction"]["type"], "PIX");
    let data = &payment["point_of_interaction"]["transaction_data"];
    let code = BrCode::parse(text(&data["qr_code"])).unwrap();
    assert_eq!(code.amount_cents, Some(10_050));
    assert!(text(&data["qr_code_base64"]).starts_with("iVBORw0KGgo"));
    let ticket = provider.url(&format!("/sandbox/payments/{}/ticket", payment["id"]));
    assert_eq!(text(&data["ticket_url"]), ticket);
    assert_eq!(provider.read(&payment).await, payment);
}

#[tokio::test]
async fn a_boleto_payment_answers_pending_with_its_line_and_barcode() {
    let provider = Provider::start().await;
    let payment = provider.create(boleto_payment()).await;
    assert_eq!(
        (&payment["status"], &payment["status_detail"]),
        (&json!("pending"), &json!("pending_waiting_payment"))
    );
    assert_eq!(
        (&payment["payment_method_id"], &payment["payment_type_id"]),
        (&json!("bolbradesco"), &json!("ticket"))
    );
    let details = &payment["transaction_details"];
    let barcode = Barcode::parse(text(&details["barcode"]["content"])).unwrap();
    let line = DigitableLine::parse(text(&details["digitable_line"])).unwrap();
    assert_eq!(line.to_barcode().unwrap(), barcode);
    assert_eq!(barcode.amount_cents(), 25_000);
    assert_eq!(
        due_date(barcode.due_factor(), date(2026, 11, 20)),
        Some(date(2026, 11, 23))
    );
    let page = provider.url(&format!("/sandbox/payments/{}/boleto", payment["id"]));
    assert_eq!(text(&details["external_resource_url"]), page);
    assert_eq!(payment["payer"]["address"]["federal_unit"], "SP");
}

#[tokio::test]
async fn unpaid_ones_expire_by_the_clock() {
    let provider = Provider::start().await;
    let pix = provider.create(pix_payment()).await;
    let boleto = provider.create(boleto_payment()).await;
    provider
        .clock
        .advance(Duration::from_millis(24 * 60 * 60 * 1000 - 1));
    assert_eq!(provider.read(&pix).await["status"], "pending");
    provider.clock.advance(Duration::from_millis(1));
    let expired = provider.read(&pix).await;
    assert_eq!(
        (&expired["status"], &expired["status_detail"]),
        (&json!("cancelled"), &json!("expired"))
    );
    assert_eq!(
        expired["date_last_updated"],
        "2026-11-21T08:00:00.000-04:00"
    );
    assert_eq!(provider.act(&pix, "pay").await.status, 409);
    assert_eq!(provider.read(&boleto).await["status"], "pending");
    provider.clock.advance(2 * DAY);
    assert_eq!(provider.read(&boleto).await["status_detail"], "expired");
}

#[tokio::test]
async fn the_payer_pays_and_the_seller_sees_it() {
    let provider = Provider::start().await;
    for body in [pix_payment(), boleto_payment()] {
        let payment = provider.create(body).await;
        provider.clock.advance(Duration::from_mins(5));
        assert_eq!(provider.act(&payment, "pay").await.status, 200);
        let paid = provider.read(&payment).await;
        assert_eq!(
            (&paid["status"], &paid["status_detail"]),
            (&json!("approved"), &json!("accredited"))
        );
        assert_eq!(paid["date_approved"], paid["date_last_updated"]);
        assert_ne!(paid["date_approved"], paid["date_created"]);
        assert_eq!(provider.act(&payment, "pay").await.status, 409);
    }
}

#[tokio::test]
async fn an_expiry_is_chosen_within_its_bounds() {
    let provider = Provider::start().await;
    let with = async |mut body: Value, expires: &str| {
        body["date_of_expiration"] = json!(expires);
        provider.post("/v1/payments", body).await
    };
    let kept = with(pix_payment(), "2026-11-20T12:30:00.000Z").await.json();
    assert_eq!(kept["date_of_expiration"], "2026-11-20T08:30:00.000-04:00");
    for (body, expires) in [
        (pix_payment(), "2026-11-20T12:29:59.000Z"),
        (pix_payment(), "2026-12-20T12:00:00.001Z"),
        (pix_payment(), "tomorrow"),
        (pix_payment(), "2026-11-21"),
        (boleto_payment(), "2026-11-20T11:59:59.000Z"),
    ] {
        assert_eq!(
            with(body, expires).await.error(),
            (400, json!(23)),
            "{expires}"
        );
    }
    let path = format!("/v1/payments/{}", kept["id"]);
    let later = provider
        .put(
            &path,
            json!({"date_of_expiration": "2026-11-22T12:00:00.000-04:00"}),
        )
        .await;
    assert_eq!(
        later.json()["date_of_expiration"],
        "2026-11-22T12:00:00.000-04:00"
    );
}

#[tokio::test]
async fn a_boleto_names_its_payer() {
    let provider = Provider::start().await;
    for field in ["first_name", "last_name", "identification", "address"] {
        let mut body = boleto_payment();
        body["payer"].as_object_mut().unwrap().remove(field);
        let answer = provider.post("/v1/payments", body).await;
        assert_eq!(answer.error(), (400, json!(4006)), "{field}");
    }
    let mut body = boleto_payment();
    body["payer"]["address"]["city"] = json!(" ");
    assert_eq!(
        provider.post("/v1/payments", body).await.error(),
        (400, json!(4006))
    );
}
