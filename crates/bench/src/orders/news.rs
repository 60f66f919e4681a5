//! The time from the provider's notification of a payment to `order.paid` at the shop's server.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderName, Method, StatusCode};
use axum::routing::post;
use db::lock_mutex;
use delivery::Secret;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use web::{Clock, Random};

use super::super::load::{self, Call, LoadError};
use super::super::{check, milliseconds, report};
use super::{OrderShop, OrdersArguments};

/// How long the shop waits for its events.
const PATIENCE: Duration = Duration::from_secs(60);

/// The secret that signs the provider's notifications.
const PROVIDER_SECRET: &str = "the secret of the benchmark";

/// When the shop received `order.paid`, by the order's id.
type ReceiptTimes = Arc<Mutex<HashMap<String, Instant>>>;

pub(super) async fn measure(arguments: &OrdersArguments, folder: &Path) -> Result<(), LoadError> {
    let received = ReceiptTimes::default();
    let (counting, mut count) = watch::channel(0);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let settings = [
        (
            "BALCAO_CHECKOUT_PROVIDER_WEBHOOK_SECRET",
            PROVIDER_SECRET.to_owned(),
        ),
        (
            "BALCAO_CHECKOUT_WEBHOOK_URL",
            format!("http://{}/", listener.local_addr()?),
        ),
        (
            "BALCAO_CHECKOUT_WEBHOOK_SECRET",
            Secret::generate(&Random::system()).reveal(),
        ),
        ("BALCAO_CHECKOUT_WEBHOOK_ALLOW_PRIVATE", "true".to_owned()),
    ];
    let (shared, counting) = (Arc::clone(&received), Arc::new(counting));
    let note = async move |body: Bytes| {
        note_paid(&shared, &body);
        counting.send_replace(lock_mutex(&shared).len());
        StatusCode::NO_CONTENT
    };
    let router = Router::new().route("/", post(note));
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let shop = OrderShop::open(arguments, &folder.join("news"), settings).await?;

    let paying = shop.make(arguments.connections, arguments.told).await?;
    let paid = load::run_count(&paying, arguments.connections, arguments.told).await?;
    check(&paid, "checkout")?;
    let mut notified = HashMap::new();
    let pause = Duration::from_secs(1) / arguments.rate.max(1);
    let mut turn = tokio::time::interval(pause);
    for order in shop.newest(arguments.told).await? {
        let id = text(&order, "/id")?;
        let payment = text(&order, "/payments/0/id")?;
        let path = format!("/notifications?data.id={payment}&type=payment");
        let call = Call::send(Method::POST, path, "{}");
        let mut target = shop.target(vec![call], StatusCode::OK)?;
        turn.tick().await;
        target.headers = signed(&payment, &id)?;
        notified.insert(id, Instant::now());
        load::fetch(&target).await?;
    }
    let all = count.wait_for(|count| *count >= arguments.told);
    tokio::time::timeout(PATIENCE, all).await??;
    let mut delays: Vec<Duration> = Vec::new();
    for (order, at) in lock_mutex(&received).iter() {
        let notified = notified.get(order).ok_or("news of an unknown order")?;
        delays.push(at.saturating_duration_since(*notified));
    }
    delays.sort_unstable();
    let of = |percent: usize| {
        let place = delays.len().saturating_sub(1) * percent / 100;
        milliseconds(delays.get(place).copied().unwrap_or_default())
    };
    report(
        &format!(
            "from the provider's notification to order.paid, {} a second",
            arguments.rate
        ),
        &format!("50th {}, 99th {}", of(50), of(99)),
        "50th: under 1 s",
    );
    serving.abort();
    shop.checkout.stop().await
}

/// The headers of the provider's notification of a payment.
fn signed(payment: &str, request: &str) -> Result<Vec<(HeaderName, String)>, LoadError> {
    let now = Clock::system().now().micros() / 1000;
    let signature =
        sandbox::notification_signature(Some(PROVIDER_SECRET), payment.parse()?, request, now);
    Ok(vec![
        (
            HeaderName::from_static("x-signature"),
            signature.ok_or("nothing signed")?,
        ),
        (HeaderName::from_static("x-request-id"), request.to_owned()),
    ])
}

fn note_paid(received: &ReceiptTimes, body: &[u8]) {
    let Ok(event) = serde_json::from_slice::<Value>(body) else {
        return;
    };
    if event.get("type").is_some_and(|kind| kind == "order.paid")
        && let Ok(id) = text(&event, "/data/id")
    {
        lock_mutex(received).entry(id).or_insert_with(Instant::now);
    }
}

fn text(value: &Value, path: &str) -> Result<String, LoadError> {
    let found = value.pointer(path).and_then(Value::as_str);
    Ok(found.ok_or_else(|| format!("no {path}"))?.to_owned())
}
