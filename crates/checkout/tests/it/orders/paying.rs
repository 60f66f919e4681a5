//! Paying an order.

use std::time::Duration;

use serde_json::{Value, json};
use test_kit::on_both_engines;

use super::{act, boleto, card, learn, make, order, overpayments, pay, pix, read, status};
use crate::payments::{
    app::{Answer, Shop, shop_on_both_engines},
    requests::with,
};

shop_on_both_engines!(a_pix_makes_its_order_paid, async |shop| {
    let made = make(&shop, &order()).await;
    let page = shop.get(&made.page).await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains("R$\u{a0}12,50"), "{}", page.text);
    let answer = pay(&shop, &made, &pix(), None).await;
    assert_eq!(answer.json()["transaction_amount"], 12.5);
    let open = read(&shop, &made).await;
    assert_eq!(
        (&open["status"], &open["paid_at"]),
        (&json!("open"), &Value::Null)
    );
    assert_eq!(open["updated_at"], open["created_at"]);
    assert_eq!(open["payments"][0]["status"], "pending");
    shop.clock.advance(Duration::from_secs(90));
    act(&shop, &answer.id(), "pay").await;
    let paid = read(&shop, &made).await;
    assert_eq!(paid["status"], "paid");
    for member in ["paid_at", "updated_at"] {
        assert_eq!(paid[member], "2026-11-20T12:01:30.000000Z", "{member}");
    }
    assert_eq!(paid["created_at"], open["created_at"]);
    let payment = &paid["payments"][0];
    assert_eq!(payment["id"], answer.id());
    assert_eq!(
        (&payment["status"], &payment["payment_method_id"]),
        (&json!("approved"), &json!("pix"))
    );
    let again = pay(&shop, &made, &pix(), None).await;
    again.is_error(409, "Order already paid");
});

shop_on_both_engines!(a_card_makes_its_order_paid_at_once, async |shop| {
    let made = make(&shop, &order()).await;
    let answer = pay(&shop, &made, &card("APRO"), None).await;
    assert_eq!(answer.json()["status"], "approved");
    assert_eq!(status(&shop, &made).await, "paid");
    let path = format!("/payments/{}/refunds", answer.id());
    let part = json!({"amount": 2.5});
    shop.clock.advance(Duration::from_secs(5));
    assert_eq!(shop.merchant("POST", &path, Some(&part)).await.status, 200);
    let refunded = read(&shop, &made).await;
    assert_eq!(
        (&refunded["refunded_amount"], &refunded["status"]),
        (&json!(2.5), &json!("paid"))
    );
    assert_eq!(refunded["updated_at"], "2026-11-20T12:00:05.000000Z");
});

shop_on_both_engines!(what_the_order_has_fixed_is_refused_by_name, async |shop| {
    let made = make(&shop, &order()).await;
    for (member, value) in [
        ("transaction_amount", json!(1)),
        ("description", json!("x")),
    ] {
        let answer = pay(&shop, &made, &with(pix(), member, value), None).await;
        assert_eq!(
            (answer.status, &answer.json()["field"]),
            (422, &json!(member))
        );
    }
    let missing = pay(&shop, &made, &json!({"payment_method": "pix"}), None).await;
    missing.is_error(400, "Missing required field");
    let unknown = super::OrderLink {
        id: String::new(),
        page: "/pay/unknown".to_owned(),
    };
    let answer = pay(&shop, &unknown, &pix(), None).await;
    answer.is_error(404, "Order not found");
});

shop_on_both_engines!(
    a_method_or_installments_that_the_order_does_not_take_are_422,
    async |shop| {
        let body = with(order(), "payment_methods", json!(["card"]));
        let made = make(&shop, &with(body, "max_installments", json!(2))).await;
        let answer = pay(&shop, &made, &pix(), None).await;
        assert_eq!(
            (answer.status, &answer.json()["field"]),
            (422, &json!("payment_method"))
        );
        let three = with(card("APRO"), "installments", json!(3));
        let answer = pay(&shop, &made, &three, None).await;
        let detail = "Validation error: installments: must be between 1 and 2".to_owned();
        assert_eq!(answer.error(), (422, detail));
    }
);

shop_on_both_engines!(a_declined_attempt_leaves_the_order_open, async |shop| {
    let made = make(&shop, &order()).await;
    let declined = pay(&shop, &made, &card("FUND"), None).await;
    assert_eq!(declined.json()["status"], "rejected");
    assert_eq!(status(&shop, &made).await, "open");
    shop.sandbox.fail_payment("status 400").await;
    assert_eq!(pay(&shop, &made, &pix(), None).await.status, 502);
    shop.clock.advance(Duration::from_secs(90));
    let approved = pay(&shop, &made, &card("APRO"), None).await;
    assert_eq!(approved.status, 200);
    let paid = read(&shop, &made).await;
    assert_eq!(paid["status"], "paid");
    let states: Vec<_> = paid["payments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["status"].clone())
        .collect();
    assert_eq!(states, ["approved", "rejected"], "newest first");
    for (place, answer) in [&approved, &declined].into_iter().enumerate() {
        let date = &answer.json()["date_created"];
        assert!(date.is_string());
        assert_eq!(paid["payments"][place]["date_created"], *date);
    }
    assert_ne!(
        paid["payments"][0]["date_created"],
        paid["payments"][1]["date_created"]
    );
});

shop_on_both_engines!(an_answer_stands_after_its_order_is_paid, async |shop| {
    let made = make(&shop, &order()).await;
    let first = pay(&shop, &made, &card("APRO"), Some("k")).await;
    let again = pay(&shop, &made, &card("APRO"), Some("k")).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.text, first.text);
    let other = make(&shop, &order()).await;
    let elsewhere = pay(&shop, &other, &card("APRO"), Some("k")).await;
    assert_eq!(
        elsewhere.status, 422,
        "a key is of one order: {}",
        elsewhere.text
    );
    assert_eq!(shop.sandbox.charges().await, (1, 1));
});

