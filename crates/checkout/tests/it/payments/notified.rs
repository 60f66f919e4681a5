//! Notifications that are signed, forged, duplicated, reordered or late, and the state machine
//! behind them.

use std::time::Duration;

use axum::body::Body;
use checkout::notifications::{inbox_length, work_once};
use hmac::{Hmac, KeyInit, Mac};
use http::Request;
use serde_json::json;
use sha2::Sha256;
use test_kit::{on_both_engines, until};

use super::app::{Answer, Shop, TestApp, WEBHOOK_SECRET};
use super::requests::{card, pix};
use crate::payments::app::shop_on_both_engines;

const REQUEST_ID: &str = "bb56a2f1-6aae-46ac-982e-9dcd3581d08e";

fn signature(secret: &str, id: &str, ts: &str) -> String {
    let mut block = [0; 64];
    block[..secret.len()].copy_from_slice(secret.as_bytes());
    let mut mac = Hmac::<Sha256>::new(&block.into());
    mac.update(format!("id:{id};request-id:{REQUEST_ID};ts:{ts};").as_bytes());
    let digest = mac.finalize().into_bytes();
    let digest = digest
        .iter()
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    format!("ts={ts},v1={digest}")
}

async fn notify_with(app: &TestApp, id: &str, signature: Option<&str>) -> Answer {
    let mut request = Request::post(format!("/notifications?data.id={id}&type=payment"))
        .header("content-type", "application/json")
        .header("x-request-id", REQUEST_ID);
    if let Some(signature) = signature {
        request = request.header("x-signature", signature);
    }
    let body = json!({"action": "payment.updated", "api_version": "v1", "data": {"id": id}, "type": "payment"});
    app.send(request.body(Body::from(body.to_string())).unwrap())
        .await
}

pub(crate) async fn notify(app: &TestApp, id: &str) {
    let answer = notify_with(
        app,
        id,
        Some(&signature(WEBHOOK_SECRET, id, "1763640000000")),
    )
    .await;
    assert_eq!((answer.status, answer.text.as_str()), (200, ""));
}

pub(crate) async fn work(app: &TestApp) {
    while work_once(&app.state).await.unwrap() > 0 {}
}

shop_on_both_engines!(
    a_paid_pix_is_approved_when_the_provider_tells,
    async |shop| {
        let id = shop.pay(&pix()).await.id();
        shop.sandbox.act(&id, "pay").await;
        notify(&shop, &id).await;
        assert_eq!(
            shop.status(&id).await,
            "pending",
            "answered first, read back after"
        );
        assert_eq!(inbox_length(&shop.state).await.unwrap(), 1);
        work(&shop).await;
        assert_eq!(shop.status(&id).await, "approved");
        assert_eq!(inbox_length(&shop.state).await.unwrap(), 0);
        assert_eq!(
            shop.history(&id).await,
            [
                "reported pending by creation",
                "reported approved by notification"
            ]
        );
    }
);

shop_on_both_engines!(what_a_notification_says_is_not_believed, async |shop| {
    let id = shop.pay(&pix()).await.id();
    let request = Request::post(format!("/notifications?data.id={id}&type=payment"))
        .header("x-request-id", REQUEST_ID)
        .header("x-signature", signature(WEBHOOK_SECRET, &id, "1"));
    let body = json!({"action": "payment.updated", "data": {"id": id, "status": "approved"}, "status": "approved"});
    shop.send(request.body(Body::from(body.to_string())).unwrap())
        .await
        .has_status(200);
    work(&shop).await;
    assert_eq!(shop.status(&id).await, "pending");
});

shop_on_both_engines!(
    duplicates_cost_one_reading_and_change_nothing,
    async |shop| {
        let id = shop.pay(&pix()).await.id();
        shop.sandbox.act(&id, "pay").await;
        let calls = shop.sandbox.calls().await.len();
        for _ in 0..5 {
            notify(&shop, &id).await;
        }
        work(&shop).await;
        assert_eq!(shop.sandbox.calls().await.len(), calls + 1);
        notify(&shop, &id).await;
        work(&shop).await;
        assert_eq!(shop.history(&id).await.len(), 2);
    }
);

