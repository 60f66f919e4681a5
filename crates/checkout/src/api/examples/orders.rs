//! Examples of orders.

use serde_json::{Value, json};

use super::payments;

pub(crate) fn request() -> Value {
    json!({
        "reference": "1042", "description": "Pedido 1042",
        "items": [
            {"title": "Café em grãos 500 g", "quantity": 2, "unit_price": 39.90, "sku": "CAFE-500"},
            {"title": "Filtro de papel", "quantity": 1, "unit_price": 9.50},
        ],
        "customer": {"name": "Maria Silva", "email": "maria@example.com"},
        "success_url": "https://shop.example/thanks", "metadata": {"channel": "whatsapp"},
    })
}

pub(crate) fn payment() -> Value {
    json!({
        "payment_method": "pix", "email": "maria@example.com", "identification_number": "12345678909",
    })
}

pub(crate) fn open_order() -> Value {
    order("open")
}

pub(crate) fn canceled_order() -> Value {
    order("canceled")
}

pub(crate) fn paid_event() -> Value {
    let members = json!({"paid_at": PAID_AT, "payments": [paid_by("1234567891")]});
    event("paid", members)
}

pub(crate) fn expired_event() -> Value {
    event("expired", json!({}))
}

pub(crate) fn canceled_event() -> Value {
    event("canceled", json!({}))
}

pub(crate) fn overpaid_event() -> Value {
    let both = [paid_by("1234567891"), paid_by("1234567890")];
    let members = json!({"paid_at": PAID_AT, "payments": both, "payment": payments::paid_pix()});
    event("paid", members)
}

const PAID_AT: &str = "2026-11-20T12:00:10.000000Z";

fn paid_by(id: &str) -> Value {
    json!({
        "id": id, "status": "approved", "payment_method_id": "pix",
        "date_created": "2026-11-20T09:00:00.000-03:00",
    })
}

/// An order as an event shows it.
fn event(status: &str, members: Value) -> Value {
    let mut order = order(status);
    if let (Value::Object(order), Value::Object(members)) = (&mut order, members) {
        order.insert("url".to_owned(), Value::Null);
        order.extend(members);
    }
    order
}

pub(crate) fn page() -> Value {
    json!({"count": 1, "next": null, "previous": null, "results": [open_order()]})
}

fn order(status: &str) -> Value {
    json!({
        "id": "ord_019aa5c8f0007cc08f0f3f5f8b8c2f11", "reference": "1042", "status": status,
        "amount": 89.30, "description": "Pedido 1042",
        "items": [
            {"title": "Café em grãos 500 g", "quantity": 2, "unit_price": 39.90, "sku": "CAFE-500"},
            {"title": "Filtro de papel", "quantity": 1, "unit_price": 9.50, "sku": null},
        ],
        "payment_methods": ["card", "pix", "boleto"], "max_installments": null,
        "customer": {
            "name": "Maria Silva", "email": "maria@example.com", "identification_number": null,
            "zip_code": null, "street_name": null, "street_number": null, "neighborhood": null,
            "city": null, "federal_unit": null,
        },
        "success_url": "https://shop.example/thanks", "cancel_url": null,
        "metadata": {"channel": "whatsapp"},
        "expires_at": "2026-11-21T12:00:00.000000Z", "created_at": "2026-11-20T12:00:00.000000Z",
        "updated_at": "2026-11-20T12:00:00.000000Z", "paid_at": null, "refunded_amount": 0.00,
        "payments": [],
        "url": "https://pay.shop.example/pay/q3mJm2o2oQ5nJm1bM0b6bq5v0wq0o9r8b1q2w3e4r5t",
    })
}
