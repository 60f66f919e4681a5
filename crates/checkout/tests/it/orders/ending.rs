//! How an order ends: canceled, expired, paid late.

use std::time::Duration;

use serde_json::json;
use test_kit::on_both_engines;

use super::{
    OrderLink, act, boleto, cancel, card, learn, make, order, overpayments, pay, pix, read, status,
    work,
};
use crate::payments::{
    app::{Shop, shop_on_both_engines},
    requests::with,
};

/// Whether an order is marked as paid after its time.
async fn is_late(shop: &Shop) -> bool {
    let find = async |conn: &mut db::Conn| {
        conn.one("SELECT is_late FROM orders", &[], |row| row.get::<bool>(0))
            .await
    };
    shop.db.read::<_, db::Error, _>(find).await.unwrap()
}

shop_on_both_engines!(an_open_order_is_canceled_and_stays_so, async |shop| {
    let made = make(&shop, &order()).await;
    let canceled = cancel(&shop, &made).await;
    assert_eq!(
        (canceled.status, &canceled.json()["status"]),
        (200, &json!("canceled"))
    );
    shop.clock.advance(Duration::from_secs(5));
    let again = cancel(&shop, &made).await;
    assert_eq!((again.status, again.json()), (200, canceled.json()));
    let answer = pay(&shop, &made, &pix(), None).await;
    answer.is_error(410, "Order canceled");
});

shop_on_both_engines!(an_unknown_order_is_not_found, async |shop| {
    for id in ["ord_1", "x", "%27%20OR%201", "%00", "%FF"] {
        for (method, act) in [("GET", ""), ("POST", "/cancel")] {
            let path = format!("/orders/{id}{act}");
            let unknown = shop.merchant(method, &path, None).await;
            unknown.is_error(404, "Order not found");
        }
    }
});

shop_on_both_engines!(a_paid_or_expired_order_is_not_canceled, async |shop| {
    let paid = make(&shop, &order()).await;
    pay(&shop, &paid, &card("APRO"), None).await.id();
    cancel(&shop, &paid)
        .await
        .is_error(409, "Order already paid");
    let expired = make(&shop, &order()).await;
    shop.clock.advance(Duration::from_hours(24));
    cancel(&shop, &expired).await.is_error(409, "Order expired");
});

shop_on_both_engines!(
    cancelling_an_order_cancels_its_pending_payment_at_the_provider_first,
    async |shop| {
        for body in [pix(), boleto()] {
            let made = make(&shop, &order()).await;
            let payment = pay(&shop, &made, &body, None).await.id();
            let path = format!("/v1/payments/{payment}");
            shop.sandbox.fail("PUT", &path, "status 500", 1).await;
            assert_eq!(cancel(&shop, &made).await.status, 502);
            assert_eq!(status(&shop, &made).await, "open");
            let canceled = cancel(&shop, &made).await.json();
            assert_eq!(canceled["status"], "canceled");
            assert_eq!(canceled["payments"][0]["status"], "cancelled");
        }
        let made = make(&shop, &order()).await;
        let payment = pay(&shop, &made, &pix(), None).await.id();
        shop.sandbox.act(&payment, "pay").await;
        cancel(&shop, &made)
            .await
            .is_error(409, "Order already paid");
        assert_eq!(status(&shop, &made).await, "paid");
    }
);

shop_on_both_engines!(
    an_order_is_canceled_at_the_same_time_as_its_pending_payment,
    async |shop| {
        for _ in 0..5 {
            let made = make(&shop, &order()).await;
            let payment = pay(&shop, &made, &pix(), None).await.id();
            let canceling = cancel(&shop, &made);
            let (answer, seen) = tokio::join!(canceling, status_after_cancellation(&shop, payment));
            answer.has_status(200);
            assert_eq!(seen, "canceled", "the buyer's page is loaded again now");
        }
    }
);

/// The status of a payment's order as soon as the payment is cancelled.
async fn status_after_cancellation(shop: &Shop, payment: String) -> String {
    loop {
        let payment = payment.clone();
        let find = async move |conn: &mut db::Conn| {
            let sql = "SELECT p.state, o.status FROM payments p
                 JOIN attempts a ON a.payment_id = p.id JOIN orders o ON o.id = a.order_id WHERE p.provider_id = $1";
            let states = |row: &db::Row<'_>| Ok((row.get::<String>(0)?, row.get(1)?));
            conn.one(sql, &[&payment], states).await
        };
        let (state, status) = shop.db.read::<_, db::Error, _>(find).await.unwrap();
        if state == "cancelled" {
            return status;
        }
    }
}

shop_on_both_engines!(
    an_order_expires_its_pix_is_canceled_and_its_boleto_left,
    async |shop| {
        let body = with(order(), "expires_at", json!("2026-11-20T12:10:00Z"));
        let by_pix = make(&shop, &body).await;
        let code = pay(&shop, &by_pix, &pix(), None).await.id();
        let by_boleto = make(&shop, &body).await;
        let slip = pay(&shop, &by_boleto, &boleto(), None).await.id();
        shop.clock.advance(Duration::from_secs(599));
        work(&shop).await;
        assert_eq!(status(&shop, &by_pix).await, "open");
        shop.clock.advance(Duration::from_secs(1));
        let late = pay(&shop, &by_pix, &card("APRO"), None).await;
        assert_eq!(
            late.error(),
            (410, "Order expired".to_owned()),
            "before the worker has looked, too"
        );
        // The provider does not answer at first.
        let path = format!("/v1/payments/{code}");
        shop.sandbox.fail("PUT", &path, "status 500", 1).await;
        work(&shop).await;
        assert_eq!(status(&shop, &by_pix).await, "expired");
        assert_eq!(status(&shop, &by_boleto).await, "expired");
        assert_eq!(shop.status(&code).await, "pending");
        shop.clock.advance(Duration::from_secs(60));
        work(&shop).await;
        assert_eq!(shop.status(&code).await, "cancelled");
        assert_eq!(shop.status(&slip).await, "pending");
        let again = pay(&shop, &by_boleto, &card("APRO"), None).await;
        again.is_error(410, "Order expired");
    }
);

