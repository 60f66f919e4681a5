//! Examples of payments.

use serde_json::{Value, json};

pub(crate) fn card_request() -> Value {
    json!({
        "payment_method": "card", "transaction_amount": 100.50, "description": "Two books",
        "email": "maria@example.com", "card_number": "5031433215406351", "expiration_month": "11",
        "expiration_year": "2030", "security_code": "123", "cardholder_name": "APRO",
        "identification_number": "12345678909", "installments": 3,
    })
}

pub(crate) fn pix_request() -> Value {
    json!({
        "payment_method": "pix", "transaction_amount": 25.90, "description": "Coffee beans",
        "email": "maria@example.com", "identification_number": "123.456.789-09",
    })
}

pub(crate) fn boleto_request() -> Value {
    json!({
        "payment_method": "boleto", "transaction_amount": 310.00, "description": "A lamp",
        "email": "maria@example.com", "first_name": "Maria", "last_name": "Silva",
        "identification_number": "12.ABC.345/01DE-35", "zip_code": "01310-100",
        "street_name": "Avenida Paulista", "street_number": "1000", "neighborhood": "Bela Vista",
        "city": "São Paulo", "federal_unit": "SP",
    })
}

pub(crate) fn card_payment() -> Value {
    let cardholder = json!({"name": "APRO"});
    json!({
        "id": "1234567890", "status": "approved", "status_detail": "accredited",
        "transaction_amount": 100.50, "payment_method_id": "master",
        "date_created": "2026-11-20T09:00:00.000-03:00",
        "date_approved": "2026-11-20T09:00:01.000-03:00",
        "payer": payer("CPF", "12345678909"),
        "card": {"first_six_digits": "503143", "last_four_digits": "6351", "cardholder": cardholder},
    })
}

pub(crate) fn pix_payment() -> Value {
    pix("pending", "pending_waiting_transfer")
}

pub(crate) fn cancelled_payment() -> Value {
    pix("cancelled", "by_collector")
}

fn pix(status: &str, status_detail: &str) -> Value {
    let code = "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR\
                5913Fulano de Tal6008BRASILIA62070503***63041D3D";
    let data = json!({
        "qr_code": code, "qr_code_base64": "iVBORw0KGgo=",
        "ticket_url": "https://provider.example/payments/1234567891/ticket",
    });
    json!({
        "id": "1234567891", "status": status, "status_detail": status_detail,
        "transaction_amount": 25.90, "payment_method_id": "pix",
        "date_created": "2026-11-20T09:00:00.000-03:00",
        "point_of_interaction": {"transaction_data": data},
        "payer": payer("CPF", "12345678909"),
    })
}

pub(crate) fn boleto_payment() -> Value {
    let boleto = "https://provider.example/payments/1234567892/boleto";
    json!({
        "id": "1234567892", "status": "pending", "status_detail": "pending_waiting_payment",
        "transaction_amount": 310.00, "payment_method_id": "bolbradesco",
        "date_created": "2026-11-20T09:00:00.000-03:00",
        "transaction_details": {"external_resource_url": boleto},
        "payer": payer("CNPJ", "12ABC34501DE35"),
    })
}

fn payer(kind: &str, number: &str) -> Value {
    json!({"email": "maria@example.com", "identification": {"type": kind, "number": number}})
}

pub(crate) fn page() -> Value {
    json!({"count": 1, "next": null, "previous": null, "results": [card_payment()]})
}

pub(crate) fn refund() -> Value {
    json!({
        "id": "987654321", "payment_id": "1234567890", "amount": 10.50, "status": "approved",
        "date_created": "2026-11-20T09:05:00.000-03:00",
    })
}

pub(crate) fn outcome_created() -> Value {
    let (status, detail) = ("approved", "accredited");
    json!({"outcome": "created", "id": "1234567890", "status": status, "status_detail": detail})
}

pub(crate) fn boleto_artefacts() -> Value {
    json!({
        "payment_method": "boleto", "transaction_amount": 20.00, "description": "Order 1042",
        "date_created": "2026-11-20T12:00:00.000-03:00", "date_approved": null,
        "qr_code": null, "qr_code_base64": null, "ticket_url": null,
        "external_resource_url": "https://provider.example/boletos/1",
        "digitable_line": "34195000080123320318964221470004584410000002000",
        "barcode": "34195844100000020005000001233203186422147000",
        "date_of_expiration": "2026-11-23T23:59:59.000-03:00",
    })
}

/// A partly refunded payment, as its event shows it.
pub(crate) fn refunded_payment() -> Value {
    with(card_payment(), [("refunded_amount", json!(10.50))])
}

pub(crate) fn paid_pix() -> Value {
    let at = json!("2026-11-20T09:00:10.000-03:00");
    with(pix("approved", "accredited"), [("date_approved", at)])
}

pub(crate) fn rejected_payment() -> Value {
    with_status("rejected", "cc_rejected_insufficient_amount")
}

pub(crate) fn disputed_payment() -> Value {
    with_status("charged_back", "in_process")
}

fn with_status(status: &str, status_detail: &str) -> Value {
    let members = [
        ("status", json!(status)),
        ("status_detail", json!(status_detail)),
    ];
    with(card_payment(), members)
}

fn with<const N: usize>(mut payment: Value, members: [(&str, Value); N]) -> Value {
    if let Value::Object(payment) = &mut payment {
        payment.extend(members.map(|(name, value)| (name.to_owned(), value)));
    }
    payment
}
