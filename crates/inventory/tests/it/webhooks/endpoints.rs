//! Managing endpoints and deliveries.

use std::time::Duration;

use inventory::{
    access::{Actor, Model},
    events::{
        self, DisabledReason, Filter, InternalEndpoint, Webhooks,
        endpoints::{EndpointError, EndpointInput},
    },
};
use test_kit::on_both_engines;

use super::{
    NOBODY, SECRET, config,
    receiver::{Receiver, Reply},
};
use crate::app::TestApp;

on_both_engines!(
    while_a_secret_is_rotated_both_sign_and_after_a_day_the_new_one_alone,
    async |address| {
        let receiver = Receiver::start().await;
        let app = TestApp::with(&address, config(None)).await;
        let (id, old) = app.endpoint(&receiver, "").await;
        let (new, until) = events::endpoints::rotate(&app.state, &NOBODY, id)
            .await
            .unwrap();
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.pass().await;
        app.clock.set(until.unwrap() + Duration::from_secs(1));
        app.sell(product, 1).await;
        app.pass().await;
        let received = receiver.received();
        assert!(
            received[0].is_signed_with(&old.reveal()) && received[0].is_signed_with(&new.reveal())
        );
        assert_eq!(
            received[0].headers["webhook-signature"].split(' ').count(),
            2
        );
        assert!(
            !received[1].is_signed_with(&old.reveal()) && received[1].is_signed_with(&new.reveal())
        );
    }
);

on_both_engines!(
    a_service_of_the_same_process_is_reached_on_this_machine_which_others_are_not,
    async |address| {
        let receiver = Receiver::start().await;
        let mut wired = config(Some(&receiver));
        let endpoint = wired.webhooks.configured.take().unwrap();
        let types = &["product.low_stock"];
        wired.webhooks = Webhooks {
            internal: Some(InternalEndpoint { endpoint, types }),
            allow_private: false,
            ..wired.webhooks
        };
        let app = TestApp::with(&address, wired).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 45).await;
        app.pass().await;
        let received = receiver.received();
        assert_eq!(received[0].json()["type"], "product.low_stock");
        assert!(received[0].is_signed_with(SECRET));
        // A connection that is kept open is not used for another endpoint.
        let (other, _) = app.endpoint(&receiver, "").await;
        let attempt = events::endpoints::test(&app.state, other).await.unwrap();
        assert_eq!(attempt.outcome, "not_public");
        assert_eq!((received.len(), receiver.received().len()), (1, 1));
        let unwired = app.restarted(config(None)).await;
        let first = &unwired.endpoints().await[0];
        assert!(first.configured && first.types.listed() == types.as_slice());
        assert_eq!(first.disabled(), Some(DisabledReason::NotConfigured));
    }
);

on_both_engines!(
    a_test_event_is_posted_at_once_and_kept_like_any_other,
    async |address| {
        let receiver = Receiver::start().await;
        let app = TestApp::with(&address, config(None)).await;
        let (id, secret) = app.endpoint(&receiver, "").await;
        let state = &app.state;
        let test = async || events::endpoints::test(state, id).await.unwrap();
        let attempt = test().await;
        assert_eq!(
            (attempt.outcome.as_str(), attempt.status),
            ("delivered", Some(204))
        );
        receiver.behaves(|_| Reply::Status(500));
        assert_eq!(test().await.outcome, "refused");
        let received = receiver.received();
        assert_eq!(received[0].json()["type"], "endpoint.test");
        assert!(received[0].is_signed_with(&secret.reveal()));
        // "Send all failed again" leaves out the test event, which was tried once.
        assert_eq!(
            events::deliveries::redeliver_failed(state, &NOBODY, None)
                .await
                .unwrap(),
            0
        );
        assert_eq!(app.pass_after(1000).await.attempts, 0);
        let kept = events::deliveries::newest(&state.db, Filter::default(), 10)
            .await
            .unwrap();
        assert_eq!(kept.len(), 2);
    }
);

on_both_engines!(
    an_endpoint_that_is_deleted_during_its_test_still_tells_the_result,
    async |address| {
        let receiver = Receiver::start().await;
        let app = TestApp::with(&address, config(None)).await;
        let (id, _) = app.endpoint(&receiver, "").await;
        let (outbox, now) = (&app.state.outbox, app.clock.now());
        let service = outbox.service;
        let begin = async move |tx: &mut db::Tx| {
            ::delivery::endpoints::begin_test(tx, &service, id, now).await
        };
        let trial = app.state.db.write(begin).await.unwrap();
        events::endpoints::remove(&app.state, &NOBODY, id)
            .await
            .unwrap();
        let attempt = ::delivery::endpoints::post_test(outbox, trial)
            .await
            .unwrap();
        assert_eq!(attempt.outcome, "delivered");
    }
);

