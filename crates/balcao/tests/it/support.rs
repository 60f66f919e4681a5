//! Shared by these tests: a sandbox, a checkout that uses it, and requests.

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::OnceLock;

use reqwest::{Client, Response};
use sandbox::{Config, ListeningSandbox};
use serde_json::{Value, json};
use test_kit::process::{Balcao, Start};
use test_kit::sandbox::SandboxClient;
use test_kit::tls::provide_cryptography;
use web::{Clock, Random};

/// The merchant's API key of the services that tests start.
pub(crate) const API_KEY: &str = "process-test-key";
/// A valid card.
pub(crate) const CARD: &str = "4235647728025682";

/// A client for plain HTTP to this machine.
pub(crate) fn client() -> &'static Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    CLIENT.get_or_init(|| {
        provide_cryptography();
        // Connections belong to the runtime of the test that opened them, so none is kept for the
        // next test.
        Client::builder().pool_max_idle_per_host(0).build().unwrap()
    })
}

/// A provider in this process.
pub(crate) struct Provider {
    sandbox: ListeningSandbox,
    client: SandboxClient,
}

impl Deref for Provider {
    type Target = SandboxClient;

    fn deref(&self) -> &SandboxClient {
        &self.client
    }
}

impl Provider {
    pub(crate) async fn start() -> Self {
        let sandbox = sandbox::start(Config::default(), Clock::system(), Random::system()).unwrap();
        let sandbox = sandbox.listen("127.0.0.1:0").await.unwrap();
        let client = SandboxClient::new(sandbox.url());
        Self { sandbox, client }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.sandbox.address()
    }

    /// A checkout with this provider, to be started.
    pub(crate) fn checkout(&self) -> Start {
        self.settings(Start::new(["serve", "--only", "checkout"]))
    }

    /// The settings of such a checkout, for another command.
    pub(crate) fn settings(&self, start: Start) -> Start {
        start
            .env("BALCAO_CHECKOUT_PROVIDER_URL", self.url())
            .env("BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN", "TEST-process")
            .env("BALCAO_CHECKOUT_API_KEYS", API_KEY)
            .env("BALCAO_CHECKOUT_RATE_LIMIT", "off")
            .env("BALCAO_CHECKOUT_PROVIDER_QUOTA", "off")
    }
}

pub(crate) fn card(holder: &str) -> Value {
    json!({
        "payment_method": "card", "transaction_amount": 19.99, "description": "Two coffees", "email": "ana@example.com",
        "card_number": CARD, "expiration_month": "11", "expiration_year": "2039", "security_code": "123",
        "cardholder_name": holder, "identification_number": "12345678909", "installments": 1,
    })
}

pub(crate) fn pix() -> Value {
    json!({
        "payment_method": "pix", "transaction_amount": 19.99, "description": "Two coffees", "email": "ana@example.com",
        "identification_number": "12345678909",
    })
}

pub(crate) fn boleto() -> Value {
    json!({
        "payment_method": "boleto", "transaction_amount": 19.99, "description": "Two coffees", "email": "ana@example.com",
        "first_name": "Ana", "last_name": "Lima", "identification_number": "12345678909", "zip_code": "01310-100",
        "street_name": "Avenida Paulista", "street_number": "1000", "neighborhood": "Bela Vista", "city": "Sao Paulo",
        "federal_unit": "SP",
    })
}

/// One request to pay; an error when the service went away meanwhile.
pub(crate) async fn pay(checkout: &str, key: &str, body: &Value) -> reqwest::Result<Response> {
    client()
        .post(format!("{checkout}/create_payment"))
        .header("Idempotency-Key", key)
        .json(body)
        .send()
        .await
}

/// Repeats a request with the same key, as a client should, until it has a final answer.
pub(crate) async fn pay_until_final(checkout: &str, key: &str, body: &Value) -> Value {
    loop {
        let answer = pay(checkout, key, body).await.unwrap();
        if ![409, 502, 503].contains(&answer.status().as_u16()) {
            assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
            return answer.json().await.unwrap();
        }
    }
}

/// The merchant's list of payments.
pub(crate) async fn payments(checkout: &Balcao) -> Vec<Value> {
    let url = format!("{}/payments/", checkout.url("checkout").await);
    let answer = client().get(url).bearer_auth(API_KEY).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let list: Value = answer.json().await.unwrap();
    list["results"].as_array().unwrap().clone()
}
