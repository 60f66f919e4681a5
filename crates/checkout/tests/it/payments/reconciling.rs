//! The reconciler: it asks the provider, and never charges.

use std::time::Duration;

use checkout::reconcile::{Scope, run_once};
use test_kit::on_both_engines;

use super::app::Shop;
use super::requests::{card, pix};
use crate::payments::app::shop_on_both_engines;

shop_on_both_engines!(
    a_payment_whose_answer_was_lost_is_found_without_its_buyer,
    async |shop| {
        shop.sandbox.fail_payment("drop after").await;
        assert_eq!(shop.pay_with_key(&card("APRO"), "k").await.status, 503);
        assert_eq!(shop.reconcile().await, Vec::<String>::new(), "too early");
        shop.clock.advance(Duration::from_secs(5));
        assert_eq!(shop.reconcile().await, ["found"]);
        assert_eq!(shop.steps().await, ["finished"]);
        let answer = shop.pay_with_key(&card("APRO"), "k").await;
        assert_eq!(answer.header("idempotent-replayed"), Some("true"));
        assert_eq!(
            answer.json()["payer"]["identification"]["number"],
            "12345678909"
        );
        assert_eq!(answer.json()["card"]["cardholder"]["name"], "APRO");
        assert_eq!(
            shop.history(&answer.id()).await,
            [
                "passed pending by reconciler",
                "reported approved by reconciler"
            ]
        );
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

shop_on_both_engines!(
    a_payment_that_never_arrived_is_closed_after_an_hour_and_may_still_be_repeated,
    async |shop| {
        shop.sandbox.fail_payment("drop before").await;
        assert_eq!(shop.pay_with_key(&pix(), "k").await.status, 503);
        let mut findings = Vec::new();
        for _ in 0..10 {
            shop.clock.advance(Duration::from_mins(10));
            findings.extend(shop.reconcile().await);
        }
        assert_eq!(findings.first().map(String::as_str), Some("not_found"));
        assert_eq!(findings.last().map(String::as_str), Some("closed"));
        assert_eq!(shop.steps().await, ["closed"]);
        assert_eq!(shop.sandbox.charges().await, (0, 0));
        shop.pay_with_key(&pix(), "k").await.id();
        assert_eq!(shop.sandbox.charges().await, (1, 0));
    }
);

shop_on_both_engines!(
    a_payment_of_another_amount_is_asked_about_until_it_is_put_right_and_never_made_again,
    async |shop| {
        shop.sandbox.fail_payment("drop before").await;
        assert_eq!(shop.pay_with_key(&pix(), "k").await.status, 503);
        let find = async |conn: &mut db::Conn| {
            let sql = "SELECT reference FROM attempts";
            conn.one(sql, &[], |row| row.get::<String>(0)).await
        };
        let reference = shop.db.read::<_, db::Error, _>(find).await.unwrap();
        let cent = serde_json::json!({
            "transaction_amount": 0.01, "description": "x", "payment_method_id": "pix", "external_reference": reference,
            "payer": {"email": "a@example.com", "identification": {"type": "CPF", "number": "12345678909"}},
        });
        let path = "/v1/payments";
        shop.sandbox
            .call(reqwest::Method::POST, path, Some(cent))
            .await;
        for _ in 0..3 {
            shop.clock.advance(Duration::from_hours(2));
            assert_eq!(shop.reconcile().await, ["failed"]);
            let repeated = shop.pay_with_key(&pix(), "k").await;
            assert_eq!(repeated.json()["outcome"], "unknown");
        }
        assert_eq!(shop.steps().await, ["sending"]);
        let listed = shop.merchant("GET", "/payments/", None).await.json();
        assert_eq!(listed["count"], 0);
        assert_eq!(shop.sandbox.charges().await, (1, 0));
    }
);

shop_on_both_engines!(
    what_a_killed_process_left_is_asked_about_once_its_lease_has_ended,
    async |shop| {
        shop.sandbox.fail_payment("drop after").await;
        assert_eq!(shop.pay(&pix()).await.status, 503);
        let until = shop.clock.now() + Duration::from_secs(45);
        let hold = async move |tx: &mut db::Tx| {
            tx.execute(
                "UPDATE attempts SET lease = 'dead', leased_until = $1, check_at = $1",
                &[&until],
            )
            .await
        };
        shop.db.write::<_, db::Error, _>(hold).await.unwrap();
        shop.clock.advance(Duration::from_secs(44));
        assert_eq!(shop.reconcile().await, Vec::<String>::new());
        shop.clock.advance(Duration::from_secs(1));
        assert_eq!(shop.reconcile().await, ["found"]);
    }
);

shop_on_both_engines!(
    open_payments_are_asked_about_ever_less_often,
    async |shop| {
        let id = shop.pay(&pix()).await.id();
        for minutes in [1, 2, 4, 8] {
            shop.clock.advance(Duration::from_secs(minutes * 60 - 1));
            assert_eq!(
                shop.reconcile().await,
                Vec::<String>::new(),
                "{minutes} minutes"
            );
            shop.clock.advance(Duration::from_secs(1));
            assert_eq!(shop.reconcile().await, ["same"], "{minutes} minutes");
        }
        shop.sandbox.act(&id, "pay").await;
        shop.clock.advance(Duration::from_mins(16));
        assert_eq!(shop.reconcile().await, ["moved"]);
        assert_eq!(shop.status(&id).await, "approved");
        shop.clock.advance(Duration::from_hours(24));
        assert_eq!(
            shop.reconcile().await,
            Vec::<String>::new(),
            "an approved payment is not open"
        );
    }
);

shop_on_both_engines!(an_operator_may_ask_about_all_at_once, async |shop| {
    let ids = [shop.pay(&pix()).await.id(), shop.pay(&pix()).await.id()];
    shop.sandbox.act(&ids[1], "pay").await;
    shop.sandbox.fail_payment("drop after").await;
    assert_eq!(shop.pay(&pix()).await.status, 503);
    let report = run_once(&shop.state, Scope::All).await.unwrap();
    let lines: Vec<_> = report.lines.iter().map(ToString::to_string).collect();
    assert!(
        lines[0].ends_with(": made; its answer was lost, it is recorded now"),
        "{lines:?}"
    );
    assert!(
        lines.contains(&format!("{}: still pending", ids[0])),
        "{lines:?}"
    );
    assert!(
        lines.contains(&format!("{}: now approved", ids[1])),
        "{lines:?}"
    );
    assert_eq!(report.unknown, 0);
});

on_both_engines!(
    asking_leaves_the_last_fifth_of_the_quota_to_buyers,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.provider.quota = "10/day".parse().unwrap();
        })
        .await;
        for _ in 0..7 {
            shop.pay(&pix()).await.id();
        }
        shop.clock.advance(Duration::from_mins(1));
        assert_eq!(shop.reconcile().await, ["same", "quota"]);
        for _ in 0..2 {
            shop.pay(&pix()).await.id();
        }
        assert_eq!(shop.pay(&pix()).await.status, 503);
    }
);