on_both_engines!(what_is_wrong_with_an_endpoint_is_told, async |address| {
    let app = TestApp::with(&address, config(None)).await;
    let state = &app.state;
    let input = |url: &str, types: &str, description: &str| EndpointInput {
        url: url.to_owned(),
        types: types.to_owned(),
        description: description.to_owned(),
    };
    let add = async |input: EndpointInput| events::endpoints::add(state, &NOBODY, &input).await;
    let target = add(input("ftp://a.example", "", "")).await;
    assert!(
        matches!(target, Err(EndpointError::Target(_))),
        "{target:?}"
    );
    let types = add(input("https://a.example", "all", "")).await;
    assert!(matches!(types, Err(EndpointError::Types(_))), "{types:?}");
    let long = add(input("https://a.example", "", &"x".repeat(201))).await;
    assert!(matches!(long, Err(EndpointError::Description)), "{long:?}");
    let (id, _) = add(input("https://a.example", "analysis.created", "Till"))
        .await
        .unwrap();
    events::endpoints::change(
        state,
        &NOBODY,
        id,
        &input("https://b.example/", "", "Back office"),
    )
    .await
    .unwrap();
    let kept = app.endpoints().await;
    assert_eq!(
        (kept[0].url.as_str(), kept[0].description.as_str()),
        ("https://b.example/", "Back office")
    );
    events::endpoints::remove(state, &NOBODY, id).await.unwrap();
    let gone = events::endpoints::remove(state, &NOBODY, id).await;
    assert!(matches!(gone, Err(EndpointError::NotFound(_))), "{gone:?}");
});

on_both_engines!(
    the_endpoint_of_the_configuration_is_changed_there_alone,
    async |address| {
        let (first, second) = (Receiver::start().await, Receiver::start().await);
        let app = TestApp::with(&address, config(Some(&first))).await;
        let id = app.endpoints().await[0].id;
        let state = &app.state;
        let input = EndpointInput {
            url: second.url(),
            ..EndpointInput::default()
        };
        let refused = [
            events::endpoints::change(state, &NOBODY, id, &input).await,
            events::endpoints::remove(state, &NOBODY, id).await,
            events::endpoints::rotate(state, &NOBODY, id)
                .await
                .map(drop),
        ];
        for done in refused {
            assert!(
                matches!(done, Err(EndpointError::Configured(_))),
                "{done:?}"
            );
        }
        // A restart with another address, and one without any.
        let moved = app.restarted(config(Some(&second))).await;
        assert_eq!(moved.endpoints().await[0].url, second.url());
        let none = app.restarted(config(None)).await;
        assert_eq!(
            none.endpoints().await[0].disabled(),
            Some(DisabledReason::NotConfigured)
        );
        let again = app.restarted(config(Some(&second))).await;
        assert_eq!(again.endpoints().await[0].disabled(), None);
    }
);

on_both_engines!(
    an_event_can_be_sent_to_an_endpoint_that_did_not_exist_when_it_happened,
    async |address| {
        let receiver = Receiver::start().await;
        let app = TestApp::with(&address, config(None)).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.pass().await;
        app.endpoint(&receiver, "").await;
        let event = events::deliveries::newest_events(&app.state.db, Some(product), 1)
            .await
            .unwrap()
            .remove(0);
        assert_eq!(
            events::deliveries::redeliver_event(&app.state, &NOBODY, event.id)
                .await
                .unwrap(),
            Some(1)
        );
        assert_eq!(
            events::deliveries::redeliver_event(&app.state, &NOBODY, 9999)
                .await
                .unwrap(),
            None
        );
        app.pass().await;
        assert_eq!(receiver.received()[0].id(), event.webhook_id());
    }
);

impl TestApp {
    /// The stored secrets as the database has them: the present one and the previous one.
    async fn kept_secrets(&self, id: i64) -> (String, Option<String>) {
        let kept = async move |conn: &mut db::Conn| {
            let sql = "SELECT secret, previous_secret FROM webhook_endpoints WHERE id = $1";
            conn.one(sql, &[&id], |row| Ok((row.get(0)?, row.get(1)?)))
                .await
        };
        self.state.db.read(kept).await.unwrap()
    }

    /// Writes a secret to the database without the service.
    async fn keep_secret(&self, id: i64, text: &str) {
        let text = text.to_owned();
        let keep = async move |tx: &mut db::Tx| {
            let sql = "UPDATE webhook_endpoints SET secret = $2 WHERE id = $1";
            tx.execute(sql, &[&id, &text]).await.map(drop)
        };
        self.state.db.write::<_, db::Error, _>(keep).await.unwrap();
    }
}

on_both_engines!(
    secrets_are_kept_sealed_and_the_one_before_is_while_it_signs_too,
    async |address| {
        let receiver = Receiver::start().await;
        let app = TestApp::with(&address, config(None)).await;
        let (id, secret) = app.endpoint(&receiver, "").await;
        let secret = secret.reveal();
        let kept = app.kept_secrets(id).await.0;
        assert!(kept.starts_with("sealed1:") && !kept.contains(secret.as_str()));
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.pass().await;
        assert!(receiver.received()[0].is_signed_with(&secret));
        let rotated = events::endpoints::rotate(&app.state, &NOBODY, id).await;
        let (present, before) = app.kept_secrets(id).await;
        assert!(rotated.is_ok() && present.starts_with("sealed1:"));
        assert_eq!(before, Some(kept));
    }
);

