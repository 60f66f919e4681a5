//! Tests of the specification's tables "Common body fields", "Additional fields", "Errors" and
//! "Limits", and of the decisions about them, as far as the request alone decides.

mod actions;
mod body;
mod card;
mod fields;
mod order;
mod secrecy;

use std::borrow::Cow;

use serde_json::{Value, json};

use super::{
    Method, MethodKind, PaymentRequest, Refusal, TEXT_LIMITS, check, check_cancellation,
    check_refund, read_body,
};
use db::{Money, Timestamp};

const JSON: Option<&str> = Some("application/json");

fn now() -> Timestamp {
    Timestamp::parse("2026-11-20T12:00:00Z").unwrap()
}

fn card() -> Value {
    json!({
        "payment_method": "card", "transaction_amount": 100.5, "description": "Two books", "email": "maria@exemplo.com.br",
        "card_number": "5031433215406351", "expiration_month": "11", "expiration_year": "2030", "security_code": "123",
        "cardholder_name": "APRO", "identification_number": "123.456.789-09", "installments": 3,
    })
}

fn pix() -> Value {
    json!({
        "payment_method": "pix", "transaction_amount": 10, "description": "Coffee", "email": "maria@exemplo.com.br",
        "identification_number": "12345678909",
    })
}

fn boleto() -> Value {
    json!({
        "payment_method": "boleto", "transaction_amount": 10, "description": "Coffee", "email": "maria@exemplo.com.br",
        "first_name": "Maria", "last_name": "Silva", "identification_number": "12ABC34501DE35", "zip_code": "01310-100",
        "street_name": "Avenida Paulista", "street_number": "1000 A", "neighborhood": "Bela Vista", "city": "São Paulo",
        "federal_unit": "sp",
    })
}

fn checked(request: &Value) -> Result<PaymentRequest, Refusal> {
    check(JSON, request.to_string().as_bytes(), now())
}

fn with(mut request: Value, field: &str, value: Value) -> Value {
    request[field] = value;
    request
}

fn without(mut request: Value, field: &str) -> Value {
    request.as_object_mut().unwrap().remove(field);
    request
}

/// Status, detail and field of the refusal.
fn refusal(request: &Value) -> (u16, String, Option<&'static str>) {
    answer(checked(request))
}

fn answer(result: Result<PaymentRequest, Refusal>) -> (u16, String, Option<&'static str>) {
    let refusal = result.unwrap_err();
    (
        refusal.status.as_u16(),
        refusal.detail.into_owned(),
        refusal.field.map(|field| match field {
            Cow::Borrowed(name) => name,
            Cow::Owned(name) => panic!("{name}: the name of a nested member"),
        }),
    )
}

/// Fails unless the request with this member is refused for this reason.
#[track_caller]
fn assert_invalid(request: &Value, field: &'static str, value: Value, reason: &str) {
    let detail = format!("Validation error: {field}: {reason}");
    let request = with(request.clone(), field, value);
    assert_eq!(refusal(&request), (422, detail, Some(field)), "{request}");
}

fn refused_body(body: &[u8]) -> (u16, String) {
    let (status, detail, field) = answer(check(JSON, body, now()));
    assert_eq!(field, None);
    (status, detail)
}
