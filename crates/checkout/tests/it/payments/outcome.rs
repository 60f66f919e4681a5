//! `GET /payments/outcome`: the outcome of a creation, by its key alone.

use std::time::Duration;

use axum::body::Body;
use http::Request;
use serde_json::json;

use super::app::{API_KEY, Answer, Shop};
use super::requests::{card, pix, with};
use crate::payments::app::shop_on_both_engines;

const KEY: &str = "0b5cf1b8-7d5c-4b7e-9a0b-c0ffee000000";

async fn ask(shop: &Shop, key: &str) -> Answer {
    let request = Request::get("/payments/outcome").header("idempotency-key", key);
    shop.send(request.body(Body::empty()).unwrap()).await
}

shop_on_both_engines!(
    a_payment_whose_answer_was_lost_is_unknown_until_the_provider_tells,
    async |shop| {
        shop.sandbox.fail_payment("drop after").await;
        assert_eq!(shop.pay_with_key(&card("APRO"), KEY).await.status, 503);
        let unknown = ask(&shop, KEY).await;
        assert_eq!(unknown.json(), json!({"outcome": "unknown"}));
        assert_eq!(unknown.header("x-payment-status-token"), None);
        assert_eq!(unknown.header("cache-control"), Some("no-store"));
        shop.let_leases_end();
        assert_eq!(shop.reconcile().await, ["found"]);
        let known = ask(&shop, KEY).await;
        let id = known.json()["id"].as_str().unwrap().to_owned();
        assert_eq!(
            known.json(),
            json!({"outcome": "created", "id": id, "status": "approved", "status_detail": "accredited"})
        );
        let path = format!("/payments/{id}/status?token={}", known.token());
        assert_eq!(shop.get(&path).await.json()["status"], "approved");
        assert_eq!(shop.sandbox.charges().await, (1, 1), "asking pays nothing");
    }
);

shop_on_both_engines!(an_outcome_is_where_the_payment_stands_now, async |shop| {
    let id = shop.pay_with_key(&pix(), KEY).await.id();
    assert_eq!(ask(&shop, KEY).await.json()["status"], "pending");
    shop.sandbox.act(&id, "pay").await;
    shop.clock.advance(Duration::from_secs(120));
    assert_eq!(shop.reconcile().await, ["moved"]);
    assert_eq!(ask(&shop, KEY).await.json()["status"], "approved");
});

shop_on_both_engines!(
    what_never_reached_the_provider_or_was_refused_was_not_charged,
    async |shop| {
        let refused = KEY.replace("000000", "000001");
        shop.sandbox
            .fail("POST", "/v1/card_tokens", "status 500", 1)
            .await;
        assert_eq!(shop.pay_with_key(&card("APRO"), KEY).await.status, 502);
        shop.sandbox
            .fail("POST", "/v1/card_tokens", "status 400", 1)
            .await;
        assert_eq!(shop.pay_with_key(&card("APRO"), &refused).await.status, 502);
        for key in [KEY, &refused] {
            assert_eq!(
                ask(&shop, key).await.json(),
                json!({"outcome": "not_charged"})
            );
        }
    }
);

shop_on_both_engines!(
    a_key_that_stands_for_nothing_names_no_payment,
    async |shop| {
        let not_found = (404, "Payment not found".to_owned());
        assert_eq!(ask(&shop, KEY).await.error(), not_found);
        let invalid = with(pix(), "email", json!("nobody"));
        assert_eq!(shop.pay_with_key(&invalid, KEY).await.status, 422);
        assert_eq!(ask(&shop, KEY).await.error(), not_found);
        shop.pay_with_key(&pix(), KEY).await.id();
        shop.clock.advance(Duration::from_hours(72));
        assert_eq!(
            ask(&shop, KEY).await.error(),
            not_found,
            "kept for 72 hours"
        );
    }
);

shop_on_both_engines!(
    a_key_that_could_be_guessed_tells_nobody_anything,
    async |shop| {
        shop.pay_with_key(&pix(), "order-1001").await.id();
        let guessed = ask(&shop, "order-1001").await;
        let detail = "Validation error: Idempotency-Key: must be a random UUID (version 4), or come with a merchant's key";
        assert_eq!(guessed.error(), (422, detail.to_owned()));
        let none = shop.get("/payments/outcome").await;
        let detail = "Validation error: Idempotency-Key: is required";
        assert_eq!(none.error(), (422, detail.to_owned()));
        let as_merchant = |key: &str| {
            let request = Request::get("/payments/outcome")
                .header("authorization", format!("Bearer {API_KEY}"))
                .header("idempotency-key", key);
            request.body(Body::empty()).unwrap()
        };
        let others = shop.send(as_merchant("order-1001")).await;
        assert_eq!(others.status, 404, "another caller's key");
        let wrong = Request::get("/payments/outcome")
            .header("authorization", "Bearer wrong")
            .header("idempotency-key", KEY);
        let wrong = shop.send(wrong.body(Body::empty()).unwrap()).await;
        wrong.is_error(401, "Invalid credentials");
    }
);
