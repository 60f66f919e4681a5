//! After a lost answer a refusal is not final, and no attempt ends before the provider's answer is
//! known.

use std::time::Duration;

use serde_json::{Value, json};
use test_kit::on_both_engines;

use super::app::Shop;
use super::requests::{boleto, card, pix};
use crate::payments::app::shop_on_both_engines;

/// The provider's search shows nothing of the last hour.
async fn lagging_search(shop: &Shop, times: u32) {
    shop.sandbox
        .fail("GET", "/v1/payments/search", "lag 60m", times)
        .await;
}

shop_on_both_engines!(a_refusal_after_a_lost_answer_is_no_end, async |shop| {
    let mut charged = 0;
    for refusal in ["status 400 code 2001", "status 400", "status 402"] {
        for request in [card("APRO"), pix()] {
            let key = format!("{refusal} {}", request["payment_method"]);
            shop.sandbox.fail_payment("drop after").await;
            shop.pay_with_key(&request, &key).await.is_unknown();
            lagging_search(&shop, 1).await;
            shop.sandbox.fail_payment(refusal).await;
            shop.pay_with_key(&request, &key).await.is_unknown();
            shop.pay_with_key(&request, &key).await.id();
            charged += 1;
            assert_eq!(shop.sandbox.charges().await.0, charged, "{refusal}");
        }
    }
});

shop_on_both_engines!(
    a_failure_of_the_providers_own_parts_is_no_refusal,
    async |shop| {
        for code in [2001, 2004, 2007] {
            let key = code.to_string();
            let fault = format!("status 400 code {code} after");
            shop.sandbox.fail_payment(&fault).await;
            shop.pay_with_key(&card("APRO"), &key).await.is_unknown();
            shop.pay_with_key(&card("APRO"), &key).await.id();
        }
        assert_eq!(shop.sandbox.charges().await, (3, 3));
    }
);

shop_on_both_engines!(
    a_refused_repetition_of_a_refund_gives_back_once,
    async |shop| {
        let id = shop.pay(&card("APRO")).await.id();
        let path = format!("/payments/{id}/refunds");
        let upstream = format!("/v1{path}");
        let ask = async |key: &str| {
            let body = json!({"amount": 30});
            shop.merchant_with_key("POST", &path, Some(&body), key)
                .await
        };
        shop.sandbox.fail("POST", &upstream, "drop after", 1).await;
        ask("a").await.is_unknown();
        shop.sandbox.fail("GET", &upstream, "lag 60m", 1).await;
        let refusal = "status 400 code 2001";
        shop.sandbox.fail("POST", &upstream, refusal, 1).await;
        ask("a").await.is_unknown();
        assert_eq!(ask("a").await.status, 200);
        let made = shop
            .sandbox
            .call(reqwest::Method::GET, &upstream, None)
            .await;
        assert_eq!(made.as_array().unwrap().len(), 1, "{made}");
    }
);

shop_on_both_engines!(
    a_refund_is_looked_for_before_it_is_sent_again,
    async |shop| {
        let id = shop.pay(&card("APRO")).await.id();
        let path = format!("/payments/{id}/refunds");
        let upstream = format!("/v1{path}");
        let ask = async |key: &str| {
            let body = json!({"amount": 10});
            shop.merchant_with_key("POST", &path, Some(&body), key)
                .await
        };
        let first = ask("a").await;
        shop.sandbox.fail("POST", &upstream, "drop after", 1).await;
        assert_eq!(ask("b").await.status, 503);
        let calls = shop.sandbox.calls().await.len();
        let second = ask("b").await;
        assert_ne!(first.json()["id"], second.json()["id"]);
        let later = shop.sandbox.calls().await.split_off(calls);
        let methods: Vec<_> = later.iter().map(|call| call["method"].clone()).collect();
        assert_eq!(methods, ["GET", "GET"], "the list, and the payment");
    }
);

shop_on_both_engines!(
    a_refund_of_somebody_else_is_not_taken_for_ours,
    async |shop| {
        let id = shop.pay(&card("APRO")).await.id();
        let path = format!("/payments/{id}/refunds");
        let upstream = format!("/v1{path}");
        // Refunded by hand at the provider, a day before.
        let body = json!({"amount": 10});
        let theirs = shop
            .sandbox
            .call(reqwest::Method::POST, &upstream, Some(body.clone()))
            .await;
        shop.clock.advance(Duration::from_hours(24));
        shop.sandbox.fail("POST", &upstream, "drop before", 1).await;
        let ask = async || {
            shop.merchant_with_key("POST", &path, Some(&body), "k")
                .await
        };
        assert_eq!(ask().await.status, 503);
        let ours = ask().await.json();
        assert_ne!(ours["id"].as_str().unwrap(), theirs["id"].to_string());
        let made = shop
            .sandbox
            .call(reqwest::Method::GET, &upstream, None)
            .await;
        assert_eq!(made.as_array().unwrap().len(), 2);
    }
);