shop_on_both_engines!(
    a_jump_is_recorded_through_the_states_between,
    async |shop| {
        let id = shop.pay(&pix()).await.id();
        shop.sandbox.act(&id, "pay").await;
        shop.sandbox.act(&id, "charge_back").await;
        notify(&shop, &id).await;
        work(&shop).await;
        assert_eq!(shop.status(&id).await, "charged_back");
        let expected = [
            "reported pending by creation",
            "passed approved by notification",
            "reported charged_back by notification",
        ];
        assert_eq!(shop.history(&id).await, expected);
        let read = shop
            .merchant("GET", &format!("/payments/{id}"), None)
            .await
            .json();
        assert!(read["date_approved"].is_string());
    }
);

shop_on_both_engines!(a_move_backwards_is_refused_kept_and_counted, async |shop| {
    let id = shop.pay(&pix()).await.id();
    // As if a later state had been read than the present answer.
    let known = id.clone();
    let jump = async move |tx: &mut db::Tx| {
        tx.execute(
            "UPDATE payments SET state = 'approved', version = version + 1 WHERE provider_id = $1",
            &[&known],
        )
        .await
    };
    shop.db.write::<_, db::Error, _>(jump).await.unwrap();
    for _ in 0..3 {
        notify(&shop, &id).await;
        work(&shop).await;
    }
    assert_eq!(shop.status(&id).await, "approved");
    assert_eq!(
        shop.history(&id).await,
        [
            "reported pending by creation",
            "refused pending by notification"
        ]
    );
    assert_eq!(shop.figure("balcao_payment_moves_refused_total"), 3);
});

shop_on_both_engines!(
    a_cancellation_under_review_is_applied_and_marked,
    async |shop| {
        let id = shop.pay(&pix()).await.id();
        let known = id.clone();
        let review = async move |tx: &mut db::Tx| {
            tx.execute("UPDATE payments SET state = 'in_process', version = version + 1 WHERE provider_id = $1", &[&known]).await
        };
        shop.db.write::<_, db::Error, _>(review).await.unwrap();
        shop.sandbox.act(&id, "cancel").await;
        notify(&shop, &id).await;
        work(&shop).await;
        assert_eq!(shop.status(&id).await, "cancelled");
        assert_eq!(
            shop.history(&id).await.last().unwrap(),
            "exceptional cancelled by notification"
        );
    }
);

shop_on_both_engines!(
    a_forged_notification_is_refused_and_leaves_no_trace,
    async |shop| {
        let id = shop.pay(&pix()).await.id();
        let refused = (401, "Invalid credentials".to_owned());
        for forged in [
            None,
            Some(signature("another secret", &id, "1763640000000")),
            Some(signature(WEBHOOK_SECRET, "1", "1763640000000")),
            Some("ts=1,v1=00".to_owned()),
            Some(String::new()),
        ] {
            assert_eq!(
                notify_with(&shop, &id, forged.as_deref()).await.error(),
                refused,
                "{forged:?}"
            );
        }
        let older = Request::post(format!("/notifications?topic=payment&id={id}"))
            .body(Body::empty())
            .unwrap();
        assert_eq!(shop.send(older).await.error(), refused);
        assert_eq!(inbox_length(&shop.state).await.unwrap(), 0);
    }
);

shop_on_both_engines!(a_stale_notification_is_harmless, async |shop| {
    let id = shop.pay(&pix()).await.id();
    // The signature's time is in seconds, and years ago.
    let stale = signature(WEBHOOK_SECRET, &id, "1704908010");
    assert_eq!(notify_with(&shop, &id, Some(&stale)).await.status, 200);
    work(&shop).await;
    assert_eq!(shop.history(&id).await.len(), 1);
});

