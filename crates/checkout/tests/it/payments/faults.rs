//! What the provider may do to a payment: each fault answers as specified, and a repetition with
//! the same key ends in exactly one payment.

use std::time::Duration;

use checkout::Config;
use serde_json::Value;
use test_kit::{closed_port::ClosedPort, on_both_engines};

use super::app::Shop;
use super::requests::{card, pix};
use crate::payments::app::shop_on_both_engines;

/// A fault of the call that makes the payment, what it answers, and whether the provider made the
/// payment.
const FAULTS: [(&str, u16, &str, bool); 13] = [
    ("drop before", 503, "Service unavailable", false),
    ("drop after", 503, "Service unavailable", true),
    ("reset", 503, "Service unavailable", false),
    ("reset after", 503, "Service unavailable", true),
    ("truncate", 503, "Service unavailable", true),
    ("garbage", 502, "API Error: 200 unreadable answer", true),
    ("status 500", 502, "API Error: 500", false),
    ("status 500 after", 502, "API Error: 500", true),
    ("status 503", 502, "API Error: 503", false),
    ("status 429", 502, "API Error: 429", false),
    ("status 401", 502, "Erro PROVIDER 401", false),
    ("status 403", 502, "API Error: 403", false),
    ("status 400 code 2004", 503, "Service unavailable", false),
];

/// A process with a short timeout for calls to the provider.
fn hasty(config: &mut Config) {
    config.provider.timeout = Duration::from_millis(400);
}

async fn survives(shop: &Shop, request: &Value, key: &str, fault: (&str, u16, &str, bool)) {
    let (name, status, detail, was_made) = fault;
    let before = shop.sandbox.charges().await.0;
    shop.sandbox.fail_payment(name).await;
    let failed = shop.pay_with_key(request, key).await;
    assert_eq!(failed.status, status, "{name}: {}", failed.text);
    assert!(
        failed.detail().starts_with(detail),
        "{name}: {}",
        failed.detail()
    );
    assert_eq!(
        shop.sandbox.charges().await.0,
        before + u64::from(was_made),
        "{name}"
    );
    if was_made {
        assert_eq!(failed.json()["outcome"], "unknown", "{name}");
    }
    let id = shop.pay_with_key(request, key).await.id();
    assert_eq!(
        shop.sandbox.charges().await.0,
        before + 1,
        "{name}: not exactly one payment"
    );
    assert_eq!(shop.pay_with_key(request, key).await.id(), id, "{name}");
}

shop_on_both_engines!(
    every_fault_of_a_pix_payment_ends_in_one_payment,
    async |shop| {
        for fault in FAULTS {
            survives(&shop, &pix(), &format!("pix {}", fault.0), fault).await;
        }
    }
);

shop_on_both_engines!(
    every_fault_of_a_card_payment_ends_in_one_charge,
    async |shop| {
        for fault in FAULTS {
            survives(&shop, &card("APRO"), &format!("card {}", fault.0), fault).await;
        }
        let (payments, charges) = shop.sandbox.charges().await;
        assert_eq!(payments, charges);
    }
);

shop_on_both_engines!(
    every_fault_of_a_card_token_ends_in_one_charge,
    async |shop| {
        for (index, fault) in FAULTS.into_iter().enumerate() {
            let (name, status, detail, _) = fault;
            shop.sandbox.fail("POST", "/v1/card_tokens", name, 1).await;
            let failed = shop.pay_with_key(&card("APRO"), name).await;
            assert_eq!(failed.status, status, "{name}: {}", failed.text);
            assert!(
                failed.detail().starts_with(detail),
                "{name}: {}",
                failed.detail()
            );
            assert_eq!(failed.json()["outcome"], "not_charged", "{name}");
            shop.pay_with_key(&card("APRO"), name).await.id();
            let charged = u64::try_from(index + 1).unwrap();
            assert_eq!(shop.sandbox.charges().await, (charged, charged), "{name}");
        }
    }
);

shop_on_both_engines!(
    a_provider_that_refuses_connections_answers_503_and_nothing_is_sent,
    async |shop| {
        let closed_port = ClosedPort::new();
        let url = format!("http://{}", closed_port.address);
        let cut_off = shop
            .replica(|config| config.provider.base_url = url.parse().unwrap())
            .await;
        for (key, request) in [("a", pix()), ("b", card("APRO"))] {
            let failed = cut_off.pay_with_key(&request, key).await;
            failed.is_error(503, "Service unavailable");
            assert_eq!(failed.json()["outcome"], "not_charged");
            shop.pay_with_key(&request, key).await.id();
        }
        assert_eq!(shop.sandbox.charges().await, (2, 1));
    }
);

