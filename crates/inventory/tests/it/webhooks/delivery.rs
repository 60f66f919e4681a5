//! Delivery of webhooks: signed, at least once, in order per product, by the retry schedule,
//! whatever the receiver does.

use inventory::events::{self, DeliveryState, DisabledReason, Filter};
use test_kit::on_both_engines;

use super::{
    NOBODY, SECRET, config,
    receiver::{Receiver, Reply},
    receiver_and_app,
};
use crate::app::TestApp;

async fn states(app: &TestApp) -> Vec<DeliveryState> {
    let newest = events::deliveries::newest(&app.state.db, Filter::default(), 1000);
    newest
        .await
        .unwrap()
        .iter()
        .rev()
        .map(|delivery| delivery.state)
        .collect()
}

on_both_engines!(
    an_outflow_arrives_at_the_configured_address_signed_by_its_secret,
    async |address| {
        let (receiver, app) = receiver_and_app(&address).await;
        let product = app.admin().a_product("Arroz", 50).await;
        let outflow = app.sell(product, 2).await;
        let done = app.pass().await;
        assert_eq!((done.attempts, done.delivered), (1, 1));
        let received = receiver.received();
        let [one] = received.as_slice() else {
            panic!("{received:?}");
        };
        assert_eq!(one.json()["type"], "outflow.created");
        assert_eq!(one.json()["data"]["id"], outflow);
        assert_eq!(one.json()["data"]["product_quantity"], 48);
        assert_eq!(one.headers["content-type"], "application/json");
        assert_eq!(
            one.headers["webhook-timestamp"],
            (app.clock.now().micros() / 1_000_000).to_string()
        );
        assert!(one.is_signed_with(SECRET));
        assert!(!one.is_signed_with("whsec_AfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
        assert_eq!(app.pass().await.attempts, 0);
    }
);

on_both_engines!(
    without_an_endpoint_nothing_is_sent_and_nothing_waits_for_one,
    async |address| {
        let app = TestApp::with(&address, config(None)).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 2).await;
        assert_eq!(app.pass().await.attempts, 0);
        let receiver = Receiver::start().await;
        app.endpoint(&receiver, "").await;
        assert_eq!(app.pass().await.attempts, 0);
        app.sell(product, 1).await;
        assert_eq!(app.pass().await.delivered, 1);
    }
);

on_both_engines!(
    each_endpoint_gets_the_types_it_asks_for_signed_by_its_own_secret,
    async |address| {
        let (all, alerts) = (Receiver::start().await, Receiver::start().await);
        let app = TestApp::with(&address, config(Some(&all))).await;
        let (_, secret) = app.endpoint(&alerts, "product.low_stock").await;
        let product = app.admin().a_product("Arroz", 11).await;
        app.sell(product, 1).await;
        app.sell(product, 1).await;
        app.pass().await;
        let kinds = |receiver: &Receiver| -> Vec<String> {
            let received = receiver.received();
            received
                .iter()
                .map(|one| one.json()["type"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(
            kinds(&all),
            ["outflow.created", "outflow.created", "product.low_stock"]
        );
        assert_eq!(kinds(&alerts), ["product.low_stock"]);
        assert!(alerts.received()[0].is_signed_with(&secret.reveal()));
        assert!(!alerts.received()[0].is_signed_with(SECRET));
    }
);

on_both_engines!(
    a_failed_attempt_is_repeated_on_schedule_under_the_same_id,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|number| Reply::Status(if number < 2 { 500 } else { 200 }));
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 2).await;
        assert_eq!(app.pass().await.attempts, 1);
        assert_eq!(app.pass_after(4).await.attempts, 0);
        assert_eq!(app.pass_after(2).await.attempts, 1);
        assert_eq!(app.pass_after(299).await.attempts, 0);
        assert_eq!(app.pass_after(61).await.delivered, 1);
        let received = receiver.received();
        assert_eq!(received.len(), 3);
        assert!(
            received
                .iter()
                .all(|one| one.id() == received[0].id() && one.body == received[0].body)
        );
        assert!(received.iter().all(|one| one.is_signed_with(SECRET)));
        let newest = events::deliveries::newest(&app.state.db, Filter::default(), 1)
            .await
            .unwrap();
        let (delivery, _, attempts) = events::deliveries::find(&app.state.db, newest[0].id)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            (delivery.state, delivery.attempts),
            (DeliveryState::Delivered, 3)
        );
        let seen: Vec<_> = attempts
            .iter()
            .map(|one| (one.outcome.as_str(), one.status, one.detail.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                ("refused", Some(500), "hello"),
                ("refused", Some(500), "hello"),
                ("delivered", Some(200), "hello")
            ]
        );
    }
);