/// The expiry that the provider was given for the last payment.
async fn lapse(shop: &Shop) -> String {
    let calls = shop.sandbox.calls().await;
    let is_creation = |call: &&Value| call["method"] == "POST" && call["path"] == "/v1/payments";
    let body = &calls.iter().rfind(is_creation).unwrap()["body"];
    let body: Value = match body {
        Value::String(text) => serde_json::from_str(text).unwrap(),
        other => other.clone(),
    };
    body["date_of_expiration"]
        .as_str()
        .unwrap_or("none")
        .to_owned()
}

shop_on_both_engines!(
    a_pix_expires_no_later_than_its_order_or_as_soon_as_the_provider_can,
    async |shop| {
        let until = |end: &str| with(order(), "expires_at", json!(end));
        let long = make(&shop, &until("2026-11-25T12:00:00Z")).await;
        pay(&shop, &long, &pix(), None).await.id();
        assert_eq!(lapse(&shop).await, "2026-11-25T09:00:00.000-03:00");
        let short = make(&shop, &until("2026-11-20T12:10:00Z")).await;
        pay(&shop, &short, &pix(), None).await.id();
        assert_eq!(lapse(&shop).await, "2026-11-20T09:31:00.000-03:00");
        let boletos = make(&shop, &until("2026-11-25T12:00:00Z")).await;
        pay(&shop, &boletos, &boleto(), None).await.id();
        assert_eq!(lapse(&shop).await, "2026-11-25T09:00:00.000-03:00");
        let cards = make(&shop, &order()).await;
        pay(&shop, &cards, &card("APRO"), None).await.id();
        assert_eq!(lapse(&shop).await, "none");
    }
);

shop_on_both_engines!(
    a_code_that_was_not_made_gets_a_new_end_and_one_that_may_have_been_is_sent_as_it_was,
    async |shop| {
        let soon = with(order(), "expires_at", json!("2026-11-20T12:15:00Z"));
        let two_minutes = Duration::from_mins(2);
        let refused = make(&shop, &soon).await;
        shop.sandbox.fail_payment("status 429").await;
        let first = pay(&shop, &refused, &pix(), Some("k")).await;
        first.has_status(502);
        shop.clock.advance(two_minutes);
        pay(&shop, &refused, &pix(), Some("k")).await.id();
        assert_eq!(lapse(&shop).await, "2026-11-20T09:33:00.000-03:00");
        let lost = make(&shop, &soon).await;
        shop.sandbox.fail_payment("drop before").await;
        pay(&shop, &lost, &pix(), Some("l")).await.is_unknown();
        shop.clock.advance(two_minutes);
        pay(&shop, &lost, &pix(), Some("l")).await.is_unknown();
        assert_eq!(lapse(&shop).await, "2026-11-20T09:33:00.000-03:00");
    }
);

/// Pays an order twice: an attempt without a known outcome is given up after an hour, and its
/// payment appears later.
pub(super) async fn paid_twice(shop: &Shop) -> (super::OrderLink, Answer) {
    let made = make(shop, &order()).await;
    shop.sandbox.fail_payment("drop after").await;
    pay(shop, &made, &card("APRO"), Some("lost"))
        .await
        .has_status(503);
    // The provider's search does not find it at first.
    shop.sandbox
        .fail("GET", "/v1/payments/search", "lag 300m", 50)
        .await;
    for _ in 0..3 {
        shop.clock.advance(Duration::from_mins(59));
        learn(shop).await;
    }
    assert_eq!(shop.steps().await, ["closed"]);
    let second = pay(shop, &made, &card("APRO"), None).await;
    assert_eq!(second.json()["status"], "approved");
    shop.sandbox.clear_faults().await;
    shop.clock.advance(Duration::from_hours(2));
    learn(shop).await;
    (made, second)
}

shop_on_both_engines!(
    a_second_payment_leaves_the_order_as_it_is_and_is_told_of,
    async |shop| {
        let (made, second) = paid_twice(&shop).await;
        let order = read(&shop, &made).await;
        let payments = order["payments"].as_array().unwrap();
        assert_eq!(payments.len(), 2, "{order}");
        assert!(
            payments
                .iter()
                .all(|payment| payment["status"] == "approved"),
            "{order}"
        );
        assert!(payments.iter().any(|payment| payment["id"] == second.id()));
        assert_eq!(order["status"], "paid");
        assert_eq!(overpayments(&shop).await, (1, 0), "the shop decides");
        super::work(&shop).await;
        assert_eq!(read(&shop, &made).await["refunded_amount"], 0.0);
    }
);

