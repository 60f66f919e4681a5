//! An order has at most one live payment, with any number of tabs, retries and processes.

use std::time::Duration;

use serde_json::{Value, json};
use test_kit::on_both_engines;

use super::{
    OrderLink, act, boleto, cancel, card, learn, make, order, overpayments, pay, pay_anonymously,
    pix, read, status, work,
};
use crate::payments::{
    anonymous_clients::paused,
    app::{Shop, shop_on_both_engines},
    requests::with,
};

const CONFIRMING: &str = "A payment of this order is still being confirmed";

shop_on_both_engines!(
    a_new_attempt_cancels_a_pending_pix_or_boleto_at_the_provider_first,
    async |shop| {
        let made = make(&shop, &order()).await;
        let first = pay(&shop, &made, &pix(), None).await.id();
        let second = pay(&shop, &made, &boleto(), None).await.id();
        let third = pay(&shop, &made, &pix(), None).await.id();
        assert_eq!(shop.status(&first).await, "cancelled");
        assert_eq!(shop.status(&second).await, "cancelled");
        assert_eq!(shop.status(&third).await, "pending");
        let paid = pay(&shop, &made, &card("APRO"), None).await;
        assert_eq!(paid.json()["status"], "approved");
        assert_eq!(shop.status(&third).await, "cancelled");
        assert_eq!(status(&shop, &made).await, "paid");
        assert_eq!(shop.sandbox.charges().await.1, 1);
    }
);

shop_on_both_engines!(
    a_pending_payment_that_turns_out_to_be_paid_makes_the_order_paid_and_the_new_attempt_409,
    async |shop| {
        let made = make(&shop, &order()).await;
        let first = pay(&shop, &made, &pix(), None).await.id();
        shop.sandbox.act(&first, "pay").await;
        let second = pay(&shop, &made, &card("APRO"), None).await;
        second.is_error(409, "Order already paid");
        assert_eq!(status(&shop, &made).await, "paid");
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

on_both_engines!(
    an_anonymous_client_over_the_limit_keeps_the_pix_that_waits,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.attempt_limit = "1/minute".parse().unwrap();
        })
        .await;
        let made = make(&shop, &order()).await;
        let first = pay_anonymously(&shop, &made, &pix()).await.id();
        let second = pay_anonymously(&shop, &made, &boleto()).await;
        assert_eq!(second.error(), paused(60));
        assert_eq!(shop.status(&first).await, "pending");
        shop.clock.advance(Duration::from_secs(60));
        pay_anonymously(&shop, &made, &boleto()).await.id();
        assert_eq!(shop.status(&first).await, "cancelled");
    }
);

on_both_engines!(
    a_pix_that_waits_is_kept_while_the_quota_has_no_calls_for_another_payment,
    async |address| {
        let shop = Shop::open_with(&address, |config| {
            config.provider.quota = "3/minute".parse().unwrap();
        })
        .await;
        let made = make(&shop, &order()).await;
        let first = pay(&shop, &made, &pix(), None).await.id();
        pay(&shop, &made, &card("APRO"), None).await.has_status(503);
        assert_eq!(shop.status(&first).await, "pending");
        shop.clock.advance(Duration::from_secs(60));
        pay(&shop, &made, &card("APRO"), None).await.has_status(200);
        assert_eq!(shop.status(&first).await, "cancelled");
    }
);

shop_on_both_engines!(
    an_anonymous_client_whose_cards_are_declined_too_often_keeps_the_pix_that_waits,
    async |shop| {
        for _ in 0..5 {
            let other = make(&shop, &order()).await;
            let declined = pay_anonymously(&shop, &other, &card("OTHE")).await;
            assert_eq!(declined.json()["status"], "rejected");
        }
        let made = make(&shop, &order()).await;
        let first = pay_anonymously(&shop, &made, &pix()).await.id();
        let second = pay_anonymously(&shop, &made, &card("APRO")).await;
        assert_eq!(second.error(), paused(60 * 60));
        assert_eq!(shop.status(&first).await, "pending");
        shop.clock.advance(Duration::from_hours(1));
        pay_anonymously(&shop, &made, &card("APRO")).await.id();
        assert_eq!(status(&shop, &made).await, "paid");
    }
);

