//! A client of the provider's sandbox, for its faults, its acts of payers and banks, and its
//! records.

use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::tls::provide_cryptography;

/// A client of a running sandbox.
#[derive(Clone, Debug)]
pub struct SandboxClient {
    url: String,
    http: Client,
}

impl SandboxClient {
    /// A client of the sandbox at this address.
    pub fn new(url: String) -> Self {
        provide_cryptography();
        let http = Client::builder().no_proxy().build().expect("a client");
        Self { url, http }
    }

    /// The sandbox's address.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// One call, which must succeed; its answer as JSON, or null where it is none.
    pub async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let request = self.http.request(method, format!("{}{path}", self.url));
        let mut request = request.bearer_auth("TEST-token");
        if let Some(body) = body {
            let key = format!("test-{body}");
            request = request.header("x-idempotency-key", key).json(&body);
        }
        let answer = request.send().await.expect("an answer of the sandbox");
        let status = answer.status();
        let text = answer.text().await.expect("an answer of the sandbox");
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Lets the next calls of a kind go wrong.
    pub async fn fail(&self, method: &str, path: &str, fault: &str, times: u32) {
        let matches = json!({"method": method, "path": path});
        let order = json!({"match": matches, "fault": fault, "times": times});
        self.call(Method::POST, "/sandbox/faults", Some(order))
            .await;
    }

    /// Lets the next call that makes a payment go wrong.
    pub async fn fail_payment(&self, fault: &str) {
        self.fail("POST", "/v1/payments", fault, 1).await;
    }

    /// Forgets the faults to come, and ends the delays and stalls under way.
    pub async fn clear_faults(&self) {
        self.call(Method::DELETE, "/sandbox/faults", None).await;
    }

    /// Does to a payment what a payer, a bank or a reviewer does.
    pub async fn act(&self, id: &str, act: &str) {
        let path = format!("/sandbox/payments/{id}/{act}");
        self.call(Method::POST, &path, None).await;
    }

    /// Every call received, oldest first.
    pub async fn calls(&self) -> Vec<Value> {
        self.list("/sandbox/calls").await
    }

    /// Whether such a call has come in.
    pub async fn has_call(&self, method: &str, path: &str) -> bool {
        let is_such = |call: &Value| call["method"] == method && call["path"] == path;
        self.calls().await.iter().any(is_such)
    }

    /// Waits until a call of this path has come in.
    pub async fn called(&self, path: &str) {
        let is_such = |call: &Value| call["path"] == path;
        while !self.calls().await.iter().any(is_such) {}
    }

    /// The payments and charges of each external reference.
    pub async fn references(&self) -> Vec<Value> {
        self.list("/sandbox/charges").await
    }

    /// How many payments were made and charged, over all references.
    pub async fn charges(&self) -> (u64, u64) {
        let references = self.references().await;
        let sum = |member: &str| {
            let counts = references.iter().map(|row| row[member].as_u64());
            counts.map(|count| count.expect("a count")).sum()
        };
        (sum("payments"), sum("charges"))
    }

    async fn list(&self, path: &str) -> Vec<Value> {
        let list = self.call(Method::GET, path, None).await;
        let Value::Array(list) = list else {
            panic!("{path} is not a list: {list}");
        };
        list
    }
}