on_both_engines!(
    a_later_event_of_a_product_waits_for_the_earlier_one_and_other_products_do_not,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|number| Reply::Status(if number == 0 { 503 } else { 200 }));
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let first = app.admin().a_product("Arroz", 50).await;
        let other = app.admin().a_product("Feijão", 50).await;
        app.sell(first, 1).await;
        app.pass().await;
        app.sell(first, 2).await;
        app.sell(first, 3).await;
        app.sell(other, 4).await;
        app.pass().await;
        app.pass_after(6).await;
        let received = receiver.received();
        let order: Vec<(i64, i64)> = received
            .iter()
            .map(|one| {
                (
                    one.product(),
                    one.json()["data"]["quantity"].as_i64().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            order,
            [(first, 1), (other, 4), (first, 1), (first, 2), (first, 3)]
        );
    }
);

on_both_engines!(
    after_ten_attempts_a_delivery_is_given_up_the_next_goes_on_and_a_person_can_redeliver,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|_| Reply::Reset);
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.sell(product, 2).await;
        app.pass().await;
        for wait in [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000] {
            app.pass_after(wait * 6 / 5 + 1).await;
        }
        assert_eq!(states(&app).await, [DeliveryState::Waiting; 2]);
        receiver.behaves(|number| {
            if number < 10 {
                Reply::Reset
            } else {
                Reply::Status(200)
            }
        });
        // The tenth attempt is the last, and the next event is sent at once.
        app.pass_after(86_400 * 6 / 5 + 1).await;
        assert_eq!(
            states(&app).await,
            [DeliveryState::Failed, DeliveryState::Delivered]
        );
        assert_eq!(
            events::deliveries::failed(&app.state.db)
                .await
                .unwrap()
                .len(),
            1
        );
        assert_eq!(
            events::deliveries::redeliver_failed(&app.state, &NOBODY, None)
                .await
                .unwrap(),
            1
        );
        assert_eq!(app.pass().await.delivered, 1);
        assert_eq!(states(&app).await, [DeliveryState::Delivered; 2]);
        let received = receiver.received();
        assert_eq!(
            received.first().unwrap().id(),
            received.last().unwrap().id()
        );
    }
);

on_both_engines!(
    retry_after_is_honoured_for_everything_at_that_endpoint,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|number| match number {
            0 => Reply::With(429, "retry-after: 120\r\n"),
            _ => Reply::Status(200),
        });
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let first = app.admin().a_product("Arroz", 50).await;
        let other = app.admin().a_product("Feijão", 50).await;
        app.sell(first, 1).await;
        app.pass().await;
        app.sell(other, 1).await;
        assert_eq!(app.pass_after(100).await.attempts, 0);
        assert_eq!(app.pass_after(21).await.delivered, 2);
    }
);

on_both_engines!(
    a_receiver_that_is_gone_is_disabled_and_what_waits_goes_when_it_is_enabled,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|_| Reply::Status(410));
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.sell(product, 2).await;
        app.pass().await;
        assert_eq!(
            app.endpoints().await[0].disabled(),
            Some(DisabledReason::Gone)
        );
        assert_eq!(app.pass_after(1_000_000).await.attempts, 0);
        receiver.behaves(|_| Reply::Status(200));
        let id = app.endpoints().await[0].id;
        events::endpoints::enable(&app.state, &NOBODY, id)
            .await
            .unwrap();
        assert_eq!(app.pass().await.delivered, 2);
    }
);

on_both_engines!(
    redirects_are_failures_and_are_not_followed,
    async |address| {
        let (receiver, elsewhere) = (Receiver::start().await, Receiver::start().await);
        let location: &'static str =
            Box::leak(format!("location: {}\r\n", elsewhere.url()).into_boxed_str());
        receiver.behaves(move |_| Reply::With(307, location));
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        let done = app.pass().await;
        assert_eq!(
            (done.attempts, done.delivered, elsewhere.connections()),
            (1, 0, 0)
        );
        assert_eq!(states(&app).await, [DeliveryState::Waiting]);
    }
);

on_both_engines!(
    an_answer_that_is_lost_is_the_only_cause_of_a_duplicate_which_has_the_same_id,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|number| {
            if number == 0 {
                Reply::Reset
            } else {
                Reply::Status(200)
            }
        });
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.pass().await;
        app.pass_after(6).await;
        let received = receiver.received();
        assert_eq!(
            (received.len(), received[0].id() == received[1].id()),
            (2, true)
        );
    }
);

