//! Changes that do not come from the answer to a call: they correct our state, and changes without
//! a notification are searched for.

use std::time::Duration;

use checkout::notifications::inbox_length;
use serde_json::json;
use test_kit::on_both_engines;

use super::app::{Answer, Shop};
use super::notified::{notify, work};
use super::requests::{card, pix};
use crate::{orders, payments::app::shop_on_both_engines};

/// A payment that appears at the provider under the reference of our newest attempt.
async fn late_payment(shop: &Shop) -> String {
    let newest = async |conn: &mut db::Conn| {
        let sql = "SELECT reference FROM attempts ORDER BY id DESC LIMIT 1";
        conn.one(sql, &[], |row| row.get::<String>(0)).await
    };
    let reference = shop.db.read::<_, db::Error, _>(newest).await.unwrap();
    let body = json!({
        "transaction_amount": 12.3, "description": "x", "payment_method_id": "pix", "external_reference": reference,
        "payer": {"email": "a@example.com", "identification": {"type": "CPF", "number": "12345678909"}},
    });
    let made = shop
        .sandbox
        .call(reqwest::Method::POST, "/v1/payments", Some(body))
        .await;
    made["id"].to_string()
}

/// An attempt that the provider refused, and one that it did not know for an hour.
async fn ended_without_payment(shop: &Shop, step: &str) {
    if step == "refused" {
        shop.sandbox.fail_payment("status 400").await;
        assert_eq!(shop.pay_with_key(&pix(), "k").await.status, 502);
    } else {
        shop.sandbox.fail_payment("drop before").await;
        assert_eq!(shop.pay_with_key(&pix(), "k").await.status, 503);
        shop.clock.advance(Duration::from_hours(1));
        assert_eq!(shop.reconcile().await, ["closed"]);
    }
    assert_eq!(shop.steps().await, [step]);
}

async fn assert_corrected(shop: &Shop, id: &str, source: &str) {
    assert_eq!(shop.steps().await, ["finished"]);
    assert_eq!(shop.status(id).await, "pending");
    assert_eq!(
        shop.history(id).await,
        [
            format!("corrected pending by {source}"),
            format!("reported pending by {source}")
        ]
    );
    assert_eq!(shop.figure("balcao_payment_attempts_corrected_total"), 1);
    assert_eq!(shop.pay_with_key(&pix(), "k").await.id(), id);
}

on_both_engines!(
    a_notification_corrects_an_attempt_that_the_provider_had_refused,
    async |address| {
        corrected_by_a_notification(&Shop::open(&address).await, "refused").await;
    }
);

on_both_engines!(
    a_notification_corrects_an_attempt_that_was_closed,
    async |address| {
        corrected_by_a_notification(&Shop::open(&address).await, "closed").await;
    }
);

async fn corrected_by_a_notification(shop: &Shop, step: &str) {
    ended_without_payment(shop, step).await;
    let id = late_payment(shop).await;
    notify(shop, &id).await;
    work(shop).await;
    assert_corrected(shop, &id, "notification").await;
}

shop_on_both_engines!(
    a_payment_that_nobody_told_of_is_found_among_the_changes,
    async |shop| {
        assert_eq!(shop.reconcile().await, Vec::<String>::new());
        ended_without_payment(&shop, "refused").await;
        let id = late_payment(&shop).await;
        shop.clock.advance(Duration::from_hours(2));
        assert_eq!(shop.reconcile().await, ["found"]);
        assert_corrected(&shop, &id, "reconciler").await;
    }
);

shop_on_both_engines!(
    a_chargeback_that_nobody_told_of_is_found_among_the_changes,
    async |shop| {
        assert_eq!(shop.reconcile().await, Vec::<String>::new());
        let id = shop.pay(&card("APRO")).await.id();
        shop.clock.advance(Duration::from_hours(90 * 24));
        shop.reconcile().await;
        shop.sandbox.act(&id, "charge_back").await;
        shop.clock.advance(Duration::from_mins(59));
        assert_eq!(shop.reconcile().await, Vec::<String>::new(), "it may lag");
        shop.clock.advance(Duration::from_mins(16));
        assert_eq!(shop.reconcile().await, ["moved"]);
        assert_eq!(shop.status(&id).await, "charged_back");
    }
);

shop_on_both_engines!(
    changes_are_found_though_the_clock_was_ahead_for_hours,
    async |shop| {
        let ids = [
            shop.pay(&card("APRO")).await.id(),
            shop.pay(&card("APRO")).await.id(),
        ];
        let begun = shop.clock.now();
        let at = |hours| shop.clock.set(begun + Duration::from_hours(hours));
        at(5);
        shop.reconcile().await;
        at(0);
        shop.sandbox.act(&ids[0], "charge_back").await;
        at(8);
        shop.reconcile().await;
        at(3);
        shop.sandbox.act(&ids[1], "charge_back").await;
        assert_eq!(shop.reconcile().await, ["moved"]);
        assert_eq!(shop.status(&ids[0]).await, "charged_back");
        at(5);
        assert_eq!(shop.reconcile().await, ["moved"]);
        assert_eq!(shop.status(&ids[1]).await, "charged_back");
    }
);

