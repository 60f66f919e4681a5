//! Processes that pause at a call to the provider for longer than leases last: a machine that
//! sleeps, a process that is stopped. Afterwards the state may have changed.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use checkout::provider::{self, Call, Carrying, Failure, Transport};
use http_body::Frame;
use serde_json::{Value, json};
use test_kit::on_both_engines;
use tokio::sync::oneshot;
use web::Clock;

use super::app::{Shop, TestApp, creation};
use super::notified::{notify, work};
use super::requests::{card, pix};
use crate::{orders, payments::app::shop_on_both_engines};

/// A transport to the sandbox that can pause one call.
struct Line {
    sandbox: String,
    http: reqwest::Client,
    held: Mutex<Option<Hold>>,
}

/// The next call of a method to a path pauses: the test is told, and continues it.
struct Hold {
    call: (&'static str, String),
    at: oneshot::Sender<()>,
    goes_on: oneshot::Receiver<Option<provider::Answer>>,
}

/// The test's end of a [`Hold`].
struct Held {
    at: oneshot::Receiver<()>,
    goes_on: oneshot::Sender<Option<provider::Answer>>,
}

impl Line {
    fn hold(&self, method: &'static str, path: &str) -> Held {
        let ((at, is_at), (go_on, goes_on)) = (oneshot::channel(), oneshot::channel());
        *self.held.lock().unwrap() = Some(Hold {
            call: (method, path.to_owned()),
            at,
            goes_on,
        });
        Held {
            at: is_at,
            goes_on: go_on,
        }
    }

    fn take_hold(&self, call: &Call<'_>) -> Option<Hold> {
        let mut held = self.held.lock().unwrap();
        held.take_if(|hold| {
            let (method, path) = &hold.call;
            call.method == *method && call.path.starts_with(path)
        })
    }

