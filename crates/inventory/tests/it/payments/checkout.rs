//! A fake checkout that answers as a test says and stores the requests. The tests of the whole
//! program use the real one.

use std::{ops::Deref, time::Duration};

use inventory::payments::CheckoutConfig;
use serde_json::{Value, json};
use test_kit::stub::Stub;
pub(crate) use test_kit::stub::{Call, Reply};
use web::http_client::ApiKey;

/// The merchant's key, which no page may show.
pub(crate) const KEY: &str = "mk-hush-hush";

/// The fake server.
pub(crate) struct Checkout(Stub);

impl Checkout {
    /// Starts one that answers every request so.
    pub(crate) async fn start(behaviour: impl FnMut(&Call) -> Reply + Send + 'static) -> Self {
        Self(Stub::start(behaviour).await)
    }

    /// The settings of an inventory beside it, with long timeouts unless a test is about them.
    pub(crate) fn settings(&self) -> CheckoutConfig {
        let address = self.0.url().parse().unwrap();
        let long = Duration::from_secs(600);
        CheckoutConfig {
            reading: long,
            writing: long,
            ..CheckoutConfig::new(address, ApiKey::parse(KEY).unwrap())
        }
    }

    /// The requests that would change something.
    pub(crate) fn posts(&self) -> Vec<Call> {
        let mut calls = self.calls();
        calls.retain(|call| call.method == "POST");
        calls
    }
}

impl Deref for Checkout {
    type Target = Stub;

    fn deref(&self) -> &Stub {
        &self.0
    }
}

/// An order as checkout shows it.
pub(crate) fn order(status: &str) -> Value {
    let is_paid = status == "paid";
    let payment = json!({
        "id": "1234567890", "status": "approved", "payment_method_id": "pix",
        "date_created": "2026-11-20T09:01:00.000-03:00",
    });
    json!({
        "id": "ord_1", "reference": "1042", "status": status, "amount": 149.90, "description": "Café <b>",
        "items": [{"title": "Café", "quantity": 2, "unit_price": 74.95, "sku": "CAFE-500"}],
        "payment_methods": ["card", "pix", "boleto"], "max_installments": null,
        "customer": {"name": "Maria", "email": null, "identification_number": null, "zip_code": null, "street_name": null,
            "street_number": null, "neighborhood": null, "city": null, "federal_unit": null},
        "success_url": null, "cancel_url": null, "metadata": {},
        "expires_at": "2026-11-21T12:00:00.000000Z", "created_at": "2026-11-20T12:00:00.000000Z",
        "updated_at": "2026-11-20T12:00:00.000000Z",
        "paid_at": is_paid.then_some("2026-11-20T12:02:00.000000Z"), "refunded_amount": 0.00,
        "payments": if is_paid { json!([payment]) } else { json!([]) },
        "url": "https://pay.example/pay/q3mJm2o2oQ5nJm1bM0b6bq5v0wq0o9r8b1q2w3e4r5t",
    })
}

/// A pix payment as checkout shows it.
pub(crate) fn payment(status: &str) -> Value {
    json!({
        "id": "1234567890", "status": status, "status_detail": "accredited", "transaction_amount": 149.90,
        "payment_method_id": "pix", "date_created": "2026-11-20T09:01:00.000-03:00",
        "date_approved": "2026-11-20T09:02:00.000-03:00",
        "point_of_interaction": {"transaction_data": {"qr_code": "x", "qr_code_base64": "x", "ticket_url": null}},
        "payer": {"email": "maria@example.com", "identification": {"type": "CPF", "number": "12345678909"}},
    })
}

/// One page of a list.
pub(crate) fn page(results: &[Value], count: u64) -> Value {
    json!({"count": count, "next": null, "previous": null, "results": results})
}

/// The answers of a checkout with one order and its payment to requests that read.
pub(crate) fn reads(call: &Call, status: &str) -> Reply {
    let body = match call.path.split('?').next().unwrap_or_default() {
        "/orders/" => page(&[order(status)], 1),
        "/orders/ord_1" => order(status),
        "/payments/" => page(&[payment("approved")], 1),
        "/payments/1234567890" => payment("approved"),
        _ => {
            let missing = json!({"detail": "Order not found", "status_code": 404});
            return Reply::json(404, &missing);
        }
    };
    Reply::json(200, &body)
}
