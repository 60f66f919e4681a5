//! A sandbox on a free port with a fixed clock, and a client of it.

use std::ops::Deref;
use std::time::Duration;

use db::Timestamp;
use reqwest::{Method, RequestBuilder, Response};
use sandbox::{Config, ListeningSandbox};
use serde_json::{Value, json};
use test_kit::sandbox::SandboxClient;
use web::{Clock, Random};

pub(crate) const VISA: &str = "4235647728025682";
pub(crate) const AMEX: &str = "375365153556885";

pub(crate) struct Provider {
    pub(crate) clock: Clock,
    sandbox: ListeningSandbox,
    client: reqwest::Client,
    control: SandboxClient,
    random: Random,
}

/// An answer with its whole body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    /// Fails unless the status is this one.
    #[track_caller]
    pub(crate) fn has_status(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.text);
    }

    /// Status and the code of the first cause.
    pub(crate) fn error(&self) -> (u16, Value) {
        (self.status, self.json()["cause"][0]["code"].clone())
    }

    async fn of(response: Response) -> Self {
        assert_eq!(response.headers()["x-provider-sandbox"], "true");
        Self {
            status: response.status().as_u16(),
            text: response.text().await.unwrap(),
        }
    }
}

impl Provider {
    pub(crate) async fn start() -> Self {
        Self::with(Config::default()).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        let clock = Clock::fixed(Timestamp::parse("2026-11-20T12:00:00Z").unwrap());
        Self::at(config, clock).await
    }

    pub(crate) async fn at(config: Config, clock: Clock) -> Self {
        let sandbox = sandbox::start(config, clock.clone(), Random::seeded(1)).unwrap();
        let sandbox = sandbox.listen("127.0.0.1:0").await.unwrap();
        let control = SandboxClient::new(sandbox.url());
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(Duration::from_secs(120))
            .build()
            .unwrap();
        Self {
            clock,
            sandbox,
            client,
            control,
            random: Random::seeded(2),
        }
    }

    /// Ends it as a crash would, after pending writes have reached the disk.
    pub(crate) async fn stop(self) -> Clock {
        self.sandbox.sandbox().flush().await;
        self.clock
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.sandbox.url())
    }

    /// A request with an access token and a fresh key.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client
            .request(method, self.url(path))
            .bearer_auth("TEST-token")
            .header("x-idempotency-key", self.random.uuid().to_string())
    }

    /// A request as it is, nothing added.
    pub(crate) fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url(path))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        send(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        send(self.request(Method::POST, path).json(&body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        send(self.request(Method::PUT, path).json(&body)).await
    }

    /// Does to a payment what a payer or a bank does.
    pub(crate) async fn act(&self, payment: &Value, act: &str) -> Answer {
        let path = format!("/sandbox/payments/{}/{act}", payment["id"]);
        send(
            self.bare(Method::POST, &path)
                .header("accept", "application/json"),
        )
        .await
    }

    pub(crate) async fn token(&self, card: Value) -> String {
        let answer = self.post("/v1/card_tokens", card).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// A card payment whose holder decides its outcome.
    pub(crate) async fn pay_by_card(&self, holder: &str) -> Value {
        let token = self.token(card(VISA, holder)).await;
        let answer = self.post("/v1/payments", card_payment(&token)).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer.json()
    }

    pub(crate) async fn create(&self, body: Value) -> Value {
        let answer = self.post("/v1/payments", body).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer.json()
    }

    pub(crate) async fn read(&self, payment: &Value) -> Value {
        let answer = self.get(&format!("/v1/payments/{}", payment["id"])).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }
}

impl Deref for Provider {
    type Target = SandboxClient;

    fn deref(&self) -> &SandboxClient {
        &self.control
    }
}

pub(crate) async fn send(request: RequestBuilder) -> Answer {
    Answer::of(request.send().await.unwrap()).await
}

pub(crate) fn card(number: &str, holder: &str) -> Value {
    json!({
        "card_number": number, "expiration_month": "11", "expiration_year": "2030",
        "security_code": if number == AMEX { "1234" } else { "123" },
        "cardholder": {"name": holder, "identification": {"type": "CPF", "number": "12345678909"}},
    })
}

pub(crate) fn card_payment(token: &str) -> Value {
    json!({
        "transaction_amount": 19.99, "token": token, "description": "Caneca", "installments": 3,
        "payment_method_id": "visa", "external_reference": "order-1", "payer": payer(),
    })
}

pub(crate) fn pix_payment() -> Value {
    json!({
        "transaction_amount": 100.5, "description": "Caneca", "payment_method_id": "pix",
        "external_reference": "order-2", "payer": payer(),
    })
}

pub(crate) fn boleto_payment() -> Value {
    let mut payer = payer();
    payer["first_name"] = json!("Maria");
    payer["last_name"] = json!("da Silva");
    payer["address"] = json!({
        "zip_code": "01310100", "street_name": "Avenida Paulista", "street_number": "1000",
        "neighborhood": "Bela Vista", "city": "São Paulo", "federal_unit": "SP",
    });
    json!({
        "transaction_amount": "250.00", "description": "Caneca", "payment_method_id": "bolbradesco",
        "external_reference": "order-3", "payer": payer,
    })
}

fn payer() -> Value {
    json!({"email": "maria@example.com", "identification": {"type": "CPF", "number": "12345678909"}})
}
