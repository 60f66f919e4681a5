//! Events of orders and of their payments, as the shop's servers receive them.

use std::time::Duration;

use serde_json::{Value, json};
use test_kit::on_both_engines;
use test_kit::receiver::{ReceivedRequest, Receiver, Reply};

use super::ending::{approved_after_its_cancellation, paid_after_its_payment_was_canceled};
use super::paying::paid_twice;
use super::{
    OrderLink, act, boleto, cancel, card, learn, make, order, overpayments, pay, pix, read, work,
};
use crate::openapi::DOCUMENT;
use crate::payments::app::Shop;
use crate::payments::requests::with;
use crate::webhooks::{SECRET, kinds, pass, receiver_and_shop, send_events_to};

/// Delivers until nothing is due; returns the events, each signed and as the API's document
/// describes it.
async fn news(shop: &Shop, receiver: &Receiver) -> Vec<Value> {
    let before = receiver.received().len();
    pass(shop).await;
    let posts = receiver.received().split_off(before);
    for one in &posts {
        let event = one.json();
        let kind = event["type"].as_str().unwrap();
        DOCUMENT.assert_valid(&DOCUMENT.webhook(kind)["schema"], &event, kind);
        assert!(one.is_signed_with(SECRET));
    }
    posts.iter().map(ReceivedRequest::json).collect()
}

fn types(news: &[Value]) -> Vec<&str> {
    news.iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

/// The order as its merchant reads it, without the address of its page.
async fn shown(shop: &Shop, made: &OrderLink) -> Value {
    with(read(shop, made).await, "url", Value::Null)
}

on_both_engines!(
    a_paid_order_is_told_after_its_payment_as_the_api_shows_it,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        let made = make(&shop, &with(order(), "reference", json!("1042"))).await;
        let payment = pay(&shop, &made, &pix(), None).await.id();
        act(&shop, &payment, "pay").await;
        let events = news(&shop, &receiver).await;
        let expected = ["payment.pending", "payment.approved", "order.paid"];
        assert_eq!(types(&events), expected);
        let name = json!({"id": made.id, "reference": "1042"});
        for event in &events[..2] {
            assert_eq!(event["data"]["id"], payment);
            assert_eq!(event["data"]["order"], name);
        }
        let paid = &events[2]["data"];
        assert_eq!(paid, &shown(&shop, &made).await);
        assert_eq!(paid["payments"][0]["status"], "approved");
        assert_eq!(paid.get("late"), None);
        let path = format!("/payments/{payment}");
        let shown = shop.merchant("GET", &path, None).await.json();
        assert_eq!(shown.get("order"), None, "as the specification has it");
    }
);

on_both_engines!(
    an_order_that_is_paid_by_card_shows_the_payment_that_paid_it,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        let made = make(&shop, &order()).await;
        let payment = pay(&shop, &made, &card("APRO"), None).await.id();
        let events = news(&shop, &receiver).await;
        assert_eq!(types(&events), ["payment.approved", "order.paid"]);
        assert_eq!(events[0]["data"]["order"]["reference"], Value::Null);
        assert_eq!(events[1]["data"], shown(&shop, &made).await);
        assert_eq!(events[1]["data"]["payments"][0]["id"], payment);
    }
);

on_both_engines!(
    a_payment_under_review_is_told_with_its_order_once_it_is_approved,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        let made = make(&shop, &order()).await;
        let payment = pay(&shop, &made, &card("CONT"), None).await.id();
        assert!(news(&shop, &receiver).await.is_empty());
        act(&shop, &payment, "approve").await;
        let events = news(&shop, &receiver).await;
        assert_eq!(types(&events), ["payment.approved", "order.paid"]);
    }
);

on_both_engines!(
    an_order_whose_money_is_back_before_it_is_known_is_told_as_paid_in_between,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        for (end, last) in [
            ("refund", "payment.refunded"),
            ("charge_back", "payment.charged_back"),
        ] {
            let made = make(&shop, &order()).await;
            let payment = pay(&shop, &made, &pix(), None).await.id();
            shop.sandbox.act(&payment, "pay").await;
            act(&shop, &payment, end).await;
            let events = news(&shop, &receiver).await;
            let expected = ["payment.pending", "payment.approved", "order.paid", last];
            assert_eq!(types(&events), expected);
            assert_eq!(events[2]["data"], shown(&shop, &made).await);
        }
    }
);