shop_on_both_engines!(
    what_is_paid_later_makes_the_order_paid_and_late,
    async |shop| {
        let made = make(&shop, &order()).await;
        let slip = pay(&shop, &made, &boleto(), None).await.id();
        shop.clock.advance(Duration::from_hours(24));
        work(&shop).await;
        assert_eq!(status(&shop, &made).await, "expired");
        act(&shop, &slip, "pay").await;
        let paid = read(&shop, &made).await;
        assert_eq!(
            (&paid["status"], &paid["paid_at"]),
            (&json!("paid"), &json!("2026-11-21T12:00:00.000000Z"))
        );
        assert!(is_late(&shop).await);
        assert_eq!(overpayments(&shop).await, (0, 0));
    }
);

shop_on_both_engines!(an_order_that_is_paid_in_time_is_not_late, async |shop| {
    let made = make(&shop, &order()).await;
    pay(&shop, &made, &card("APRO"), None).await.id();
    assert!(!is_late(&shop).await);
    shop.clock.advance(Duration::from_hours(24));
    work(&shop).await;
    assert_eq!(
        status(&shop, &made).await,
        "paid",
        "a paid order does not expire"
    );
});

shop_on_both_engines!(
    an_order_that_expires_while_an_outcome_is_unknown_was_paid_in_time_when_it_is_known,
    async |shop| {
        let body = with(order(), "expires_at", json!("2026-11-20T12:10:00Z"));
        let made = make(&shop, &body).await;
        shop.sandbox.fail_payment("drop after").await;
        pay(&shop, &made, &card("APRO"), Some("k"))
            .await
            .has_status(503);
        shop.clock.advance(Duration::from_mins(10));
        work(&shop).await;
        assert_eq!(status(&shop, &made).await, "expired");
        let page = shop.get(&made.page).await;
        assert!(
            page.text.contains("data-order=\"confirming\""),
            "money may have moved"
        );
        let again = pay(&shop, &made, &card("APRO"), Some("k")).await;
        assert_eq!(
            again.status, 409,
            "not \"expired\", which sounds like nothing: {}",
            again.text
        );
        learn(&shop).await;
        assert_eq!(status(&shop, &made).await, "paid");
        assert!(!is_late(&shop).await);
        let answer = pay(&shop, &made, &card("APRO"), Some("k")).await;
        assert_eq!(answer.header("idempotent-replayed"), Some("true"));
        assert_eq!(shop.sandbox.charges().await, (1, 1));
    }
);

shop_on_both_engines!(
    a_code_that_is_found_after_its_order_has_ended_is_canceled_at_the_provider,
    async |shop| {
        let body = with(order(), "expires_at", json!("2026-11-20T12:10:00Z"));
        let made = make(&shop, &body).await;
        shop.sandbox.fail_payment("drop after").await;
        assert_eq!(pay(&shop, &made, &pix(), None).await.status, 503);
        shop.clock.advance(Duration::from_mins(10));
        work(&shop).await;
        learn(&shop).await;
        assert_eq!(read(&shop, &made).await["payments"][0]["status"], "pending");
        work(&shop).await;
        let order = read(&shop, &made).await;
        assert_eq!(order["payments"][0]["status"], "cancelled");
        assert_eq!(order["status"], "expired");
    }
);

/// An order whose attempt was given up, and whose payment appears after the order was canceled.
pub(super) async fn approved_after_its_cancellation(shop: &Shop) -> OrderLink {
    let made = make(shop, &order()).await;
    shop.sandbox.fail_payment("drop after").await;
    assert_eq!(pay(shop, &made, &card("APRO"), None).await.status, 503);
    shop.sandbox
        .fail("GET", "/v1/payments/search", "lag 300m", 50)
        .await;
    for _ in 0..3 {
        shop.clock.advance(Duration::from_mins(59));
        learn(shop).await;
    }
    assert_eq!(cancel(shop, &made).await.status, 200);
    shop.sandbox.clear_faults().await;
    shop.clock.advance(Duration::from_hours(2));
    learn(shop).await;
    made
}

/// An order with a pix that is canceled here and paid at the provider.
pub(super) async fn paid_after_its_payment_was_canceled(shop: &Shop) -> (OrderLink, String) {
    let made = make(shop, &order()).await;
    let payment = pay(shop, &made, &pix(), None).await.id();
    let cancelled = async |tx: &mut db::Tx| {
        tx.execute("UPDATE payments SET state = 'cancelled'", &[])
            .await
    };
    shop.db.write::<_, db::Error, _>(cancelled).await.unwrap();
    shop.sandbox.act(&payment, "pay").await;
    (made, payment)
}

on_both_engines!(
    an_approval_of_what_stands_as_canceled_changes_nothing_and_is_told_of,
    async |address| {
        let shop = Shop::open_with(&address, |config| config.refund_overpayment = true).await;
        let made = approved_after_its_cancellation(&shop).await;
        let order = read(&shop, &made).await;
        assert_eq!(
            (&order["status"], &order["paid_at"]),
            (&json!("canceled"), &json!(null))
        );
        assert_eq!(order["payments"][0]["status"], "approved");
        assert_eq!(
            overpayments(&shop).await,
            (1, 0),
            "somebody looks: nothing is given back by itself"
        );
    }
);
