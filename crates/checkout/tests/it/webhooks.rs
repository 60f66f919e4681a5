//! Events of payments as the shop's servers receive them: real posts over real sockets, with a
//! clock that the test moves.

use std::time::Duration;

use checkout::Config;
use checkout::webhooks::endpoints::{self, EndpointInput};
use checkout::webhooks::{EndpointSettings, EventType, Secret, Target, Webhooks};
use serde_json::json;
use test_kit::closed_port::ClosedPort;
use test_kit::on_both_engines;
use test_kit::receiver::{ReceivedRequest, Receiver, Reply};

use crate::openapi::DOCUMENT;
use crate::payments::app::{Shop, TestApp};
use crate::payments::notified::{notify, work};
use crate::payments::requests::{boleto, card, pix};

pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Sends the events of a shop to this address.
pub(crate) fn send_events_to(url: &str) -> impl FnOnce(&mut Config) + use<> {
    let target = Target::parse(url).unwrap();
    move |config| {
        config.webhooks = Webhooks {
            configured: Some(EndpointSettings {
                target,
                secrets: vec![Secret::parse(SECRET).unwrap()],
            }),
            allow_private: true,
            ..Webhooks::default()
        };
    }
}

/// A receiver, and a shop that sends its events there.
pub(crate) async fn receiver_and_shop(address: &str) -> (Receiver, Shop) {
    let receiver = Receiver::start().await;
    let shop = Shop::open_with(address, send_events_to(&receiver.url())).await;
    (receiver, shop)
}

/// Delivers what is due; how many attempts were made, and how many arrived.
pub(crate) async fn pass(app: &TestApp) -> (usize, usize) {
    let done = delivery::pass(app.state.outbox()).await.unwrap();
    (done.attempts, done.delivered)
}

/// Records the provider's present state of a payment.
async fn follow(shop: &Shop, id: &str, act: &str) {
    shop.sandbox.act(id, act).await;
    notify(shop, id).await;
    work(shop).await;
}

pub(crate) fn kinds(received: &[ReceivedRequest]) -> Vec<String> {
    let kind = |one: &ReceivedRequest| one.json()["type"].as_str().unwrap().to_owned();
    received.iter().map(kind).collect()
}

/// The types of the events about a payment, in order.
fn kinds_about(received: &[ReceivedRequest], id: &str) -> Vec<String> {
    let about = |one: &&ReceivedRequest| one.accepted && one.json()["data"]["id"] == id;
    let about: Vec<ReceivedRequest> = received.iter().filter(about).cloned().collect();
    kinds(&about)
}

#[test]
fn every_event_of_the_document_is_one_that_endpoints_can_ask_for_with_an_example() {
    let described = DOCUMENT.value()["webhooks"].as_object().unwrap();
    let mut known = EventType::ALL_NAMES;
    known.sort_unstable();
    assert!(described.keys().map(String::as_str).eq(known));
    for kind in known {
        let media = DOCUMENT.webhook(kind);
        DOCUMENT.assert_valid(&media["schema"], &media["example"], kind);
    }
}

on_both_engines!(
    each_change_of_a_payment_is_told_once_in_order_as_the_api_shows_it,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        let created = shop.pay(&pix()).await;
        let id = created.id();
        follow(&shop, &id, "pay").await;
        let paid = shop.merchant("GET", &format!("/payments/{id}"), None).await;
        // A duplicate notification emits no event.
        notify(&shop, &id).await;
        work(&shop).await;
        let path = format!("/payments/{id}/refunds");
        for amount in [json!({"amount": 10}), json!({"amount": 2})] {
            shop.merchant("POST", &path, Some(&amount)).await.id();
        }
        shop.merchant("POST", &path, None).await.id();
        pass(&shop).await;
        let received = receiver.received();
        let expected = [
            "payment.pending",
            "payment.approved",
            "payment.refunded",
            "payment.refunded",
            "payment.refunded",
        ];
        assert_eq!(kinds(&received), expected);
        let data = |place: usize| received[place].json()["data"].clone();
        assert_eq!(data(0), created.json());
        assert_eq!(data(1), paid.json());
        let refunded = |place| {
            let data = data(place);
            (data["refunded_amount"].as_f64(), data["status"].clone())
        };
        assert_eq!(refunded(2), (Some(10.0), json!("approved")));
        assert_eq!(refunded(3), (Some(12.0), json!("approved")));
        assert_eq!(refunded(4), (Some(12.3), json!("refunded")));
        for one in &received {
            let (event, kind) = (one.json(), one.json()["type"].as_str().unwrap().to_owned());
            DOCUMENT.assert_valid(&DOCUMENT.webhook(&kind)["schema"], &event, &kind);
            assert!(one.is_signed_with(SECRET));
        }
    }
);

on_both_engines!(
    refusals_cancellations_and_chargebacks_are_told_and_a_review_is_not,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        let rejected = shop.pay(&card("OTHE")).await.id();
        let reviewed = shop.pay(&card("CONT")).await.id();
        let canceled = shop.pay(&boleto()).await.id();
        let body = json!({"status": "cancelled"});
        let path = format!("/payments/{canceled}");
        assert_eq!(shop.merchant("PUT", &path, Some(&body)).await.status, 200);
        let disputed = shop.pay(&card("APRO")).await.id();
        follow(&shop, &disputed, "charge_back").await;
        pass(&shop).await;
        let received = receiver.received();
        assert_eq!(kinds_about(&received, &rejected), ["payment.rejected"]);
        assert_eq!(shop.status(&reviewed).await, "in_process");
        assert_eq!(kinds_about(&received, &reviewed), [""; 0]);
        let of_boleto = ["payment.pending", "payment.canceled"];
        assert_eq!(kinds_about(&received, &canceled), of_boleto);
        let of_card = ["payment.approved", "payment.charged_back"];
        assert_eq!(kinds_about(&received, &disputed), of_card);
    }
);