on_both_engines!(several_secrets_hold_while_they_rotate, async |address| {
    let shop = Shop::open_with(&address, |config| {
        config
            .webhook_secrets
            .insert(0, checkout::Secret::new("the next secret"));
    })
    .await;
    let id = shop.pay(&pix()).await.id();
    notify(&shop, &id).await;
    let next = signature("the next secret", &id, "1763640000000");
    assert_eq!(notify_with(&shop, &id, Some(&next)).await.status, 200);
});

on_both_engines!(
    without_a_secret_notifications_are_hints_of_a_limited_number,
    async |address| {
        let shop = Shop::open_with(&address, |config| config.webhook_secrets.clear()).await;
        let id = shop.pay(&pix()).await.id();
        shop.sandbox.act(&id, "pay").await;
        let older = || {
            Request::post(format!("/notifications?topic=payment&id={id}"))
                .body(Body::empty())
                .unwrap()
        };
        assert_eq!(shop.send(older()).await.status, 200);
        work(&shop).await;
        assert_eq!(shop.status(&id).await, "approved");
        for _ in 0..59 {
            assert_eq!(notify_with(&shop, &id, None).await.status, 200);
        }
        let throttled = notify_with(&shop, &id, None).await;
        assert_eq!(
            throttled.error(),
            (
                429,
                "Request was throttled. Expected available in 60 seconds.".to_owned()
            )
        );
    }
);

on_both_engines!(
    a_hint_that_nobody_signed_makes_us_ask_for_no_payment_but_ours,
    async |address| {
        let shop = Shop::open_with(&address, |config| config.webhook_secrets.clear()).await;
        for number in 0..100 {
            let path = format!("/notifications?topic=payment&id={}", 9_000_000 + number);
            let hint = Request::post(path).body(Body::empty()).unwrap();
            assert_eq!(shop.send(hint).await.status, 200);
        }
        let waiting = checkout::notifications::inbox_length(&shop.state).await;
        assert_eq!(waiting.unwrap(), 0);
        let id = shop.pay(&pix()).await.id();
        assert_eq!(
            notify_with(&shop, &id, None).await.status,
            200,
            "hints about other shops' payments used nothing up"
        );
        let waiting = checkout::notifications::inbox_length(&shop.state).await;
        assert_eq!(waiting.unwrap(), 1);
    }
);

on_both_engines!(
    the_providers_signed_news_are_no_clients_requests,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.rate_limit = "1/minute".parse().unwrap();
        })
        .await;
        let id = shop.pay(&pix()).await.id();
        assert_eq!(shop.pay(&pix()).await.status, 429);
        for _ in 0..3 {
            notify(&shop, &id).await;
        }
    }
);

shop_on_both_engines!(
    a_second_payment_by_our_reference_changes_nothing_and_holds_up_no_other,
    async |shop| {
        let id = shop.pay(&pix()).await.id();
        let find = async |conn: &mut db::Conn| {
            let sql = "SELECT reference FROM payments";
            conn.one(sql, &[], |row| row.get::<String>(0)).await
        };
        let reference = shop.db.read::<_, db::Error, _>(find).await.unwrap();
        let twin = json!({
            "transaction_amount": 1, "description": "x", "payment_method_id": "pix", "external_reference": reference,
            "payer": {"email": "a@example.com", "identification": {"type": "CPF", "number": "12345678909"}},
        });
        let path = "/v1/payments";
        let twin = shop
            .sandbox
            .call(reqwest::Method::POST, path, Some(twin))
            .await["id"]
            .to_string();
        shop.sandbox.act(&id, "pay").await;
        notify(&shop, &twin).await;
        notify(&shop, &id).await;
        work(&shop).await;
        assert_eq!(inbox_length(&shop.state).await.unwrap(), 0);
        assert_eq!(shop.status(&id).await, "approved");
        let listed = shop.merchant("GET", "/payments/", None).await.json();
        assert_eq!(listed["count"], 1);
    }
);

