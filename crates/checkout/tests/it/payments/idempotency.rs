//! The caller's `Idempotency-Key`, in every detail of the decisions.

use std::time::Duration;

use serde_json::json;
use test_kit::database::{Engine, run};

use super::app::{Shop, creation};
use super::requests::{boleto, card, pix, with};
use crate::payments::app::shop_on_both_engines;

shop_on_both_engines!(a_repetition_gets_the_stored_response_again, async |shop| {
    for (key, request) in [
        ("a", card("APRO")),
        ("b", pix()),
        ("c", boleto()),
        ("d", card("OTHE")),
    ] {
        let first = shop.pay_with_key(&request, key).await;
        assert_eq!(first.header("idempotent-replayed"), None);
        let again = shop.pay_with_key(&request, key).await;
        assert_eq!((again.status, &again.text), (200, &first.text));
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        assert_eq!(again.token(), first.token());
    }
    assert_eq!(shop.sandbox.charges().await, (4, 1));
});

shop_on_both_engines!(
    the_stored_response_is_replayed_even_when_the_payment_has_moved_on,
    async |shop| {
        let first = shop.pay_with_key(&pix(), "k").await;
        shop.sandbox.act(&first.id(), "pay").await;
        shop.clock.advance(Duration::from_secs(120));
        assert_eq!(shop.reconcile().await, ["moved"]);
        assert_eq!(shop.status(&first.id()).await, "approved");
        assert_eq!(shop.pay_with_key(&pix(), "k").await.text, first.text);
    }
);

shop_on_both_engines!(
    a_repetition_is_answered_though_the_card_has_expired_since,
    async |shop| {
        let good_to_november = with(card("APRO"), "expiration_year", json!("2026"));
        shop.clock.advance(Duration::from_hours(10 * 24));
        let first = shop.pay_with_key(&good_to_november, "k").await;
        assert_eq!(first.status, 200, "on the last day of the month");
        shop.clock.advance(Duration::from_hours(24));
        let again = shop.pay_with_key(&good_to_november, "k").await;
        assert_eq!((again.status, &again.text), (200, &first.text));
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        let other = with(good_to_november.clone(), "transaction_amount", json!(5));
        let expired = "Validation error: expiration_month: the card has expired";
        for (request, key, detail) in [
            (&good_to_november, "another", expired),
            (
                &other,
                "k",
                "Validation error: Idempotency-Key: was used for another request",
            ),
        ] {
            let expected = (422, detail.to_owned());
            assert_eq!(shop.pay_with_key(request, key).await.error(), expected);
        }
        shop.clock.advance(Duration::from_hours(48));
        let late = shop.pay_with_key(&good_to_november, "k").await;
        assert_eq!(late.error(), (422, expired.to_owned()), "kept for 72 hours");
    }
);

shop_on_both_engines!(
    a_repetition_is_answered_though_its_amount_is_no_longer_allowed,
    async |shop| {
        let first = shop.pay_with_key(&card("APRO"), "k").await;
        let restarted = shop.replica(|config| config.max_amounts = "card=100".parse().unwrap());
        let restarted = restarted.await;
        let again = restarted.pay_with_key(&card("APRO"), "k").await;
        assert_eq!((again.status, &again.text), (200, &first.text));
        let other = restarted.pay_with_key(&card("APRO"), "another").await;
        assert_eq!(other.error().0, 422);
    }
);