on_both_engines!(
    events_of_a_process_that_dies_before_it_delivers_are_delivered_by_the_next,
    async |address| {
        let (receiver, shop) = receiver_and_shop(&address).await;
        // Committed and answered; this process delivers nothing.
        let id = shop.pay(&card("APRO")).await.id();
        let next = shop.replica(send_events_to(&receiver.url())).await;
        assert_eq!(pass(&next).await, (1, 1));
        assert_eq!(kinds_about(&receiver.received(), &id), ["payment.approved"]);
        assert_eq!(pass(&next).await, (0, 0));
    }
);

on_both_engines!(
    a_payments_events_wait_for_one_another_and_not_for_other_payments,
    async |address| {
        let receiver = Receiver::start().await;
        // The first post, of the first payment, fails.
        receiver.behaves(|number| Reply::Status(if number == 0 { 500 } else { 200 }));
        let shop = Shop::open_with(&address, send_events_to(&receiver.url())).await;
        let first = shop.pay(&pix()).await.id();
        pass(&shop).await;
        follow(&shop, &first, "pay").await;
        let second = shop.pay(&pix()).await.id();
        assert_eq!(pass(&shop).await, (1, 1));
        assert_eq!(kinds_about(&receiver.received(), &first), [""; 0]);
        assert_eq!(
            kinds_about(&receiver.received(), &second),
            ["payment.pending"]
        );
        shop.clock.advance(Duration::from_secs(10));
        assert_eq!(pass(&shop).await, (2, 2));
        let in_order = ["payment.pending", "payment.approved"];
        assert_eq!(kinds_about(&receiver.received(), &first), in_order);
    }
);

on_both_engines!(
    payments_are_taken_while_nobody_receives_and_told_once_somebody_does,
    async |address| {
        let down = ClosedPort::new();
        let url = format!("http://{}/hooks", down.address);
        let shop = Shop::open_with(&address, send_events_to(&url)).await;
        let id = shop.pay(&card("APRO")).await.id();
        assert_eq!(pass(&shop).await, (1, 0));
        assert_eq!(shop.figure("balcao_checkout_webhook_deliveries_waiting"), 1);
        assert_eq!(shop.status(&id).await, "approved");
        let receiver = Receiver::on(down.listen());
        shop.clock.advance(Duration::from_secs(10));
        assert_eq!(pass(&shop).await, (1, 1));
        assert_eq!(kinds_about(&receiver.received(), &id), ["payment.approved"]);
        assert_eq!(shop.figure("balcao_checkout_webhook_deliveries_waiting"), 0);
    }
);

on_both_engines!(without_an_endpoint_nothing_is_posted, async |address| {
    let receiver = Receiver::start().await;
    let shop = Shop::open(&address).await;
    let id = shop.pay(&pix()).await.id();
    follow(&shop, &id, "pay").await;
    assert_eq!(pass(&shop).await, (0, 0));
    assert_eq!(shop.figure("balcao_checkout_webhook_deliveries_waiting"), 0);
    // What happened before there was an endpoint is not posted to it.
    let next = shop.replica(send_events_to(&receiver.url())).await;
    assert_eq!(pass(&next).await, (0, 0));
    assert_eq!(receiver.connections(), 0);
});

on_both_engines!(
    nothing_is_posted_to_private_addresses_unless_the_setting_says_so,
    async |address| {
        let receiver = Receiver::start().await;
        let configure = send_events_to(&receiver.url());
        let shop = Shop::open_with(&address, |config| {
            configure(config);
            config.webhooks.allow_private = false;
        });
        let shop = shop.await;
        shop.pay(&card("APRO")).await.id();
        assert_eq!(pass(&shop).await, (1, 0));
        assert_eq!(receiver.connections(), 0);
    }
);

on_both_engines!(
    an_endpoint_gets_the_types_that_it_asks_for_and_what_is_sent_again,
    async |address| {
        let receiver = Receiver::start().await;
        let shop = Shop::open_with(&address, |config| config.webhooks.allow_private = true).await;
        let outbox = shop.state.outbox();
        let before = shop.pay(&card("APRO")).await.id();
        pass(&shop).await;
        let input = EndpointInput {
            url: receiver.url(),
            types: "payment.approved".to_owned(),
            ..EndpointInput::default()
        };
        let (endpoint, secret) = endpoints::add(outbox, &input).await.unwrap();
        shop.pay(&card("OTHE")).await.id();
        let after = shop.pay(&card("APRO")).await.id();
        pass(&shop).await;
        assert_eq!(kinds(&receiver.received()), ["payment.approved"]);
        // An event from before the endpoint was added, by its number.
        assert_eq!(endpoints::redeliver(outbox, 1).await.unwrap(), Some(1));
        pass(&shop).await;
        let received = receiver.received();
        assert_eq!(kinds_about(&received, &before), ["payment.approved"]);
        assert_eq!(kinds_about(&received, &after), ["payment.approved"]);
        assert!(
            received
                .iter()
                .all(|one| one.is_signed_with(&secret.reveal()))
        );
        // 410 disables it, and it gets no more events.
        receiver.behaves(|_| Reply::Status(410));
        shop.pay(&card("APRO")).await.id();
        assert_eq!(pass(&shop).await, (1, 0));
        let all = endpoints::list(outbox).await.unwrap();
        let disabled = all.iter().find(|one| one.id == endpoint).unwrap();
        assert!(disabled.disabled().is_some());
        let gone = "balcao_checkout_webhook_endpoints_disabled_total{reason=\"gone\"}";
        assert_eq!(shop.figure(gone), 1);
    }
);