shop_on_both_engines!(
    the_first_search_for_changes_begins_with_the_oldest_payment,
    async |shop| {
        let id = shop.pay(&card("APRO")).await.id();
        // The service stopped before its first search.
        shop.sandbox.act(&id, "charge_back").await;
        shop.clock.advance(Duration::from_hours(73));
        assert_eq!(shop.reconcile().await, ["moved"]);
        assert_eq!(shop.status(&id).await, "charged_back");
    }
);

shop_on_both_engines!(
    the_calls_for_changes_are_few_whatever_the_number_of_payments,
    async |shop| {
        assert_eq!(shop.reconcile().await, Vec::<String>::new());
        for _ in 0..230 {
            shop.clock.advance(Duration::from_millis(2));
            shop.pay(&card("APRO")).await.id();
        }
        let calls = shop.sandbox.calls().await.len();
        for _ in 0..24 {
            shop.clock.advance(Duration::from_hours(1));
            assert_eq!(shop.reconcile().await, Vec::<String>::new());
        }
        // One call each turn, and two more for changes.
        assert_eq!(shop.sandbox.calls().await.len(), calls + 24 + 2);
    }
);

on_both_engines!(
    a_refused_quota_is_no_try_of_a_notification,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.provider.quota = "10/day".parse().unwrap();
        })
        .await;
        let id = shop.pay(&card("APRO")).await.id();
        for _ in 0..6 {
            shop.pay(&pix()).await.id();
        }
        let spent = shop.sandbox.calls().await.len();
        shop.sandbox.act(&id, "charge_back").await;
        for _ in 0..40 {
            notify(&shop, &id).await;
            work(&shop).await;
            shop.clock.advance(Duration::from_mins(30));
        }
        assert_eq!(shop.sandbox.calls().await.len(), spent, "nothing was asked");
        assert_eq!(inbox_length(&shop.state).await.unwrap(), 40);
        let tries = async |conn: &mut db::Conn| {
            let sql = "SELECT sum(tries) FROM notifications WHERE tries > 0";
            conn.one(sql, &[], |row| row.get::<Option<i64>>(0)).await
        };
        let tries = shop.db.read::<_, db::Error, _>(tries).await.unwrap();
        assert_eq!(tries, None);
        shop.clock.advance(Duration::from_hours(24));
        work(&shop).await;
        assert_eq!(shop.status(&id).await, "charged_back");
        assert_eq!(inbox_length(&shop.state).await.unwrap(), 0);
    }
);

/// Lets the provider fail for so many hours while the worker runs.
async fn hours_without_an_answer(shop: &Shop, id: &str, hours: u32) {
    let path = format!("/v1/payments/{id}");
    for _ in 0..hours {
        shop.sandbox.fail("GET", &path, "status 500", 20).await;
        work(shop).await;
        shop.sandbox.clear_faults().await;
        shop.clock.advance(Duration::from_hours(1));
    }
}

shop_on_both_engines!(
    a_notification_is_tried_for_as_long_as_its_payment_can_change,
    async |shop| {
        let id = shop.pay(&card("APRO")).await.id();
        shop.sandbox.act(&id, "charge_back").await;
        notify(&shop, &id).await;
        hours_without_an_answer(&shop, &id, 4 * 24 + 2).await;
        work(&shop).await;
        assert_eq!(shop.status(&id).await, "charged_back");
        assert_eq!(
            shop.figure("balcao_notifications_total{outcome=\"given_up\"}"),
            0
        );
    }
);

shop_on_both_engines!(
    a_notification_of_a_cancelled_payment_is_not_given_up_as_it_may_have_been_paid_before,
    async |shop| {
        let order = orders::make(&shop, &orders::order()).await;
        let id = orders::pay(&shop, &order, &orders::boleto(), None)
            .await
            .id();
        let cancelled = async |tx: &mut db::Tx| {
            let sql = "UPDATE payments SET state = 'cancelled'";
            tx.execute(sql, &[]).await
        };
        shop.db.write::<_, db::Error, _>(cancelled).await.unwrap();
        shop.sandbox.act(&id, "pay").await;
        notify(&shop, &id).await;
        hours_without_an_answer(&shop, &id, 4 * 24 + 2).await;
        work(&shop).await;
        assert_eq!(orders::overpayments(&shop).await, (1, 0));
    }
);