on_both_engines!(
    nothing_goes_out_unsigned_when_a_secret_cannot_be_read,
    async |address| {
        let receiver = Receiver::start().await;
        let app = TestApp::with(&address, config(None)).await;
        let (id, _) = app.endpoint(&receiver, "").await;
        app.keep_secret(id, "sealed1:of-another-key").await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        let progress = app.pass().await;
        assert_eq!((progress.attempts, progress.delivered), (1, 0));
        let attempt = events::endpoints::test(&app.state, id).await.unwrap();
        assert!(attempt.detail.contains("rotate the secret"), "{attempt:?}");
        assert!(receiver.received().is_empty());
        let (secret, until) = events::endpoints::rotate(&app.state, &NOBODY, id)
            .await
            .unwrap();
        assert_eq!((until, app.kept_secrets(id).await.1), (None, None));
        assert_eq!(app.pass_after(10).await.delivered, 1);
        let received = receiver.received();
        assert!(received[0].is_signed_with(&secret.reveal()));
        assert_eq!(
            received[0].headers["webhook-signature"].split(' ').count(),
            1
        );
    }
);

on_both_engines!(
    of_a_secret_that_cannot_be_read_nobody_is_told_that_it_goes_on_signing,
    async |address| {
        let receiver = Receiver::start().await;
        let app = TestApp::with(&address, config(None)).await;
        let (id, _) = app.endpoint(&receiver, "").await;
        let admin = app.logged_in("admin").await;
        let there = format!("/webhooks/{id}/secret/");
        app.keep_secret(id, "sealed1:of-another-key").await;
        let asked = admin.get(&there).await.text;
        test_kit::html::check(&asked);
        assert!(
            asked.contains("The current secret cannot be read") && !asked.contains("24 hours"),
            "{asked}"
        );
        let rotated = admin.submit(&there, &[]).await.text;
        assert!(
            rotated.contains("could not be read and is no longer valid")
                && !rotated.contains("stays valid until"),
            "{rotated}"
        );
        // The new secret can be read: rotated once more, it still signs.
        assert!(admin.get(&there).await.text.contains("24 hours"));
        let rotated = admin.submit(&there, &[]).await.text;
        assert!(rotated.contains("stays valid until"), "{rotated}");
    }
);

on_both_engines!(
    what_is_done_to_endpoints_and_deliveries_is_written_down_once_each,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|_| Reply::Status(500));
        let app = TestApp::with(&address, config(None)).await;
        let (state, ana) = (&app.state, Actor(Some((1, "admin".to_owned()))));
        let (id, _) = app.endpoint(&receiver, "").await;
        let other = EndpointInput {
            url: receiver.url(),
            types: "outflow.created".to_owned(),
            ..EndpointInput::default()
        };
        // The second of each pair changes nothing, and has no audit entry.
        for _ in 0..2 {
            events::endpoints::change(state, &ana, id, &other)
                .await
                .unwrap();
        }
        events::endpoints::rotate(state, &ana, id).await.unwrap();
        for _ in 0..2 {
            events::endpoints::disable(state, &ana, id).await.unwrap();
        }
        for _ in 0..2 {
            events::endpoints::enable(state, &ana, id).await.unwrap();
        }
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.pass().await;
        for wait in [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400] {
            app.pass_after(wait * 6 / 5 + 1).await;
        }
        let begun = events::deliveries::redeliver_failed(state, &ana, None).await;
        assert_eq!(begun.unwrap(), 1);
        let admin = app.logged_in("admin").await;
        admin.submit("/webhooks/deliveries/1/redeliver/", &[]).await;
        events::deliveries::redeliver_event(state, &NOBODY, 1)
            .await
            .unwrap();
        events::endpoints::remove(state, &ana, id).await.unwrap();
        let (url, lines) = (receiver.url(), app.history_of(Model::WebhookEndpoint, id));
        let line = |what: &str, fields: &str| {
            format!("admin {what} webhook_endpoint {id} “{url}” [{fields}]")
        };
        assert_eq!(
            lines.await,
            [
                line("deleted", ""),
                line("changed", "deliveries"),
                line("changed", "enabled"),
                line("changed", "enabled"),
                line("changed", "secret"),
                line("changed", "types"),
                format!("- added webhook_endpoint {id} “{url}” []"),
            ]
        );
        assert_eq!(
            app.history_of(Model::Delivery, 1).await,
            [
                "- changed delivery 1 “#1 · outflow.created” [state]",
                "admin changed delivery 1 “#1 · outflow.created” [state]",
            ]
        );
    }
);