on_both_engines!(
    private_addresses_are_not_connected_to_and_the_attempt_says_why,
    async |address| {
        let receiver = Receiver::start().await;
        let mut config = config(Some(&receiver));
        config.webhooks.allow_private = false;
        let app = TestApp::with(&address, config).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        let done = app.pass().await;
        assert_eq!(
            (done.attempts, done.delivered, receiver.connections()),
            (1, 0, 0)
        );
        let newest = events::deliveries::newest(&app.state.db, Filter::default(), 1)
            .await
            .unwrap();
        assert_eq!(newest[0].last_outcome.as_deref(), Some("not_public"));
        let (_, _, attempts) = events::deliveries::find(&app.state.db, newest[0].id)
            .await
            .unwrap()
            .unwrap();
        assert!(
            attempts[0]
                .detail
                .contains("BALCAO_INVENTORY_WEBHOOK_ALLOW_PRIVATE"),
            "{attempts:?}"
        );
    }
);

on_both_engines!(
    an_endpoint_at_which_everything_fails_for_five_days_is_disabled,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|_| Reply::Status(500));
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let product = app.admin().a_product("Arroz", 50).await;
        for _ in 0..5 {
            app.sell(product, 1).await;
            app.pass().await;
            assert_eq!(app.endpoints().await[0].disabled(), None);
            app.pass_after(24 * 60 * 60).await;
        }
        assert_eq!(
            app.endpoints().await[0].disabled(),
            Some(DisabledReason::Failing)
        );
    }
);

on_both_engines!(
    a_dead_receiver_does_not_hold_up_a_healthy_one,
    async |address| {
        let (dead, healthy) = (Receiver::start().await, Receiver::start().await);
        dead.behaves(|_| Reply::Hang);
        let app = TestApp::with(&address, config(Some(&dead))).await;
        app.endpoint(&healthy, "").await;
        for title in ["A", "B", "C", "D", "E"] {
            let product = app.admin().a_product(title, 500).await;
            for _ in 0..5 {
                app.sell(product, 1).await;
            }
        }
        let passing = {
            let app = app.clone();
            tokio::spawn(async move { app.pass().await })
        };
        healthy.has_read(25).await;
        dead.release();
        assert_eq!(passing.await.unwrap().delivered, 25);
        // Each product gets one attempt; its later events wait.
        assert_eq!(dead.received().len(), 5);
    }
);

on_both_engines!(connections_are_used_again, async |address| {
    let (receiver, app) = receiver_and_app(&address).await;
    let product = app.admin().a_product("Arroz", 50).await;
    for _ in 0..10 {
        app.sell(product, 1).await;
    }
    assert_eq!(app.pass().await.delivered, 10);
    assert_eq!(receiver.connections(), 1);
});

on_both_engines!(
    old_events_are_removed_save_those_that_still_wait_be_their_endpoint_disabled_or_not,
    async |address| {
        let (receiver, app) = receiver_and_app(&address).await;
        let (done, waiting) = (
            app.admin().a_product("Arroz", 50).await,
            app.admin().a_product("Feijão", 50).await,
        );
        app.sell(done, 1).await;
        app.pass().await;
        // This also disables the endpoint.
        receiver.behaves(|_| Reply::Status(410));
        app.sell(waiting, 1).await;
        app.pass().await;
        app.clock
            .advance(std::time::Duration::from_secs(31 * 24 * 60 * 60));
        delivery::purge_expired(&app.state.outbox).await.unwrap();
        let left = events::deliveries::newest_events(&app.state.db, None, 10)
            .await
            .unwrap();
        assert_eq!(
            left.iter().map(|event| event.subject).collect::<Vec<_>>(),
            [waiting]
        );
        assert_eq!(states(&app).await, [DeliveryState::Waiting]);
    }
);

on_both_engines!(
    old_events_do_not_wait_for_an_endpoint_that_left_the_configuration,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|_| Reply::Status(500));
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.pass().await;
        let app = app.restarted(config(None)).await;
        for (days, left) in [(29, 1), (2, 0)] {
            app.clock
                .advance(std::time::Duration::from_secs(days * 24 * 60 * 60));
            delivery::purge_expired(&app.state.outbox).await.unwrap();
            let events = events::deliveries::newest_events(&app.state.db, None, 10).await;
            assert_eq!(events.unwrap().len(), left);
        }
    }
);

on_both_engines!(
    operators_see_what_waits_and_how_attempts_end,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|number| Reply::Status(if number == 0 { 500 } else { 200 }));
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.pass().await;
        app.clock.advance(std::time::Duration::from_secs(2));
        app.pass().await;
        let shown = app.metrics.encode().unwrap();
        for line in [
            "balcao_events_total{type=\"outflow.created\"} 1",
            "balcao_webhook_attempts_total{outcome=\"refused\"} 1",
            "balcao_webhook_deliveries_waiting 1",
            "balcao_webhook_oldest_waiting_seconds 2",
        ] {
            assert!(shown.contains(line), "{line}\n{shown}");
        }
        let waiting = events::deliveries::waiting(&app.state.db).await.unwrap();
        assert_eq!((waiting.deliveries, waiting.events), (1, 0));
    }
);