on_both_engines!(
    an_order_that_expires_is_told_once_and_what_is_paid_later_is_late,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        let made = make(&shop, &order()).await;
        let slip = pay(&shop, &made, &boleto(), None).await.id();
        shop.clock.advance(Duration::from_hours(24));
        for _ in 0..2 {
            work(&shop).await;
        }
        let events = news(&shop, &receiver).await;
        assert_eq!(types(&events), ["payment.pending", "order.expired"]);
        assert_eq!(events[1]["data"], shown(&shop, &made).await);
        act(&shop, &slip, "pay").await;
        let events = news(&shop, &receiver).await;
        assert_eq!(types(&events), ["payment.approved", "order.paid"]);
        let late = with(shown(&shop, &made).await, "late", json!(true));
        assert_eq!(events[1]["data"], late);
    }
);

on_both_engines!(
    what_was_paid_in_time_and_is_known_after_the_expiry_is_not_late,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        let made = make(&shop, &order()).await;
        let slip = pay(&shop, &made, &boleto(), None).await.id();
        shop.sandbox.act(&slip, "pay").await;
        shop.clock.advance(Duration::from_hours(24));
        work(&shop).await;
        learn(&shop).await;
        let events = news(&shop, &receiver).await;
        assert_eq!(
            types(&events)[1..],
            ["order.expired", "payment.approved", "order.paid"]
        );
        assert_eq!(events[3]["data"], shown(&shop, &made).await);
    }
);

on_both_engines!(
    the_pix_of_an_order_that_expires_is_told_as_canceled_after_it,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        let made = make(&shop, &order()).await;
        pay(&shop, &made, &pix(), None).await.id();
        shop.clock.advance(Duration::from_hours(24));
        work(&shop).await;
        let events = news(&shop, &receiver).await;
        let expected = ["payment.pending", "order.expired", "payment.canceled"];
        assert_eq!(types(&events), expected);
        assert_eq!(events[2]["data"]["order"]["id"], made.id);
    }
);

on_both_engines!(
    a_canceled_order_is_told_once_after_its_payment,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        let made = make(&shop, &order()).await;
        pay(&shop, &made, &pix(), None).await.id();
        for _ in 0..2 {
            assert_eq!(cancel(&shop, &made).await.status, 200);
        }
        let events = news(&shop, &receiver).await;
        let expected = ["payment.pending", "payment.canceled", "order.canceled"];
        assert_eq!(types(&events), expected);
        assert_eq!(events[2]["data"], shown(&shop, &made).await);
    }
);

on_both_engines!(
    a_second_payment_is_told_as_an_overpayment_with_the_payment,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        let (made, second) = paid_twice(&shop).await;
        let events = news(&shop, &receiver).await;
        let expected = [
            "payment.approved",
            "order.paid",
            "payment.approved",
            "order.overpaid",
        ];
        assert_eq!(types(&events), expected);
        assert_eq!(events[0]["data"]["id"], second.id());
        let mut overpaid = events[3]["data"].clone();
        let payment = overpaid.as_object_mut().unwrap().remove("payment").unwrap();
        assert_eq!(overpaid, shown(&shop, &made).await);
        assert_eq!(payment["id"], events[2]["data"]["id"]);
        let path = format!("/payments/{}", payment["id"].as_str().unwrap());
        assert_eq!(payment, shop.merchant("GET", &path, None).await.json());
        assert_eq!(overpayments(&shop).await, (1, 0));
    }
);

on_both_engines!(
    an_overpayment_that_is_given_back_is_told_as_a_refund_after_it,
    async |address| {
        let receiver = Receiver::start().await;
        let configure = send_events_to(&receiver.url());
        let shop = Shop::open_with(&address, |config| {
            configure(config);
            config.refund_overpayment = true;
        });
        let shop = shop.await;
        let (made, second) = paid_twice(&shop).await;
        work(&shop).await;
        let events = news(&shop, &receiver).await;
        assert_eq!(types(&events)[3..], ["order.overpaid", "payment.refunded"]);
        let refund = &events[4]["data"];
        assert_ne!(refund["id"], second.id());
        assert_eq!(refund["id"], events[3]["data"]["payment"]["id"]);
        assert_eq!(refund["order"]["id"], made.id);
        assert_eq!(refund["refunded_amount"], 12.5);
        assert_eq!(read(&shop, &made).await["refunded_amount"], 0.0);
    }
);

