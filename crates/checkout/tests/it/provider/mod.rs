//! The client of the provider over real sockets: what it sends, and how it handles answers and
//! their absence.

mod calls;
mod faults;
mod quota;
pub(crate) mod stub;

use std::time::Duration;

use checkout::provider::{
    AccessToken, CardToken, Client, Failure, NewPayment, ProviderConfig, ProviderPayment,
};
use checkout::request::{self, PaymentRequest};
use serde_json::{Value, json};
use uuid::Uuid;
use web::rate::{Rates, Windows};
use web::{Clock, Random};

use crate::payments::app::now;
use stub::Stub;

pub(crate) fn config(base_url: &str, timeout: Duration) -> ProviderConfig {
    ProviderConfig {
        base_url: base_url.parse().unwrap(),
        access_token: AccessToken::parse("TEST-token").unwrap(),
        timeout,
        quota: Rates::off(),
    }
}

/// A client with a timeout that no test reaches, unless it is about timeouts.
fn client(base_url: &str) -> Client {
    patient_for(Duration::from_secs(600), base_url)
}

fn impatient_client(base_url: &str) -> Client {
    patient_for(Duration::from_millis(150), base_url)
}

fn patient_for(time: Duration, base_url: &str) -> Client {
    let windows = Windows::memory(Clock::fixed(now()));
    Client::new(config(base_url, time), windows, Random::seeded(1)).unwrap()
}

fn checked(request: &Value) -> PaymentRequest {
    request::check(
        Some("application/json"),
        request.to_string().as_bytes(),
        now(),
    )
    .unwrap()
}

fn card() -> PaymentRequest {
    checked(&json!({
        "payment_method": "card", "transaction_amount": 100.5, "description": "Two \"books\"", "email": "maria@exemplo.com.br",
        "card_number": "5031 4332 1540 6351", "expiration_month": "11", "expiration_year": "2030", "security_code": "123",
        "cardholder_name": "APRO", "identification_number": "123.456.789-09", "installments": 3,
    }))
}

fn pix() -> PaymentRequest {
    checked(&json!({
        "payment_method": "pix", "transaction_amount": 10, "description": "Café", "email": "maria@exemplo.com.br",
        "identification_number": "12345678909",
    }))
}

fn boleto() -> PaymentRequest {
    checked(&json!({
        "payment_method": "boleto", "transaction_amount": 0.01, "description": "Coffee", "email": "maria@exemplo.com.br",
        "first_name": "Maria", "last_name": "Silva", "identification_number": "12ABC34501DE35", "zip_code": "01310-100",
        "street_name": "Avenida Paulista", "street_number": "1000 A", "neighborhood": "Bela Vista", "city": "São Paulo",
        "federal_unit": "sp",
    }))
}

const KEY: Uuid = Uuid::from_u128(0x0b9f_1c3e_5a7d_4e21_8c4b_6d2f_9a1e_7c55);
const REFERENCE: &str = "balcao-1";

async fn create(
    client: &Client,
    request: &PaymentRequest,
    token: Option<&CardToken>,
) -> Result<ProviderPayment, Failure> {
    let payment = NewPayment {
        request,
        token,
        external_reference: REFERENCE,
        notification_url: None,
        date_of_expiration: None,
        boleto_method: "bolbradesco",
    };
    client.create_payment(&payment, KEY).await
}

/// What the caller of the service is told: status and detail.
fn response_to(failure: &Failure) -> (u16, String) {
    let (status, detail) = failure.answer();
    (status.as_u16(), detail)
}

/// A pix payment as the provider answers it, with its peculiarities.
fn pix_answer() -> Value {
    json!({
        "id": 1_234_567_890_u64, "status": "pending", "status_detail": "pending_waiting_transfer", "transaction_amount": "10.00",
        "payment_method_id": "pix", "date_created": "2026-11-20T08:00:00.000-04:00", "date_approved": null,
        "date_of_expiration": "2026-11-21T08:00:00.000-04:00", "external_reference": "balcao-1",
        "payer": {"email": null, "identification": {"type": null, "number": null}}, "card": {},
        "point_of_interaction": {"type": "PIX", "transaction_data": {
            "qr_code": "00020126", "qr_code_base64": "iVBORw0KGgo=", "ticket_url": "https://provider.example/t/1"}},
        "transaction_details": {"external_resource_url": null}, "refunds": [],
    })
}

/// The stub's answer of a status with a JSON body.
fn json_answer(status: u16, body: &Value) -> Vec<u8> {
    stub::answer(status, "", body.to_string().as_bytes())
}

/// A client of a stub that answers one call so, and the stub.
async fn against(reply: stub::Reply) -> (Client, Stub) {
    let stub = Stub::start(vec![reply]).await;
    (client(&stub.url()), stub)
}