on_both_engines!(
    a_second_payment_is_refunded_by_itself_where_the_shop_wants_that,
    async |address| {
        let shop = Shop::open_with(&address, |config| config.refund_overpayment = true).await;
        let (made, second) = paid_twice(&shop).await;
        assert_eq!(overpayments(&shop).await, (1, 1));
        let refund = "drop after";
        let order = read(&shop, &made).await;
        let payments = order["payments"].as_array().unwrap();
        let other = payments
            .iter()
            .find(|payment| payment["id"] != second.id())
            .unwrap();
        let other = other["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/payments/{other}/refunds");
        shop.sandbox.fail("POST", &path, refund, 1).await;
        super::work(&shop).await;
        assert_eq!(
            overpayments(&shop).await,
            (1, 1),
            "the refund's outcome is unknown"
        );
        shop.clock.advance(Duration::from_mins(11));
        super::work(&shop).await;
        assert_eq!(overpayments(&shop).await, (1, 0));
        assert_eq!(shop.status(&other).await, "refunded");
        assert_eq!(shop.status(&second.id()).await, "approved");
        let made_refunds = shop.sandbox.call(reqwest::Method::GET, &path, None).await;
        assert_eq!(made_refunds.as_array().unwrap().len(), 1);
        let order = read(&shop, &made).await;
        assert_eq!(
            (&order["status"], &order["refunded_amount"]),
            (&json!("paid"), &json!(0.0))
        );
    }
);

on_both_engines!(
    an_overpayment_whose_refund_is_open_is_looked_at_until_the_provider_refuses_it,
    async |address| {
        let shop = Shop::open_with(&address, |config| config.refund_overpayment = true).await;
        paid_twice(&shop).await;
        super::work(&shop).await;
        assert_eq!(overpayments(&shop).await, (1, 0), "it was refunded");
        // The sandbox refunds at once, so what other providers say is written here.
        let due = shop.clock.now();
        let again = async move |tx: &mut db::Tx| {
            tx.execute(
                "UPDATE attempts SET refund_status = 'in_process' WHERE refund_status IS NOT NULL",
                &[],
            )
            .await?;
            tx.execute("UPDATE overpayments SET refund_at = $1", &[&due])
                .await
        };
        shop.db.write::<_, db::Error, _>(again).await.unwrap();
        super::work(&shop).await;
        assert_eq!(overpayments(&shop).await, (1, 1));
        let refuse = async |tx: &mut db::Tx| {
            tx.execute(
                "UPDATE attempts SET refund_status = 'rejected' WHERE refund_status IS NOT NULL",
                &[],
            )
            .await
        };
        shop.db.write::<_, db::Error, _>(refuse).await.unwrap();
        shop.clock.advance(Duration::from_mins(11));
        super::work(&shop).await;
        assert_eq!(overpayments(&shop).await, (1, 0));
    }
);

on_both_engines!(
    an_overpayment_is_given_back_though_the_shop_asked_first_and_its_call_was_lost,
    async |address| {
        let shop = Shop::open_with(&address, |config| config.refund_overpayment = true).await;
        let (made, second) = paid_twice(&shop).await;
        let order = read(&shop, &made).await;
        let payments = order["payments"].as_array().unwrap().iter();
        let mut ids = payments.map(|payment| payment["id"].as_str().unwrap().to_owned());
        let other = ids.find(|id| *id != second.id()).unwrap();
        let path = format!("/v1/payments/{other}/refunds");
        shop.sandbox.fail("POST", &path, "drop before", 1).await;
        let path = format!("/payments/{other}/refunds");
        assert_eq!(shop.merchant("POST", &path, None).await.status, 503);
        super::work(&shop).await;
        assert_eq!(
            overpayments(&shop).await,
            (1, 1),
            "nothing is left to give back only if that refund was made"
        );
        shop.clock.advance(Duration::from_hours(2));
        learn(&shop).await;
        super::work(&shop).await;
        assert_eq!(shop.status(&other).await, "refunded");
        shop.clock.advance(Duration::from_mins(11));
        super::work(&shop).await;
        assert_eq!(overpayments(&shop).await, (1, 0));
    }
);

shop_on_both_engines!(
    a_failure_before_the_order_is_read_says_that_the_outcome_is_unknown,
    async |shop| {
        let made = make(&shop, &order()).await;
        pay(&shop, &made, &pix(), Some("k")).await.id();
        let hide = async |tx: &mut db::Tx| {
            let sql = "ALTER TABLE orders RENAME TO hidden";
            tx.execute(sql, &[]).await
        };
        shop.db.write::<_, db::Error, _>(hide).await.unwrap();
        let answer = pay(&shop, &made, &pix(), Some("k")).await;
        assert_eq!(answer.status, 500);
        assert_eq!(answer.json()["outcome"], "unknown");
    }
);