shop_on_both_engines!(
    what_is_not_about_a_payment_of_ours_is_accepted_and_dropped,
    async |shop| {
        let foreign = json!({
            "transaction_amount": 1, "description": "x", "payment_method_id": "pix",
            "payer": {"email": "a@example.com", "identification": {"type": "CPF", "number": "12345678909"}},
            "external_reference": "somebody-elses",
        });
        let foreign = shop
            .sandbox
            .call(reqwest::Method::POST, "/v1/payments", Some(foreign))
            .await["id"]
            .to_string();
        for id in [foreign.as_str(), "1"] {
            notify(&shop, id).await;
            work(&shop).await;
        }
        assert_eq!(inbox_length(&shop.state).await.unwrap(), 0);
        assert_eq!(
            shop.merchant("GET", "/payments/", None).await.json()["count"],
            0
        );
        let order = Request::post("/notifications?topic=merchant_order&id=5")
            .header("x-request-id", REQUEST_ID)
            .header("x-signature", "ts=1,v1=00");
        shop.send(order.body(Body::empty()).unwrap())
            .await
            .has_status(401);
    }
);

shop_on_both_engines!(
    a_payment_whose_answer_was_lost_is_completed_by_its_notification,
    async |shop| {
        shop.sandbox.fail_payment("drop after").await;
        assert_eq!(shop.pay_with_key(&card("APRO"), "k").await.status, 503);
        let found = shop
            .sandbox
            .call(reqwest::Method::GET, "/v1/payments/search", None)
            .await;
        let id = found["results"][0]["id"]
            .to_string()
            .trim_matches('"')
            .to_owned();
        notify(&shop, &id).await;
        work(&shop).await;
        assert_eq!(shop.steps().await, ["finished"]);
        assert_eq!(shop.pay_with_key(&card("APRO"), "k").await.id(), id);
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

shop_on_both_engines!(
    a_notification_is_tried_again_until_the_provider_answers,
    async |shop| {
        let id = shop.pay(&pix()).await.id();
        shop.sandbox.act(&id, "pay").await;
        shop.sandbox
            .fail("GET", &format!("/v1/payments/{id}"), "status 500", 2)
            .await;
        notify(&shop, &id).await;
        for wait in [0, 2, 4] {
            assert_eq!(shop.status(&id).await, "pending");
            shop.clock.advance(Duration::from_secs(wait));
            work(&shop).await;
        }
        assert_eq!(shop.status(&id).await, "approved");
    }
);

shop_on_both_engines!(nonsense_is_answered_and_never_a_fault, async |shop| {
    let long = "9".repeat(5000);
    for query in [
        "",
        "?",
        "?data.id=",
        "?data.id=%00",
        "?type=payment",
        &format!("?data.id={long}"),
        "?data.id=..%2F..",
        "?%ff=%ff",
    ] {
        for body in ["", "{", "[]", "\u{0}", "{\"data\":{\"id\":{}}}"] {
            let request = Request::post(format!("/notifications{query}"))
                .body(Body::from(body))
                .unwrap();
            let answer = shop.send(request).await;
            assert!(
                [401, 400, 422].contains(&answer.status),
                "{query} {body}: {}",
                answer.status
            );
        }
    }
});

shop_on_both_engines!(
    a_notification_that_comes_while_an_older_word_is_being_read_is_read_for_itself,
    async |shop| {
        let id = shop.pay(&pix()).await.id();
        shop.sandbox
            .fail("GET", &format!("/v1/payments/{id}"), "delay 700ms", 1)
            .await;
        let calls = shop.sandbox.calls().await.len();
        notify(&shop, &id).await;
        let state = shop.state.clone();
        let reading = tokio::spawn(async move { work_once(&state).await.unwrap() });
        until(async || shop.sandbox.calls().await.len() > calls).await;
        shop.sandbox.act(&id, "pay").await;
        notify(&shop, &id).await;
        assert_eq!(reading.await.unwrap(), 1);
        work(&shop).await;
        assert_eq!(shop.status(&id).await, "approved");
    }
);