shop_on_both_engines!(
    a_provider_that_does_not_answer_is_asked_again_later,
    async |shop| {
        shop.sandbox.fail_payment("drop after").await;
        assert_eq!(shop.pay(&pix()).await.status, 503);
        shop.sandbox
            .fail("GET", "/v1/payments/search", "garbage", 1)
            .await;
        shop.clock.advance(Duration::from_secs(5));
        assert_eq!(shop.reconcile().await, ["failed"]);
        assert_eq!(shop.reconcile().await, Vec::<String>::new());
        shop.clock.advance(Duration::from_secs(10));
        assert_eq!(shop.reconcile().await, ["found"]);
        assert_eq!(shop.served_figure("balcao_payments_unknown").await, 0);
    }
);

shop_on_both_engines!(
    the_figure_of_unknown_outcomes_is_true_whenever_it_is_read,
    async |shop| {
        let unknown = async || shop.served_figure("balcao_payments_unknown").await;
        assert_eq!(unknown().await, 0);
        shop.sandbox.fail_payment("drop after").await;
        assert_eq!(shop.pay_with_key(&pix(), "k").await.status, 503);
        assert_eq!(unknown().await, 1);
        // The buyer's page repeats the request, so the reconciler is not needed.
        assert_eq!(shop.pay_with_key(&pix(), "k").await.status, 200);
        assert_eq!(unknown().await, 0);
    }
);

shop_on_both_engines!(what_was_kept_long_enough_is_erased, async |shop| {
    shop.pay_with_key(&pix(), "a").await.id();
    shop.sandbox.fail_payment("status 429").await;
    assert_eq!(shop.pay_with_key(&card("APRO"), "b").await.status, 502);
    let kept = async |conn: &mut db::Conn| {
        let sql = "SELECT count(*) FROM attempts WHERE key_digest IS NOT NULL OR fingerprint IS NOT NULL
                         OR response IS NOT NULL OR email IS NOT NULL OR card_token IS NOT NULL OR cardholder_name IS NOT NULL";
        conn.one(sql, &[], |row| row.get::<i64>(0)).await
    };
    shop.clock.advance(Duration::from_secs(72 * 60 * 60 - 1));
    checkout::reconcile::purge_expired(&shop.state)
        .await
        .unwrap();
    assert_eq!(shop.db.read::<_, db::Error, _>(kept).await.unwrap(), 2);
    shop.clock.advance(Duration::from_secs(1));
    checkout::reconcile::purge_expired(&shop.state)
        .await
        .unwrap();
    assert_eq!(shop.db.read::<_, db::Error, _>(kept).await.unwrap(), 0);
    assert_eq!(shop.steps().await, ["finished", "closed"]);
});

shop_on_both_engines!(
    figures_tell_payments_calls_and_what_was_asked,
    async |shop| {
        shop.pay(&card("APRO")).await.id();
        shop.pay(&card("OTHE")).await.id();
        shop.sandbox.fail_payment("drop after").await;
        assert_eq!(shop.pay(&pix()).await.status, 503);
        shop.clock.advance(Duration::from_secs(5));
        shop.reconcile().await;
        for (figure, value) in [
            (
                "balcao_payments_total{method=\"card\",outcome=\"approved\"}",
                1,
            ),
            (
                "balcao_payments_total{method=\"card\",outcome=\"rejected\"}",
                1,
            ),
            (
                "balcao_payments_total{method=\"pix\",outcome=\"unknown\"}",
                1,
            ),
            (
                "balcao_payments_total{method=\"pix\",outcome=\"pending\"}",
                1,
            ),
            (
                "balcao_provider_calls_total{operation=\"create_payment\",outcome=\"done\"}",
                2,
            ),
            (
                "balcao_provider_calls_total{operation=\"create_payment\",outcome=\"unknown\"}",
                1,
            ),
            (
                "balcao_provider_calls_total{operation=\"create_card_token\",outcome=\"done\"}",
                2,
            ),
            (
                "balcao_provider_call_duration_seconds_count{operation=\"find_by_reference\"}",
                1,
            ),
            ("balcao_reconciled_total{outcome=\"found\"}", 1),
        ] {
            assert_eq!(shop.figure(figure), value, "{figure}");
        }
    }
);