shop_on_both_engines!(
    a_notification_of_a_final_payment_is_given_up_after_four_days_and_counted,
    async |shop| {
        let id = shop.pay(&card("OTHE")).await.id();
        notify(&shop, &id).await;
        hours_without_an_answer(&shop, &id, 4 * 24).await;
        assert_eq!(inbox_length(&shop.state).await.unwrap(), 1);
        let given_up = "balcao_notifications_total{outcome=\"given_up\"}";
        assert_eq!(shop.figure(given_up), 0);
        hours_without_an_answer(&shop, &id, 1).await;
        assert_eq!(inbox_length(&shop.state).await.unwrap(), 0);
        assert_eq!(shop.figure(given_up), 1);
    }
);

shop_on_both_engines!(
    a_payment_of_ours_that_the_provider_does_not_find_yet_is_read_again,
    async |shop| {
        let id = shop.pay(&pix()).await.id();
        shop.sandbox.act(&id, "pay").await;
        let path = format!("/v1/payments/{id}");
        shop.sandbox.fail("GET", &path, "status 404", 1).await;
        notify(&shop, &id).await;
        work(&shop).await;
        assert_eq!(shop.status(&id).await, "pending");
        shop.clock.advance(Duration::from_secs(2));
        work(&shop).await;
        assert_eq!(shop.status(&id).await, "approved");
    }
);

/// A refund of 30 that the provider made and our state says failed: refused, or not listed for an
/// hour.
async fn refund_that_is_made(shop: &Shop, step: &str) -> String {
    let id = shop.pay(&card("APRO")).await.id();
    let upstream = format!("/v1/payments/{id}/refunds");
    if step == "refused" {
        shop.sandbox
            .fail("POST", &upstream, "status 400 after", 1)
            .await;
        let refused = refund(shop, &id).await;
        refused.is_error(502, "Erro PROVIDER 400");
    } else {
        shop.sandbox.fail("POST", &upstream, "drop after", 1).await;
        assert_eq!(refund(shop, &id).await.status, 503);
        for path in [&upstream, "/v1/payments/search"] {
            shop.sandbox.fail("GET", path, "lag 120m", 1).await;
        }
        shop.clock.advance(Duration::from_hours(1));
        let findings = shop.reconcile().await;
        assert_eq!(findings.first().map(String::as_str), Some("refund_closed"));
    }
    id
}

async fn refund(shop: &Shop, id: &str) -> Answer {
    let path = format!("/payments/{id}/refunds");
    let body = json!({"amount": 30});
    shop.merchant_with_key("POST", &path, Some(&body), "r")
        .await
}

async fn assert_refund_corrected(shop: &Shop, id: &str, source: &str) {
    assert_eq!(shop.steps().await, ["finished", "finished"]);
    let history = shop.history(id).await;
    let correction = format!("corrected approved by {source}");
    assert!(history.contains(&correction), "{history:?}");
    assert_eq!(shop.figure("balcao_payment_attempts_corrected_total"), 1);
    let path = format!("/v1/payments/{id}/refunds");
    let list = async || shop.sandbox.call(reqwest::Method::GET, &path, None).await;
    let made = list().await[0]["id"].to_string();
    assert_eq!(refund(shop, id).await.json()["id"], made);
    assert_eq!(list().await.as_array().unwrap().len(), 1);
}

shop_on_both_engines!(
    a_notification_corrects_a_refund_that_was_closed,
    async |shop| {
        let id = refund_that_is_made(&shop, "closed").await;
        assert_eq!(shop.steps().await, ["finished", "closed"]);
        notify(&shop, &id).await;
        work(&shop).await;
        assert_refund_corrected(&shop, &id, "notification").await;
    }
);

shop_on_both_engines!(
    a_refund_that_was_refused_and_is_made_is_found_among_the_changes,
    async |shop| {
        shop.reconcile().await;
        let id = refund_that_is_made(&shop, "refused").await;
        shop.clock.advance(Duration::from_hours(2));
        shop.reconcile().await;
        assert_refund_corrected(&shop, &id, "reconciler").await;
    }
);

shop_on_both_engines!(
    what_is_given_back_by_hand_a_day_later_is_not_taken_for_a_refused_refund,
    async |shop| {
        let id = shop.pay(&card("APRO")).await.id();
        let upstream = format!("/v1/payments/{id}/refunds");
        shop.sandbox.fail("POST", &upstream, "status 400", 1).await;
        assert_eq!(refund(&shop, &id).await.status, 502);
        shop.clock.advance(Duration::from_hours(24));
        let by_hand = Some(json!({"amount": 30}));
        shop.sandbox
            .call(reqwest::Method::POST, &upstream, by_hand)
            .await;
        notify(&shop, &id).await;
        work(&shop).await;
        assert_eq!(shop.steps().await, ["finished", "refused"]);
        let replayed = refund(&shop, &id).await;
        replayed.is_error(502, "Erro PROVIDER 400");
    }
);
