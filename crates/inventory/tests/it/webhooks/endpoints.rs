//! What people do with endpoints and deliveries.

use std::time::Duration;

use inventory::events::{
    self, Disabled, Filter,
    endpoints::{EndpointError, Wish},
};
use test_kit::on_both_engines;

use super::{
    config,
    delivery::verifies,
    receiver::{Receiver, Reply},
};
use crate::app::TestApp;

on_both_engines!(
    while_a_secret_is_rotated_both_sign_and_after_a_day_the_new_one_alone,
    async |address| {
        let receiver = Receiver::start().await;
        let app = TestApp::with(&address, config(None)).await;
        let (id, old) = app.endpoint(&receiver, "").await;
        let state = &app.state;
        let (new, until) = events::endpoints::rotate(&state.db, &state.random, app.clock.now(), id)
            .await
            .unwrap();
        let product = app.admin().a_product("Arroz", 50).await;
        app.ship(product, 1).await;
        app.pass().await;
        app.clock.set(until + Duration::from_secs(1));
        app.ship(product, 1).await;
        app.pass().await;
        let received = receiver.received();
        assert!(verifies(&received[0], &old.reveal()) && verifies(&received[0], &new.reveal()));
        assert_eq!(
            received[0].headers["webhook-signature"].split(' ').count(),
            2
        );
        assert!(!verifies(&received[1], &old.reveal()) && verifies(&received[1], &new.reveal()));
    }
);

on_both_engines!(
    a_test_event_is_posted_at_once_and_kept_like_any_other,
    async |address| {
        let receiver = Receiver::start().await;
        let app = TestApp::with(&address, config(None)).await;
        let (id, secret) = app.endpoint(&receiver, "").await;
        let state = &app.state;
        let test = async || {
            let webhooks = &state.config.webhooks;
            events::endpoints::test(&state.db, webhooks, &state.outbox, &state.clock, id)
                .await
                .unwrap()
        };
        let attempt = test().await;
        assert_eq!(
            (attempt.outcome.as_str(), attempt.status),
            ("delivered", Some(204))
        );
        receiver.behaves(|_| Reply::Status(500));
        assert_eq!(test().await.outcome, "refused");
        let received = receiver.received();
        assert_eq!(received[0].json()["type"], "endpoint.test");
        assert!(verifies(&received[0], &secret.reveal()));
        // It is tried once, and not with all that failed.
        let (db, now) = (&state.db, app.clock.now());
        assert_eq!(
            events::deliveries::redeliver_failed(db, now, None)
                .await
                .unwrap(),
            0
        );
        assert_eq!(app.pass_after(1000).await.attempts, 0);
        let kept = events::deliveries::newest(db, Filter::default(), 10)
            .await
            .unwrap();
        assert_eq!(kept.len(), 2);
    }
);

on_both_engines!(what_is_wrong_with_an_endpoint_is_told, async |address| {
    let app = TestApp::with(&address, config(None)).await;
    let (db, random, now) = (&app.state.db, &app.state.random, app.clock.now());
    let wish = |url: &str, types: &str, description: &str| Wish {
        url: url.to_owned(),
        types: types.to_owned(),
        description: description.to_owned(),
    };
    let add = async |wish: Wish| events::endpoints::add(db, random, now, &wish).await;
    let target = add(wish("ftp://a.example", "", "")).await;
    assert!(
        matches!(target, Err(EndpointError::Target(_))),
        "{target:?}"
    );
    let types = add(wish("https://a.example", "all", "")).await;
    assert!(matches!(types, Err(EndpointError::Types(_))), "{types:?}");
    let long = add(wish("https://a.example", "", &"x".repeat(201))).await;
    assert!(matches!(long, Err(EndpointError::Description)), "{long:?}");
    let (id, _) = add(wish("https://a.example", "analysis.created", "Till"))
        .await
        .unwrap();
    events::endpoints::change(db, now, id, &wish("https://b.example/", "", "Back office"))
        .await
        .unwrap();
    let kept = app.endpoints().await;
    assert_eq!(
        (kept[0].url.as_str(), kept[0].description.as_str()),
        ("https://b.example/", "Back office")
    );
    events::endpoints::remove(db, id).await.unwrap();
    let gone = events::endpoints::remove(db, id).await;
    assert!(matches!(gone, Err(EndpointError::NotFound)), "{gone:?}");
});

on_both_engines!(
    the_endpoint_of_the_configuration_is_changed_there_alone,
    async |address| {
        let (first, second) = (Receiver::start().await, Receiver::start().await);
        let app = TestApp::with(&address, config(Some(&first))).await;
        let id = app.endpoints().await[0].id;
        let (db, now) = (&app.state.db, app.clock.now());
        let wish = Wish {
            url: second.url(),
            ..Wish::default()
        };
        assert!(events::endpoints::change(db, now, id, &wish).await.is_err());
        assert!(events::endpoints::remove(db, id).await.is_err());
        assert!(
            events::endpoints::rotate(db, &app.state.random, now, id)
                .await
                .is_err()
        );
        // Another start, with another address, and one without any.
        let moved = app.restarted(&address, config(Some(&second))).await;
        assert_eq!(moved.endpoints().await[0].url, second.url());
        let none = app.restarted(&address, config(None)).await;
        assert_eq!(
            none.endpoints().await[0].disabled,
            Some(Disabled::NotConfigured)
        );
        let again = app.restarted(&address, config(Some(&second))).await;
        assert_eq!(again.endpoints().await[0].disabled, None);
    }
);

on_both_engines!(
    an_event_can_be_sent_to_an_endpoint_that_did_not_exist_when_it_happened,
    async |address| {
        let receiver = Receiver::start().await;
        let app = TestApp::with(&address, config(None)).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.ship(product, 1).await;
        app.pass().await;
        app.endpoint(&receiver, "").await;
        let event = events::deliveries::newest_events(&app.state.db, Some(product), 1)
            .await
            .unwrap()
            .remove(0);
        let now = app.clock.now();
        assert_eq!(
            events::deliveries::redeliver_event(&app.state.db, now, event.id)
                .await
                .unwrap(),
            Some(1)
        );
        assert_eq!(
            events::deliveries::redeliver_event(&app.state.db, now, 9999)
                .await
                .unwrap(),
            None
        );
        app.pass().await;
        assert_eq!(receiver.received()[0].id(), event.webhook_id());
    }
);
