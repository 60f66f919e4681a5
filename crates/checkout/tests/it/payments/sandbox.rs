//! The real sandbox on a free port, and what only a sandbox can be told and asked.

use reqwest::Method;
use sandbox::ListeningSandbox;
use serde_json::{Value, json};
use web::{Clock, Random};

use super::app::WEBHOOK_SECRET;

/// A provider that does what a test tells it.
pub(crate) struct Sandbox {
    listening: ListeningSandbox,
    http: reqwest::Client,
}

impl Sandbox {
    pub(crate) async fn start(clock: Clock) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = sandbox::Config {
            webhook_secret: Some(WEBHOOK_SECRET.to_owned()),
            ..sandbox::Config::default()
        };
        let sandbox = sandbox::start(config, clock, Random::seeded(99)).unwrap();
        let listening = sandbox.listen("127.0.0.1:0").await.unwrap();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { listening, http }
    }

    pub(crate) fn url(&self) -> String {
        self.listening.url()
    }

    /// One call; the answer's body as JSON.
    pub(crate) async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.url()))
            .bearer_auth("TEST-token");
        if let Some(body) = body {
            request = request
                .header("x-idempotency-key", format!("test-{body}"))
                .json(&body);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    /// Asks for a fault of the next call that makes a payment.
    pub(crate) async fn fail_payment(&self, fault: &str) {
        self.fail("POST", "/v1/payments", fault, 1).await;
    }

    /// Asks for a fault.
    pub(crate) async fn fail(&self, method: &str, path: &str, fault: &str, times: u32) {
        let body =
            json!({"match": {"method": method, "path": path}, "fault": fault, "times": times});
        self.call(Method::POST, "/sandbox/faults", Some(body)).await;
    }

    /// Forgets the faults to come, and ends the delays and stalls under way.
    pub(crate) async fn clear_faults(&self) {
        self.call(Method::DELETE, "/sandbox/faults", None).await;
    }

    /// Whether such a call has come in.
    pub(crate) async fn has_call(&self, method: &str, path: &str) -> bool {
        let calls = self.calls().await;
        calls
            .iter()
            .any(|call| call["method"] == method && call["path"] == path)
    }

    /// Does to a payment what a payer, a bank or a reviewer does.
    pub(crate) async fn act(&self, id: &str, act: &str) {
        self.call(Method::POST, &format!("/sandbox/payments/{id}/{act}"), None)
            .await;
    }

    /// Every call received, oldest first.
    pub(crate) async fn calls(&self) -> Vec<Value> {
        self.call(Method::GET, "/sandbox/calls", None)
            .await
            .as_array()
            .unwrap()
            .clone()
    }

    /// Payments made and charged, over all references.
    pub(crate) async fn charges(&self) -> (u64, u64) {
        let charges = self.call(Method::GET, "/sandbox/charges", None).await;
        let sum = |member: &str| {
            charges
                .as_array()
                .unwrap()
                .iter()
                .map(|charge| charge[member].as_u64().unwrap())
                .sum()
        };
        (sum("payments"), sum("charges"))
    }
}
