//! The page's requests about its payment, by its status token: the state now, and the stream of
//! changes.

use axum::body::Body;
use axum::extract::ConnectInfo;
use checkout::notifications::work_once;
use checkout::watch_statuses;
use http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use test_kit::database::{Engine, run};
use test_kit::on_both_engines;
use tower::ServiceExt;

use super::app::{Shop, TestApp};
use super::requests::{boleto, card, pix};
use crate::payments::app::shop_on_both_engines;

shop_on_both_engines!(
    the_token_of_the_creation_shows_status_and_detail_and_nothing_else,
    async |shop| {
        let created = shop.pay(&card("APRO")).await;
        let path = format!(
            "/payments/{}/status?token={}",
            created.id(),
            created.token()
        );
        let answer = shop.get(&path).await;
        assert_eq!(
            (answer.status, answer.json()),
            (
                200,
                json!({"status": "approved", "status_detail": "accredited"})
            )
        );
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
);

shop_on_both_engines!(
    a_wrong_token_shows_nothing_not_even_whether_the_payment_exists,
    async |shop| {
        let (one, other) = (shop.pay(&pix()).await, shop.pay(&pix()).await);
        let refused = (401, "Invalid credentials".to_owned());
        for what in ["status", "events", "artefacts"] {
            for (id, token) in [
                (one.id(), other.token()),
                (one.id(), String::new()),
                (one.id(), format!("{0}&token={0}", one.token())),
                (one.id(), "%FF".to_owned()),
                ("1".to_owned(), one.token()),
            ] {
                assert_eq!(
                    shop.get(&format!("/payments/{id}/{what}?token={token}"))
                        .await
                        .error(),
                    refused
                );
            }
            assert_eq!(
                shop.get(&format!("/payments/{}/{what}", one.id()))
                    .await
                    .error(),
                refused
            );
        }
        assert_ne!(one.token(), other.token());
        assert_eq!(one.token().len(), 43);
    }
);

shop_on_both_engines!(a_page_finds_the_digits_of_its_boleto, async |shop| {
    let created = shop.pay(&boleto()).await;
    let path = format!(
        "/payments/{}/artefacts?token={}",
        created.id(),
        created.token()
    );
    let artefacts = shop.get(&path).await.json();
    let digits: String = artefacts["digitable_line"]
        .as_str()
        .unwrap()
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    assert_eq!(digits.len(), 47);
    assert_eq!(artefacts["barcode"].as_str().unwrap().len(), 44);
    assert!(artefacts["date_of_expiration"].is_string());
});

/// An open stream of events.
struct Events(Body, String);

impl Events {
    async fn open(app: &TestApp, id: &str, token: &str) -> Self {
        let mut request = Request::get(format!("/payments/{id}/events?token={token}"))
            .body(Body::empty())
            .unwrap();
        request
            .extensions_mut()
            .insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1))));
        let response = app.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        Self(response.into_body(), String::new())
    }

    /// The next event's data; none at the end of the stream.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.1.clone().split_once("\n\n") {
                self.1 = rest.to_owned();
                if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data: ")) {
                    assert!(event.contains("event: status"), "{event}");
                    return Some(serde_json::from_str(data).unwrap());
                }
                continue;
            }
            let frame = tokio::time::timeout(Duration::from_secs(300), self.0.frame())
                .await
                .expect("an event in time")?
                .unwrap();
            if let Ok(data) = frame.into_data() {
                self.1.push_str(std::str::from_utf8(&data).unwrap());
            }
        }
    }
}

async fn hint(app: &TestApp, id: &str) {
    let request = Request::post(format!("/notifications?topic=payment&id={id}"))
        .body(Body::empty())
        .unwrap();
    assert_eq!(app.send(request).await.status, 200);
    work_once(&app.state).await.unwrap();
}

on_both_engines!(
    the_stream_tells_of_the_payment_as_it_is_and_as_it_changes,
    async |address| {
        let shop = Shop::open_with(&address, |config| config.webhook_secrets.clear()).await;
        let created = shop.pay(&pix()).await;
        let mut events = Events::open(&shop, &created.id(), &created.token()).await;
        assert_eq!(events.next().await.unwrap()["status"], "pending");
        shop.sandbox.act(&created.id(), "pay").await;
        hint(&shop, &created.id()).await;
        assert_eq!(
            events.next().await.unwrap(),
            json!({"status": "approved", "status_detail": "accredited"})
        );
        shop.sandbox.act(&created.id(), "refund").await;
        hint(&shop, &created.id()).await;
        assert_eq!(events.next().await.unwrap()["status"], "refunded");
        assert_eq!(events.next().await, None, "nothing can follow");
    }
);

#[test]
fn a_change_that_another_process_made_is_told_too() {
    async fn body(address: String) {
        let shop = Shop::open_with(&address, |config| config.webhook_secrets.clear()).await;
        let other = shop.replica(|config| config.webhook_secrets.clear()).await;
        let created = shop.pay(&pix()).await;
        let looking = tokio::spawn(watch_statuses(shop.state.clone()));
        let mut events = Events::open(&shop, &created.id(), &created.token()).await;
        assert_eq!(events.next().await.unwrap()["status"], "pending");
        shop.sandbox.act(&created.id(), "pay").await;
        hint(&other, &created.id()).await;
        assert_eq!(events.next().await.unwrap()["status"], "approved");
        looking.abort();
    }
    run(Engine::Postgres, body);
}

shop_on_both_engines!(streams_end_when_the_service_stops, async |shop| {
    let created = shop.pay(&pix()).await;
    let mut events = Events::open(&shop, &created.id(), &created.token()).await;
    assert!(events.next().await.is_some());
    shop.shutdown.begin();
    assert_eq!(events.next().await, None);
});