shop_on_both_engines!(
    a_key_that_was_used_for_another_request_is_refused,
    async |shop| {
        shop.pay_with_key(&card("APRO"), "k").await.id();
        for changed in [
            with(card("APRO"), "transaction_amount", json!(100.51)),
            with(card("APRO"), "security_code", json!("124")),
            with(card("APRO"), "card_number", json!("5031433215406351")),
            with(card("APRO"), "expiration_year", json!("2031")),
            with(card("APRO"), "email", json!("bia@example.com")),
            pix(),
        ] {
            let answer = shop.pay_with_key(&changed, "k").await;
            let detail = "Validation error: Idempotency-Key: was used for another request";
            assert_eq!(answer.error(), (422, detail.to_owned()));
        }
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

shop_on_both_engines!(a_key_of_255_characters_is_the_longest, async |shop| {
    let detail = "Validation error: Idempotency-Key: must be at most 255 characters";
    let answer = shop.pay_with_key(&pix(), &"k".repeat(256)).await;
    assert_eq!(answer.error(), (422, detail.to_owned()));
    shop.pay_with_key(&pix(), &"k".repeat(255)).await.id();
});

shop_on_both_engines!(requests_that_fail_validation_are_not_stored, async |shop| {
    shop.pay_with_key(&with(pix(), "email", json!("nobody")), "k")
        .await
        .has_status(422);
    assert_eq!(shop.steps().await, Vec::<String>::new());
    shop.pay_with_key(&pix(), "k").await.id();
});

shop_on_both_engines!(the_providers_400_is_final_and_replayed, async |shop| {
    for (key, request) in [("a", pix()), ("b", card("APRO"))] {
        shop.sandbox.fail_payment("status 400").await;
        let first = shop.pay_with_key(&request, key).await;
        first.is_error(502, "Erro PROVIDER 400");
        let again = shop.pay_with_key(&request, key).await;
        assert_eq!(again.error(), first.error());
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
    }
    assert_eq!(shop.steps().await, ["refused", "refused"]);
    assert_eq!(shop.sandbox.charges().await, (0, 0));
});

shop_on_both_engines!(
    a_passing_failure_goes_on_with_the_same_attempt_and_the_same_upstream_key,
    async |shop| {
        let failures = [
            ("status 401", "Erro PROVIDER 401", 502),
            ("status 429", "API Error: 429", 502),
            ("status 500", "API Error: 500", 502),
        ];
        for (key, (fault, detail, status)) in ["a", "b", "c"].into_iter().zip(failures) {
            shop.sandbox.fail_payment(fault).await;
            let failed = shop.pay_with_key(&pix(), key).await;
            assert_eq!(failed.status, status);
            assert!(failed.detail().starts_with(detail), "{}", failed.detail());
            assert_eq!(failed.header("idempotent-replayed"), None);
            shop.pay_with_key(&pix(), key).await.id();
        }
        let keys: Vec<_> = shop
            .sandbox
            .calls()
            .await
            .iter()
            .filter(|call| call["method"] == "POST")
            .map(|call| {
                call["headers"]["x-idempotency-key"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        assert_eq!(keys.len(), 6);
        assert!(keys.chunks(2).all(|pair| pair[0] == pair[1]), "{keys:?}");
        assert_eq!(shop.steps().await, ["finished"; 3]);
    }
);

shop_on_both_engines!(a_key_is_held_for_72_hours, async |shop| {
    let first = shop.pay_with_key(&pix(), "k").await.id();
    shop.clock
        .advance(Duration::from_hours(72) - Duration::from_secs(1));
    assert_eq!(shop.pay_with_key(&pix(), "k").await.id(), first);
    shop.clock.advance(Duration::from_secs(1));
    assert_ne!(shop.pay_with_key(&pix(), "k").await.id(), first);
});

shop_on_both_engines!(
    a_start_with_a_wrong_clock_that_is_soon_corrected_allows_no_second_charge,
    async |shop| {
        let first = shop.pay_with_key(&pix(), "k").await.id();
        let begun = shop.clock.now();
        shop.clock.advance(Duration::from_hours(24 * 365));
        let process = shop.replica(|_| {}).await;
        let workers = tokio::spawn(process.workers.run());
        let searched = async |conn: &mut db::Conn| {
            conn.one("SELECT count(*) FROM sweeps", &[], |row| row.get::<i64>(0))
                .await
        };
        test_kit::until(async || shop.db.read::<_, db::Error, _>(searched).await.unwrap() > 0)
            .await;
        // A worker finishes its turn before it ends.
        process.shutdown.begin();
        workers.await.unwrap();
        shop.clock.set(begun);
        assert_eq!(shop.pay_with_key(&pix(), "k").await.id(), first);
    }
);

shop_on_both_engines!(
    an_attempt_at_work_answers_409_until_its_lease_ends,
    async |shop| {
        shop.sandbox.fail_payment("drop before").await;
        assert_eq!(shop.pay_with_key(&pix(), "k").await.status, 503);
        // The attempt that a process leaves behind when it is killed while it waits for the
        // provider.
        let until = shop.clock.now() + Duration::from_secs(45);
        let hold = async move |tx: &mut db::Tx| {
            tx.execute(
                "UPDATE attempts SET lease = 'dead', leased_until = $1, check_at = $1",
                &[&until],
            )
            .await
        };
        shop.db.write::<_, db::Error, _>(hold).await.unwrap();
        let busy = shop.pay_with_key(&pix(), "k").await;
        assert_eq!(
            busy.error(),
            (
                409,
                "A request with this Idempotency-Key is still running".to_owned()
            )
        );
        shop.let_leases_end();
        shop.pay_with_key(&pix(), "k").await.id();
        assert_eq!(shop.sandbox.charges().await, (1, 0));
    }
);

shop_on_both_engines!(
    the_same_request_fifty_times_at_once_is_one_charge,
    async |shop| {
        fifty(&[&shop.app], &shop).await;
    }
);

#[test]
fn the_same_request_fifty_times_at_once_at_two_processes_is_one_charge() {
    async fn body(address: String) {
        let shop = Shop::open(&address).await;
        let other = shop.replica(|_| {}).await;
        fifty(&[&shop.app, &other], &shop).await;
    }
    run(Engine::Postgres, body);
}

#[test]
fn an_attempt_that_is_forgotten_while_its_twin_looks_for_it_is_no_fault() {
    async fn body(address: String) {
        let shop = Shop::open_with(&address, |config| {
            config.provider.quota = "1/day".parse().unwrap();
        })
        .await;
        for _ in 0..5 {
            for status in fifty_at_once(&[&shop.app]).await {
                assert!([409, 503].contains(&status), "{status}");
            }
        }
        assert_eq!(shop.steps().await, Vec::<String>::new());
    }
    run(Engine::Postgres, body);
}

/// Sends one request with one key fifty times at once.
async fn fifty_at_once(apps: &[&super::app::TestApp]) -> Vec<u16> {
    let mut work = tokio::task::JoinSet::new();
    for index in 0..50 {
        let router = apps[index % apps.len()].router.clone();
        let mut request = creation(&card("APRO"), Some("k"));
        let peer = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        request
            .extensions_mut()
            .insert(axum::extract::ConnectInfo(peer));
        work.spawn(async move {
            tower::ServiceExt::oneshot(router, request)
                .await
                .unwrap()
                .status()
                .as_u16()
        });
    }
    work.join_all().await
}

async fn fifty(apps: &[&super::app::TestApp], shop: &Shop) {
    let statuses = fifty_at_once(apps).await;
    assert!(
        statuses.iter().all(|status| [200, 409].contains(status)),
        "{statuses:?}"
    );
    assert!(statuses.contains(&200));
    shop.pay_with_key(&card("APRO"), "k").await.id();
    assert_eq!(shop.sandbox.charges().await, (1, 1));
    assert_eq!(shop.steps().await, ["finished"]);
}

shop_on_both_engines!(
    requests_without_a_key_are_attempts_of_their_own,
    async |shop| {
        assert_ne!(shop.pay(&pix()).await.id(), shop.pay(&pix()).await.id());
        assert_eq!(shop.steps().await, ["finished", "finished"]);
    }
);