shop_on_both_engines!(
    while_the_provider_does_not_cancel_the_pending_payment_there_is_no_other,
    async |shop| {
        let made = make(&shop, &order()).await;
        let first = pay(&shop, &made, &pix(), None).await.id();
        let path = format!("/v1/payments/{first}");
        // What the provider refuses is not the new payment, which may be tried again.
        for (fault, status) in [("status 500", 502), ("status 400", 503)] {
            shop.sandbox.fail("PUT", &path, fault, 1).await;
            let second = pay(&shop, &made, &card("APRO"), None).await;
            assert_eq!(
                (second.status, &second.json()["outcome"]),
                (status, &json!("not_charged"))
            );
        }
        assert_eq!(shop.sandbox.charges().await, (1, 0));
        assert_eq!(pay(&shop, &made, &card("APRO"), None).await.status, 200);
    }
);

shop_on_both_engines!(
    an_unknown_outcome_blocks_the_next_attempt_until_it_is_known,
    async |shop| {
        let replica = shop.replica(|_| {}).await;
        for (fault, end) in [("drop after", "paid"), ("drop before", "open")] {
            let made = make(&shop, &order()).await;
            shop.sandbox.fail_payment(fault).await;
            let lost = pay(&shop, &made, &card("APRO"), Some(end)).await;
            assert_eq!(
                (lost.status, &lost.json()["outcome"]),
                (503, &json!("unknown"))
            );
            for app in [&shop.app, &replica] {
                for body in [pix(), card("APRO")] {
                    let other = pay(app, &made, &body, None).await;
                    other.is_error(409, CONFIRMING);
                }
                let page = app.get(&made.page).await;
                assert!(
                    page.text.contains("data-order=\"confirming\""),
                    "in any tab"
                );
            }
            cancel(&shop, &made).await.is_error(409, CONFIRMING);
            for _ in 0..3 {
                shop.clock.advance(Duration::from_mins(59));
                learn(&shop).await;
            }
            assert_eq!(status(&shop, &made).await, end);
        }
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

shop_on_both_engines!(
    a_repetition_goes_on_with_the_attempt_of_unknown_outcome,
    async |shop| {
        let made = make(&shop, &order()).await;
        shop.sandbox.fail_payment("drop before").await;
        assert_eq!(pay(&shop, &made, &pix(), Some("k")).await.status, 503);
        let again = pay(&shop, &made, &pix(), Some("k")).await;
        assert_eq!(again.json()["status"], "pending");
        assert_eq!(shop.sandbox.charges().await, (1, 0));
    }
);

shop_on_both_engines!(
    a_repetition_of_an_attempt_that_another_has_overtaken_is_409,
    async |shop| {
        let made = make(&shop, &order()).await;
        // Nothing of the first was sent: the order is free again.
        shop.sandbox
            .fail("POST", "/v1/card_tokens", "status 500", 1)
            .await;
        pay(&shop, &made, &card("APRO"), Some("first"))
            .await
            .has_status(502);
        shop.sandbox.fail_payment("drop after").await;
        pay(&shop, &made, &card("APRO"), Some("second"))
            .await
            .has_status(503);
        let overtaken = pay(&shop, &made, &card("APRO"), Some("first")).await;
        overtaken.is_error(409, CONFIRMING);
        pay(&shop, &made, &card("APRO"), Some("second"))
            .await
            .has_status(200);
        let overtaken = pay(&shop, &made, &card("APRO"), Some("first")).await;
        overtaken.is_error(409, "Order already paid");
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

shop_on_both_engines!(of_many_tabs_and_replicas_one_pays, async |shop| {
    let replica = shop.replica(|_| {}).await;
    let made = make(&shop, &order()).await;
    let body = card("APRO");
    let tabs = (0..8).map(|tab| {
        let app = if tab % 2 == 0 { &shop.app } else { &replica };
        pay(app, &made, &body, None)
    });
    let answers = futures_of(tabs).await;
    let paid = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(paid, 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        let is_told = ["Order already paid", CONFIRMING].contains(&answer.detail().as_str());
        assert!(answer.status == 409 && is_told, "{}", answer.text);
    }
    assert_eq!(shop.sandbox.charges().await, (1, 1));
    assert_eq!(overpayments(&shop).await, (0, 0));
});

shop_on_both_engines!(
    of_many_codes_that_are_asked_for_at_once_one_is_alive,
    async |shop| {
        let made = make(&shop, &order()).await;
        let body = pix();
        let answers = futures_of((0..6).map(|_| pay(&shop, &made, &body, None))).await;
        assert!(answers.iter().any(|answer| answer.status == 200));
        let payments = read(&shop, &made).await["payments"]
            .as_array()
            .unwrap()
            .clone();
        let pending = payments
            .iter()
            .filter(|payment| payment["status"] == "pending");
        assert_eq!(pending.count(), 1, "{payments:?}");
    }
);

shop_on_both_engines!(
    a_card_under_review_blocks_and_is_not_canceled_for_another,
    async |shop| {
        let made = make(&shop, &order()).await;
        let first = pay(&shop, &made, &card("CONT"), None).await.id();
        let second = pay(&shop, &made, &pix(), None).await;
        second.is_error(409, CONFIRMING);
        cancel(&shop, &made).await.is_error(409, CONFIRMING);
        let page = shop.get(&made.page).await;
        assert!(page.text.contains("data-order=\"followed\""));
        act(&shop, &first, "reject").await;
        assert_eq!(pay(&shop, &made, &pix(), None).await.status, 200);
    }
);

shop_on_both_engines!(
    a_pending_card_is_canceled_with_its_order_and_not_for_another_attempt,
    async |shop| {
        let soon = with(order(), "expires_at", json!("2026-11-20T12:10:00Z"));
        let canceled = pending_card(&shop, &soon).await;
        let other = pay(&shop, &canceled, &pix(), None).await;
        other.is_error(409, CONFIRMING);
        let answer = cancel(&shop, &canceled).await;
        answer.has_status(200);
        assert_eq!(answer.json()["payments"][0]["status"], "cancelled");
        let expired = pending_card(&shop, &soon).await;
        shop.clock.advance(Duration::from_mins(10));
        work(&shop).await;
        let order = read(&shop, &expired).await;
        assert_eq!(order["status"], "expired");
        assert_eq!(order["payments"][0]["status"], "cancelled");
    }
);

/// An order whose card payment is pending. The sandbox has such a payment under review.
async fn pending_card(shop: &Shop, order: &Value) -> OrderLink {
    let made = make(shop, order).await;
    let payment = pay(shop, &made, &card("CONT"), None).await.id();
    let pending = async move |tx: &mut db::Tx| {
        let sql = "UPDATE payments SET state = 'pending' WHERE provider_id = $1";
        tx.execute(sql, &[&payment]).await
    };
    shop.db.write::<_, db::Error, _>(pending).await.unwrap();
    made
}

/// Runs them at once.
async fn futures_of<F: Future>(all: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<_> = all.into_iter().map(|one| (Box::pin(one), None)).collect();
    std::future::poll_fn(|context| {
        for (future, output) in &mut all {
            if output.is_none()
                && let std::task::Poll::Ready(ready) = future.as_mut().poll(context)
            {
                *output = Some(ready);
            }
        }
        if all.iter().all(|(_, output)| output.is_some()) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    all.into_iter().filter_map(|(_, output)| output).collect()
}