shop_on_both_engines!(
    an_answer_that_comes_too_late_is_found_by_the_repetition,
    async |shop| {
        let hasty = shop.replica(hasty).await;
        shop.sandbox.fail_payment("delay 60m").await;
        // On a busy machine the timeout may end before the call has arrived.
        while shop.sandbox.charges().await.0 == 0 {
            let failed = hasty.pay_with_key(&card("APRO"), "k").await;
            failed.is_error(503, "Service unavailable");
        }
        shop.pay_with_key(&card("APRO"), "k").await.id();
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

shop_on_both_engines!(
    a_call_that_is_still_under_way_is_not_repeated_into_a_second_charge,
    async |shop| {
        let hasty = shop.replica(hasty).await;
        shop.sandbox.fail_payment("stall 60m").await;
        while !shop.sandbox.has_call("POST", "/v1/payments").await {
            assert_eq!(hasty.pay_with_key(&card("APRO"), "k").await.status, 503);
        }
        let answer = shop.pay_with_key(&card("APRO"), "k").await;
        assert!([502, 503].contains(&answer.status), "{}", answer.text);
        assert_eq!(shop.sandbox.charges().await, (0, 0), "nothing is made yet");
        shop.sandbox.clear_faults().await;
        let mut answer = shop.pay_with_key(&card("APRO"), "k").await;
        while answer.status != 200 {
            assert!([502, 503].contains(&answer.status), "{}", answer.text);
            answer = shop.pay_with_key(&card("APRO"), "k").await;
        }
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

shop_on_both_engines!(
    a_second_failure_without_effect_does_not_hide_the_first_unknown_one,
    async |shop| {
        shop.sandbox.fail_payment("drop after").await;
        assert_eq!(shop.pay_with_key(&pix(), "k").await.status, 503);
        shop.sandbox
            .fail("GET", "/v1/payments/search", "status 401", 1)
            .await;
        let second = shop.pay_with_key(&pix(), "k").await;
        second.is_error(502, "Erro PROVIDER 401");
        assert_eq!(second.json()["outcome"], "unknown");
        assert_eq!(shop.steps().await, ["sending"]);
        shop.pay_with_key(&pix(), "k").await.id();
        assert_eq!(shop.sandbox.charges().await.0, 1);
    }
);

shop_on_both_engines!(
    a_token_that_was_used_up_elsewhere_is_replaced_only_when_no_payment_is_known,
    async |shop| {
        shop.sandbox.fail_payment("status 500").await;
        assert_eq!(shop.pay_with_key(&card("APRO"), "k").await.status, 502);
        let token = async |conn: &mut db::Conn| {
            conn.one("SELECT card_token FROM attempts", &[], |row| {
                row.get::<String>(0)
            })
            .await
        };
        let token = shop.db.read::<_, db::Error, _>(token).await.unwrap();
        let other = serde_json::json!({
            "transaction_amount": 1, "token": token, "description": "another", "installments": 1, "payment_method_id": "visa",
            "payer": {"email": "a@example.com", "identification": {"type": "CPF", "number": "12345678909"}},
            "external_reference": "another",
        });
        shop.sandbox
            .call(reqwest::Method::POST, "/v1/payments", Some(other))
            .await;
        // The call that may have used the token could still end in a charge, so it is too early for
        // a new token.
        for _ in 0..3 {
            shop.clock.advance(Duration::from_mins(19));
            shop.pay_with_key(&card("APRO"), "k")
                .await
                .is_error(503, "Service unavailable");
        }
        shop.clock.advance(Duration::from_mins(22));
        shop.pay_with_key(&card("APRO"), "k").await.id();
        assert_eq!(shop.sandbox.charges().await, (2, 2));
    }
);

on_both_engines!(
    the_provider_quota_answers_503_before_any_call,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.provider.quota = "3/minute".parse().unwrap();
        })
        .await;
        shop.pay(&card("APRO")).await.id();
        // One call is left, and a card needs two.
        let refused = shop.pay_with_key(&card("APRO"), "k").await;
        refused.is_error(503, "Service unavailable");
        assert_eq!(refused.header("retry-after"), Some("60"));
        assert_eq!(refused.json()["outcome"], "not_charged");
        shop.pay(&pix()).await.id();
        assert_eq!(shop.pay(&pix()).await.status, 503);
        assert_eq!(shop.sandbox.calls().await.len(), 3);
        assert_eq!(
            shop.steps().await,
            ["finished", "finished"],
            "nothing is left of what was never begun"
        );
        shop.clock.advance(Duration::from_secs(60));
        shop.pay_with_key(&card("APRO"), "k").await.id();
    }
);