on_both_engines!(
    an_approval_after_the_orders_cancellation_is_told_as_an_overpayment,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        let made = approved_after_its_cancellation(&shop).await;
        let events = news(&shop, &receiver).await;
        let expected = ["order.canceled", "payment.approved", "order.overpaid"];
        assert_eq!(types(&events), expected);
        let overpaid = &events[2]["data"];
        assert_eq!(overpaid["id"], made.id);
        assert_eq!(overpaid["status"], "canceled");
        assert_eq!(overpaid["payment"]["status"], "approved");
    }
);

on_both_engines!(
    an_approval_of_a_canceled_payment_is_told_once_as_an_overpayment,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        let (made, payment) = paid_after_its_payment_was_canceled(&shop).await;
        // Another amount is refused first.
        for amount in ["99.00", "12.50"] {
            let amount = db::Money::parse(amount).unwrap();
            let change = async move |tx: &mut db::Tx| {
                tx.execute("UPDATE payments SET amount = $1", &[&amount])
                    .await
            };
            shop.db.write::<_, db::Error, _>(change).await.unwrap();
            learn(&shop).await;
            shop.clock.advance(Duration::from_hours(1));
        }
        for _ in 0..2 {
            learn(&shop).await;
            shop.clock.advance(Duration::from_hours(1));
        }
        let events = news(&shop, &receiver).await;
        assert_eq!(types(&events), ["payment.pending", "order.overpaid"]);
        let overpaid = &events[1]["data"];
        assert_eq!(overpaid["status"], "open");
        assert_eq!(overpaid["id"], made.id);
        assert_eq!(overpaid["payment"]["id"], payment);
        assert_eq!(overpaid["payment"]["status"], "cancelled");
        assert_eq!(overpayments(&shop).await, (1, 0));
    }
);

on_both_engines!(
    each_part_that_is_given_back_of_an_order_is_told_with_the_order,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        let made = make(&shop, &order()).await;
        let payment = pay(&shop, &made, &card("APRO"), None).await.id();
        news(&shop, &receiver).await;
        let path = format!("/payments/{payment}/refunds");
        let part = json!({"amount": 2.5});
        shop.merchant("POST", &path, Some(&part)).await.id();
        shop.merchant("POST", &path, None).await.id();
        let events = news(&shop, &receiver).await;
        assert_eq!(types(&events), ["payment.refunded", "payment.refunded"]);
        let refunded = |event: &Value| event["data"]["refunded_amount"].as_f64();
        let amounts: Vec<_> = events.iter().map(refunded).collect();
        assert_eq!(amounts, [Some(2.5), Some(12.5)]);
        for event in &events {
            assert_eq!(event["data"]["order"]["id"], made.id);
        }
    }
);

on_both_engines!(
    news_of_an_order_and_its_payments_wait_for_one_another_and_not_for_other_orders,
    async |address| {
        let receiver = Receiver::start().await;
        // The first post, of the first order's payment, fails.
        receiver.behaves(|number| Reply::Status(if number == 0 { 500 } else { 200 }));
        let shop = Shop::open_with(&address, send_events_to(&receiver.url())).await;
        let first = make(&shop, &order()).await;
        let payment = pay(&shop, &first, &pix(), None).await.id();
        pass(&shop).await;
        act(&shop, &payment, "pay").await;
        let second = make(&shop, &order()).await;
        pay(&shop, &second, &card("APRO"), None).await.id();
        assert_eq!(pass(&shop).await, (2, 2));
        let received = receiver.received();
        let others = ["payment.approved", "order.paid"];
        assert_eq!(kinds(&received[1..]), others);
        assert_eq!(received[2].json()["data"]["id"], second.id);
        shop.clock.advance(Duration::from_secs(10));
        assert_eq!(pass(&shop).await, (3, 3));
        let in_order = ["payment.pending", "payment.approved", "order.paid"];
        assert_eq!(kinds(&receiver.received()[3..]), in_order);
    }
);
