//! Requests as buyers send them.

use serde_json::{Value, json};

/// A valid Visa. The secrecy tests search for its number and code.
pub(crate) const VISA: &str = "4235647728025682";

/// A card payment; the name on the card decides its outcome at the sandbox.
pub(crate) fn card(holder: &str) -> Value {
    json!({
        "payment_method": "card",
        "transaction_amount": 100.50,
        "description": "Pedido 1042",
        "email": "ana@example.com",
        "card_number": VISA,
        "expiration_month": "11",
        "expiration_year": "2039",
        "security_code": "123",
        "cardholder_name": holder,
        "identification_number": "123.456.789-09",
        "installments": 1,
    })
}

pub(crate) fn pix() -> Value {
    json!({
        "payment_method": "pix",
        "transaction_amount": 12.3,
        "description": "Café",
        "email": "ana@example.com",
        "identification_number": "12345678909",
    })
}

pub(crate) fn boleto() -> Value {
    json!({
        "payment_method": "boleto",
        "transaction_amount": 250,
        "description": "Mesa",
        "email": "ana@example.com",
        "first_name": "Ana",
        "last_name": "Souza",
        "identification_number": "19119119100",
        "zip_code": "01310-100",
        "street_name": "Avenida Paulista",
        "street_number": "1578",
        "neighborhood": "Bela Vista",
        "city": "São Paulo",
        "federal_unit": "sp",
    })
}

/// The request with one member changed.
pub(crate) fn with(mut request: Value, member: &str, value: Value) -> Value {
    request[member] = value;
    request
}

/// The request without one member.
pub(crate) fn without(mut request: Value, member: &str) -> Value {
    request.as_object_mut().unwrap().remove(member);
    request
}