shop_on_both_engines!(
    a_card_token_is_replaced_only_once_the_search_must_have_caught_up,
    async |shop| {
        shop.sandbox.fail_payment("drop after").await;
        shop.pay_with_key(&card("APRO"), "k").await.is_unknown();
        // The key is forgotten, the search lags, and the token is used up.
        let used = "status 400 code 3003";
        for _ in 0..3 {
            shop.clock.advance(Duration::from_mins(10));
            lagging_search(&shop, 2).await;
            shop.sandbox.fail_payment(used).await;
            shop.pay_with_key(&card("APRO"), "k").await.is_unknown();
        }
        shop.sandbox.clear_faults().await;
        shop.pay_with_key(&card("APRO"), "k").await.id();
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

shop_on_both_engines!(
    nothing_is_closed_without_having_been_asked_about,
    async |shop| {
        shop.sandbox.fail_payment("drop after").await;
        shop.pay_with_key(&card("APRO"), "k").await.is_unknown();
        shop.clock.advance(Duration::from_hours(73));
        checkout::reconcile::purge_expired(&shop.state)
            .await
            .unwrap();
        assert_eq!(shop.steps().await, ["sending"]);
        let kept = async |conn: &mut db::Conn| {
            let sql = "SELECT count(*) FROM attempts
                       WHERE email IS NOT NULL OR card_token IS NOT NULL OR cardholder_name IS NOT NULL";
            conn.one(sql, &[], |row| row.get::<i64>(0)).await
        };
        assert_eq!(shop.db.read::<_, db::Error, _>(kept).await.unwrap(), 0);
        shop.sandbox
            .fail("GET", "/v1/payments/search", "status 500", 1)
            .await;
        assert_eq!(shop.reconcile().await, ["failed"]);
        assert_eq!(shop.served_figure("balcao_payments_unknown").await, 1);
        // The buyer's page repeats the request after all this time, and gets the same payment.
        let answer = shop.pay_with_key(&card("APRO"), "k").await;
        assert_eq!(answer.json()["status"], "approved");
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

shop_on_both_engines!(
    who_was_told_unknown_may_repeat_though_the_outcome_became_known_only_after_three_days,
    async |shop| {
        shop.sandbox.fail_payment("drop after").await;
        shop.pay_with_key(&card("APRO"), "k").await.is_unknown();
        shop.clock.advance(Duration::from_hours(73));
        assert_eq!(shop.reconcile().await, ["found"]);
        checkout::reconcile::purge_expired(&shop.state)
            .await
            .unwrap();
        shop.clock.advance(Duration::from_hours(71));
        let answer = shop.pay_with_key(&card("APRO"), "k").await;
        assert_eq!(answer.header("idempotent-replayed"), Some("true"));
        assert_eq!(answer.json()["status"], "approved");
        assert_eq!(shop.sandbox.charges().await, (1, 1));
        shop.clock.advance(Duration::from_hours(1));
        checkout::reconcile::purge_expired(&shop.state)
            .await
            .unwrap();
        let keys = async |conn: &mut db::Conn| {
            let sql = "SELECT count(*) FROM attempts WHERE key_digest IS NOT NULL OR response IS NOT NULL";
            conn.one(sql, &[], |row| row.get::<i64>(0)).await
        };
        assert_eq!(shop.db.read::<_, db::Error, _>(keys).await.unwrap(), 0);
    }
);

shop_on_both_engines!(
    an_unknown_payment_is_closed_when_the_provider_knows_nothing_after_an_hour_and_no_sooner,
    async |shop| {
        shop.sandbox.fail_payment("drop before").await;
        shop.pay_with_key(&card("APRO"), "k").await.is_unknown();
        shop.clock.advance(Duration::from_mins(59));
        assert_eq!(shop.reconcile().await, ["not_found"]);
        shop.clock.advance(Duration::from_hours(1));
        assert_eq!(shop.reconcile().await, ["closed"]);
        // This call is sent for the first time, so its refusal is final.
        shop.sandbox.fail_payment("status 400").await;
        let refused = shop.pay_with_key(&card("APRO"), "k").await;
        refused.is_error(502, "Erro PROVIDER 400");
        assert_eq!(refused.json()["outcome"], "not_charged");
    }
);

on_both_engines!(
    what_is_sent_again_is_what_was_sent_though_the_settings_have_changed,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.public_url = Some("https://old.example".parse().unwrap());
        })
        .await;
        let changed = shop
            .replica(|config| {
                config.public_url = Some("https://new.example".parse().unwrap());
                config.boleto_method = "pec".to_owned();
            })
            .await;
        for request in [boleto(), pix(), card("APRO")] {
            let key = request["payment_method"].to_string();
            shop.sandbox.fail_payment("drop before").await;
            shop.pay_with_key(&request, &key).await.is_unknown();
            changed.pay_with_key(&request, &key).await.id();
            let calls = shop.sandbox.calls().await;
            let bodies: Vec<&Value> = calls
                .iter()
                .filter(|call| call["method"] == "POST" && call["path"] == "/v1/payments")
                .map(|call| &call["body"])
                .collect();
            let [.., first, again] = bodies.as_slice() else {
                panic!("two calls")
            };
            assert_eq!(first, again);
        }
    }
);
