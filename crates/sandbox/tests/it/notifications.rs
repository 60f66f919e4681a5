//! Notifications, as the seller's service receives them.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hmac::{Hmac, KeyInit, Mac};
use sandbox::Config;
use serde_json::{Value, json};
use test_kit::until;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::support::{Provider, pix_payment};

const SECRET: &str = "test_secret";

struct Received {
    path_and_query: String,
    headers: http::HeaderMap,
    body: Value,
}

impl Received {
    fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }
}

/// A service that receives notifications and answers with a status that the test can change.
struct Seller {
    url: String,
    status: Arc<AtomicU16>,
    received: UnboundedReceiver<Received>,
}

impl Seller {
    async fn start() -> Self {
        let (sender, received) = unbounded_channel();
        let status = Arc::new(AtomicU16::new(200));
        let answer = Arc::clone(&status);
        let hear = move |request: Request| {
            let (sender, answer) = (sender.clone(), Arc::clone(&answer));
            async move {
                let (parts, body) = request.into_parts();
                let body = axum::body::to_bytes(body, 65_536).await.unwrap();
                let path_and_query = parts.uri.path_and_query().unwrap().to_string();
                let body = serde_json::from_slice(&body).unwrap();
                sender
                    .send(Received {
                        path_and_query,
                        headers: parts.headers,
                        body,
                    })
                    .unwrap();
                http::StatusCode::from_u16(answer.load(Ordering::SeqCst)).unwrap()
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/notifications", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(hear)).await });
        Self {
            url,
            status,
            received,
        }
    }

    async fn next(&mut self) -> Received {
        tokio::time::timeout(Duration::from_secs(120), self.received.recv())
            .await
            .expect("a notification")
            .unwrap()
    }
}

async fn provider(seller: &Seller) -> Provider {
    Provider::with(Config {
        webhook_secret: Some(SECRET.to_owned()),
        notification_url: Some(seller.url.clone()),
        ..Config::default()
    })
    .await
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

#[tokio::test]
async fn a_new_payment_is_announced_with_a_signature_that_holds() {
    let mut seller = Seller::start().await;
    let provider = provider(&seller).await;
    let payment = provider.create(pix_payment()).await;
    let id = payment["id"].to_string();
    let received = seller.next().await;
    assert_eq!(
        received.path_and_query,
        format!("/notifications?data.id={id}&type=payment")
    );
    assert_eq!(received.body["action"], "payment.created");
    assert_eq!(received.body["data"], json!({"id": id}));
    assert_eq!(
        (&received.body["type"], &received.body["live_mode"]),
        (&json!("payment"), &json!(false))
    );
    assert_eq!(
        (
            &received.body["api_version"],
            &received.body["date_created"]
        ),
        (&json!("v1"), &json!("2026-11-20T08:00:00.000-04:00"))
    );
    assert_eq!(
        (
            received.header("x-retry"),
            received.header("x-socket-timeout")
        ),
        ("0", "22000")
    );
    assert_eq!(received.header("content-type"), "application/json");

    let ts = 1_795_176_000_000_i64;
    let manifest = format!(
        "id:{id};request-id:{};ts:{ts};",
        received.header("x-request-id")
    );
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(manifest.as_bytes());
    let expected = format!("ts={ts},v1={}", hex(&mac.finalize().into_bytes()));
    assert_eq!(received.header("x-signature"), expected);
}

#[tokio::test]
async fn every_change_is_announced_to_the_payments_own_address() {
    let usual = Seller::start().await;
    let mut own = Seller::start().await;
    let provider = provider(&usual).await;
    let mut body = pix_payment();
    body["notification_url"] = json!(format!("{}/own?source_news=webhooks", own.url));
    let payment = provider.create(body).await;
    assert_eq!(own.next().await.body["action"], "payment.created");
    provider.act(&payment, "pay").await;
    let received = own.next().await;
    assert_eq!(received.body["action"], "payment.updated");
    assert_eq!(
        received.path_and_query,
        format!(
            "/notifications/own?source_news=webhooks&data.id={}&type=payment",
            payment["id"]
        )
    );
    provider.act(&payment, "charge_back").await;
    assert_eq!(own.next().await.body["action"], "payment.updated");
    assert!(usual.received.is_empty());
}

#[tokio::test]
async fn an_expiry_is_announced_though_nobody_asks() {
    let mut seller = Seller::start().await;
    let provider = provider(&seller).await;
    provider.create(pix_payment()).await;
    seller.next().await;
    provider.clock.advance(Duration::from_hours(24));
    assert_eq!(seller.next().await.body["action"], "payment.updated");
}

#[tokio::test]
async fn what_is_not_heard_is_told_again_on_the_schedule_with_a_new_signature() {
    let mut seller = Seller::start().await;
    seller.status.store(500, Ordering::SeqCst);
    let provider = provider(&seller).await;
    provider.create(boleto()).await;
    let first = seller.next().await;
    let mut last = (
        first.header("x-request-id").to_owned(),
        first.header("x-signature").to_owned(),
        first.body["id"].clone(),
    );
    for (retry, minutes) in [(1, 15), (2, 30), (3, 6 * 60)] {
        advance_to_retry(&provider, &seller, retry, Duration::from_mins(minutes)).await;
        let received = seller.next().await;
        assert_eq!(received.header("x-retry"), retry.to_string());
        let this = (
            received.header("x-request-id").to_owned(),
            received.header("x-signature").to_owned(),
            received.body["id"].clone(),
        );
        assert!(this.0 != last.0 && this.1 != last.1 && this.2 != last.2);
        last = this;
    }
    seller.status.store(201, Ordering::SeqCst);
    advance_to_retry(&provider, &seller, 4, Duration::from_hours(48)).await;
    assert_eq!(seller.next().await.header("x-retry"), "4");
}

/// A boleto that stays unpaid for as long as the schedule is watched.
fn boleto() -> Value {
    let mut body = crate::support::boleto_payment();
    body["date_of_expiration"] = json!("2026-12-19T12:00:00.000Z");
    body
}

/// Waits until the failure is on the schedule and moves the clock exactly there.
async fn advance_to_retry(provider: &Provider, seller: &Seller, retry: usize, wait: Duration) {
    let waiting = async || provider.get("/sandbox/notifications").await.json();
    until(async || waiting().await[0]["retry"] == retry).await;
    let waiting = waiting().await;
    assert_eq!(waiting.as_array().unwrap().len(), 1);
    provider
        .clock
        .advance(wait.checked_sub(Duration::from_millis(1)).unwrap());
    assert_eq!(provider.get("/sandbox/notifications").await.json(), waiting);
    assert!(seller.received.is_empty(), "too early");
    provider.clock.advance(Duration::from_millis(1));
}

#[tokio::test]
async fn a_seller_who_does_not_listen_holds_up_nobody() {
    let seller = Seller::start().await;
    let config = Config {
        notification_url: Some("http://127.0.0.1:9/closed".to_owned()),
        notifications_waiting: 3,
        ..Config::default()
    };
    let provider = Provider::with(config).await;
    for _ in 0..20 {
        provider.create(pix_payment()).await;
    }
    assert!(seller.received.is_empty());
}
