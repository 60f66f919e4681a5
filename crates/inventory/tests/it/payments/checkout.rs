//! A stand-in for a checkout: answers each request as it was told to, and keeps what it was asked.
//! The real one is met in the tests of the whole program.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use inventory::payments::CheckoutConfig;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use web::http_client::ApiKey;

/// The merchant's key, which no page may show.
pub(crate) const KEY: &str = "mk-hush-hush";

/// What a request is answered with.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A status and a body.
    Json(u16, Value),
    /// Whatever this is.
    Raw(String),
    /// Nothing, for ever.
    Hang,
    /// The connection is closed.
    Reset,
}

/// A request that was received.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Method and target.
    pub(crate) line: String,
    head: String,
    /// The body; null without one.
    pub(crate) body: Value,
}

impl Call {
    /// The value of a header; empty without it.
    pub(crate) fn header(&self, name: &str) -> &str {
        let start = format!("{name}: ");
        let mut lines = self.head.lines();
        lines
            .find_map(|line| line.strip_prefix(&start))
            .unwrap_or_default()
    }
}

type Behaviour = Box<dyn Fn(&Call) -> Reply + Send>;

/// The stand-in. It serves as long as this value.
pub(crate) struct Checkout {
    address: String,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    behaviour: Mutex<Behaviour>,
    calls: Mutex<Vec<Call>>,
}

impl Checkout {
    /// Answers every request so.
    pub(crate) async fn start(behaviour: impl Fn(&Call) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared {
            behaviour: Mutex::new(Box::new(behaviour)),
            calls: Mutex::default(),
        });
        let serving = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&serving)));
            }
        });
        Self {
            address,
            shared,
            task,
        }
    }

    /// The settings that lead to it. It is waited for long, unless a test is about waiting.
    pub(crate) fn settings(&self) -> CheckoutConfig {
        let address = format!("http://{}", self.address).parse().unwrap();
        let long = Duration::from_secs(600);
        CheckoutConfig {
            reading: long,
            writing: long,
            ..CheckoutConfig::new(address, ApiKey::parse(KEY).unwrap())
        }
    }

    /// What it does from now on.
    pub(crate) fn does(&self, behaviour: impl Fn(&Call) -> Reply + Send + 'static) {
        *self.shared.behaviour.lock().unwrap() = Box::new(behaviour);
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.shared.calls.lock().unwrap().clone()
    }

    /// The requests that ask for a change.
    pub(crate) fn posts(&self) -> Vec<Call> {
        let mut calls = self.calls();
        calls.retain(|call| call.line.starts_with("POST "));
        calls
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    while let Some(call) = receive(&mut stream).await {
        shared.calls.lock().unwrap().push(call.clone());
        let reply = (shared.behaviour.lock().unwrap())(&call);
        let text = match reply {
            Reply::Json(status, body) => {
                let body = body.to_string();
                let length = body.len();
                format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
                )
            }
            Reply::Raw(text) => text,
            Reply::Hang => std::future::pending().await,
            Reply::Reset => return,
        };
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn receive(stream: &mut TcpStream) -> Option<Call> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream
            .read(&mut buffer)
            .await
            .ok()
            .filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.to_lowercase().lines().find_map(|line| {
            let length = line.strip_prefix("content-length: ")?;
            length.parse::<usize>().ok()
        });
        if body.len() >= length.unwrap_or(0) {
            let line = head.lines().next().unwrap_or_default();
            return Some(Call {
                line: line.trim_end_matches(" HTTP/1.1").to_owned(),
                head: head.to_owned(),
                body: serde_json::from_str(body).unwrap_or(Value::Null),
            });
        }
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

/// A checkout with one order and its payment, as long as nobody asks for a change.
pub(crate) fn reads(call: &Call, status: &str) -> Reply {
    let body = match call.line.split(['?', ' ']).nth(1).unwrap_or_default() {
        "/orders/" => page(&[order(status)], 1),
        "/orders/ord_1" => order(status),
        "/payments/" => page(&[payment("approved")], 1),
        "/payments/1234567890" => payment("approved"),
        _ => {
            return Reply::Json(
                404,
                json!({"detail": "Order not found", "status_code": 404}),
            );
        }
    };
    Reply::Json(200, body)
}