    async fn exchange(&self, call: Call<'_>) -> Result<provider::Answer, Failure> {
        let url = format!("{}{}", self.sandbox, call.path);
        let request = self
            .http
            .request(call.method, url)
            .bearer_auth("TEST-token")
            .header("x-idempotency-key", call.key.to_string())
            .header("content-type", "application/json")
            .body(call.body);
        let unknown = |error: reqwest::Error| Failure::Unknown(error.into());
        let answer = request.send().await.map_err(unknown)?;
        Ok(provider::Answer {
            status: answer.status().as_u16(),
            retry_after: None,
            body: answer.bytes().await.map_err(unknown)?,
        })
    }
}

impl Transport for Line {
    fn carry<'a>(&'a self, call: Call<'a>) -> Carrying<'a> {
        Box::pin(async move {
            if let Some(hold) = self.take_hold(&call) {
                hold.at.send(()).unwrap();
                if let Some(answer) = hold.goes_on.await.unwrap() {
                    return Ok(answer);
                }
            }
            self.exchange(call).await
        })
    }
}

impl Held {
    /// Does something while the call is paused. The call then gets this answer, or goes on to the
    /// provider without one.
    async fn meanwhile(self, act: impl AsyncFnOnce(), answer: Option<(u16, Value)>) {
        self.at.await.unwrap();
        act().await;
        let answer = answer.map(|(status, body)| provider::Answer {
            status,
            retry_after: None,
            body: body.to_string().into(),
        });
        self.goes_on.send(answer).unwrap();
    }
}

/// A shop's only process, and its transport.
async fn open(address: &str) -> (Shop, TestApp, Arc<Line>) {
    let shop = Shop::open(address).await;
    let line = Arc::new(Line {
        sandbox: shop.sandbox.url(),
        http: reqwest::Client::builder().no_proxy().build().unwrap(),
        held: Mutex::default(),
    });
    let app = shop.over(Arc::<Line>::clone(&line)).await;
    (shop, app, line)
}

/// A body whose reader pauses for two hours.
struct Late {
    clock: Clock,
    bytes: Option<Bytes>,
}

impl HttpBody for Late {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = self.bytes.take();
        if bytes.is_some() {
            self.clock.advance(Duration::from_hours(2));
        }
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

fn nothing_found() -> Value {
    json!({"paging": {"total": 0, "offset": 0, "limit": 30}, "results": []})
}

on_both_engines!(
    a_run_that_stood_still_for_longer_than_its_lease_sends_nothing,
    async |address| {
        let (shop, app, line) = open(&address).await;
        shop.sandbox.fail_payment("drop before").await;
        app.pay_with_key(&card("APRO"), "k").await.is_unknown();
        let held = line.hold("GET", "/v1/payments/search");
        let hours = async || shop.clock.advance(Duration::from_hours(2));
        let request = card("APRO");
        let (late, ()) = tokio::join!(
            app.pay_with_key(&request, "k"),
            held.meanwhile(hours, Some((200, nothing_found()))),
        );
        late.is_unknown();
        let calls = shop.sandbox.calls().await;
        let sent = calls.iter().filter(|call| call["path"] == "/v1/payments");
        assert_eq!(sent.count(), 1, "the one that was dropped");
        app.pay_with_key(&card("APRO"), "k").await.id();
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

shop_on_both_engines!(
    a_request_that_stood_still_for_longer_than_anybody_waits_begins_nothing,
    async |shop| {
        let late = Late {
            clock: shop.clock.clone(),
            bytes: Some(card("APRO").to_string().into()),
        };
        let request = creation(&card("APRO"), Some("k")).map(|_| Body::new(late));
        shop.send(request).await.is_unknown();
        assert!(shop.sandbox.calls().await.is_empty());
        shop.pay_with_key(&card("APRO"), "k").await.id();
    }
);

on_both_engines!(
    a_refund_that_stood_still_for_longer_than_its_lease_is_not_sent,
    async |address| {
        let (shop, app, line) = open(&address).await;
        let id = app.pay(&card("APRO")).await.id();
        let path = format!("/payments/{id}/refunds");
        let (upstream, body) = (format!("/v1{path}"), json!({"amount": 30}));
        let ask = async || app.merchant_with_key("POST", &path, Some(&body), "k").await;
        shop.sandbox.fail("POST", &upstream, "drop before", 1).await;
        ask().await.is_unknown();
        let held = line.hold("GET", &upstream);
        let hours = async || shop.clock.advance(Duration::from_hours(2));
        let (late, ()) = tokio::join!(ask(), held.meanwhile(hours, Some((200, json!([])))));
        late.is_unknown();
        let calls = shop.sandbox.calls().await;
        let sent = calls
            .iter()
            .filter(|call| call["path"] == *upstream && call["method"] == "POST");
        assert_eq!(sent.count(), 1, "the one that was dropped");
        assert_eq!(ask().await.status, 200);
    }
);

on_both_engines!(
    an_old_answer_of_the_search_closes_nothing,
    async |address| {
        let (shop, app, line) = open(&address).await;
        shop.sandbox.fail_payment("drop after").await;
        app.pay_with_key(&card("APRO"), "k").await.is_unknown();
        shop.clock.advance(Duration::from_secs(5));
        let held = line.hold("GET", "/v1/payments/search");
        let hours = async || shop.clock.advance(Duration::from_hours(2));
        let (findings, ()) = tokio::join!(
            app.reconcile(),
            held.meanwhile(hours, Some((200, nothing_found()))),
        );
        assert_eq!(findings.first().map(String::as_str), Some("not_found"));
    }
);

on_both_engines!(
    a_refusal_that_is_heard_after_another_run_took_over_is_no_end,
    async |address| {
        let (shop, app, line) = open(&address).await;
        let held = line.hold("POST", "/v1/card_tokens");
        let takes_over = async || {
            app.let_leases_end();
            shop.sandbox.fail_payment("drop after").await;
            app.pay_with_key(&card("APRO"), "k").await.is_unknown();
        };
        let refusal = json!({"message": "refused", "cause": [{"code": "3034"}]});
        let request = card("APRO");
        let (late, ()) = tokio::join!(
            app.pay_with_key(&request, "k"),
            held.meanwhile(takes_over, Some((400, refusal))),
        );
        late.is_unknown();
        app.pay_with_key(&card("APRO"), "k").await.id();
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

on_both_engines!(
    after_a_fault_of_the_database_during_a_run_another_process_goes_on,
    async |address| {
        let (shop, app, line) = open(&address).await;
        let execute = async |sql: &'static str| {
            let execute = async move |tx: &mut db::Tx| tx.execute(sql, &[]).await;
            shop.db.write::<_, db::Error, _>(execute).await.unwrap();
        };
        for (path, request, key) in [
            ("/v1/card_tokens", card("APRO"), "card"),
            ("/v1/payments", pix(), "pix"),
        ] {
            let held = line.hold("POST", path);
            let hide = async || execute("ALTER TABLE attempts RENAME TO hidden").await;
            let (lost, ()) = tokio::join!(
                app.pay_with_key(&request, key),
                held.meanwhile(hide, Some((500, json!({})))),
            );
            assert_eq!(lost.error().0, 500);
            execute("ALTER TABLE hidden RENAME TO attempts").await;
            shop.clock.advance(Duration::from_hours(2));
            shop.reconcile().await;
            shop.pay_with_key(&request, key).await.id();
        }
    }
);

on_both_engines!(
    a_refund_that_was_recorded_meanwhile_is_told_as_it_was_recorded,
    async |address| {
        let (shop, app, line) = open(&address).await;
        let id = app.pay(&card("APRO")).await.id();
        let path = format!("/payments/{id}/refunds");
        let (upstream, body) = (format!("/v1{path}"), json!({"amount": 30}));
        let ask = async || app.merchant_with_key("POST", &path, Some(&body), "k").await;
        let held = line.hold("POST", &upstream);
        // The same amount is refunded at the provider by hand, and the reconciler takes it for
        // ours.
        let by_hand = async || {
            let body = Some(body.clone());
            shop.sandbox
                .call(reqwest::Method::POST, &upstream, body)
                .await;
            app.let_leases_end();
            let findings = app.reconcile().await;
            assert_eq!(findings.first().map(String::as_str), Some("refunded"));
        };
        let made = json!({
            "id": 77, "amount": 30, "status": "approved", "date_created": shop.clock.now().to_string(),
        });
        let (answer, ()) = tokio::join!(ask(), held.meanwhile(by_hand, Some((201, made))));
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.json()["id"], ask().await.json()["id"]);
    }
);

on_both_engines!(
    a_refund_that_the_payment_shows_already_is_not_counted_twice,
    async |address| {
        let (shop, app, line) = open(&address).await;
        let id = app.pay(&card("APRO")).await.id();
        let path = format!("/payments/{id}/refunds");
        let (upstream, body) = (format!("/v1{path}"), json!({"amount": 60}));
        let ask = async || app.merchant_with_key("POST", &path, Some(&body), "k").await;
        shop.sandbox.fail("POST", &upstream, "drop after", 1).await;
        ask().await.is_unknown();
        // During the search the payment is read with 60 refunded, and the list of refunds cannot be
        // read.
        let held = line.hold("GET", &upstream);
        let reads = async || {
            notify(&app, &id).await;
            work(&app).await;
        };
        let (late, ()) = tokio::join!(ask(), held.meanwhile(reads, Some((500, json!({})))));
        assert_eq!(late.json()["outcome"], "unknown");
        // The refund is found, and then the payment cannot be read.
        let payment = format!("/v1/payments/{id}");
        shop.sandbox.fail("GET", &payment, "status 500", 1).await;
        assert_eq!(ask().await.status, 200);
        assert_eq!(app.status(&id).await, "approved", "40.50 are left");
    }
);

on_both_engines!(
    an_order_that_ended_while_a_run_stood_still_is_not_told_to_have_expired_before_the_run_has_lost_its_turn,
    async |address| {
        let (shop, app, line) = open(&address).await;
        let order = orders::make(&app, &orders::order()).await;
        shop.clock
            .advance(Duration::from_hours(24) - Duration::from_secs(10));
        let body = orders::card("APRO");
        let ask = async || orders::pay(&app, &order, &body, Some("k")).await;
        let held = line.hold("POST", "/v1/card_tokens");
        let ask_again = async || {
            shop.clock.advance(Duration::from_secs(10));
            let confirming = "A payment of this order is still being confirmed";
            assert_eq!(ask().await.error(), (409, confirming.to_owned()));
            shop.clock.advance(Duration::from_mins(1));
            ask().await.is_error(410, "Order expired");
        };
        let (late, ()) = tokio::join!(ask(), held.meanwhile(ask_again, None));
        assert_eq!(late.status, 409, "{}", late.text);
        assert_eq!(shop.sandbox.charges().await, (0, 0));
    }
);
