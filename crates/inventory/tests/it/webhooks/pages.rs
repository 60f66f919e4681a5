//! `/webhooks/` as people use it.

use inventory::events;
use test_kit::on_both_engines;

use super::{
    config,
    receiver::{Receiver, Reply},
};
use crate::app::TestApp;

on_both_engines!(
    people_see_what_failed_try_an_endpoint_out_and_redeliver,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|_| Reply::With(410, "x-note: <b>\r\n"));
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.ship(product, 1).await;
        app.pass().await;
        let mut admin = app.logged_in("admin").await;
        admin.language = "pt-BR";
        let list = admin.get("/webhooks/").await;
        assert_eq!(list.status, 200, "{list:?}");
        for words in ["respondeu 410", "outflow.created"] {
            assert!(list.text.contains(words), "{words}: {}", list.text);
        }
        receiver.behaves(|_| Reply::Status(200));
        assert_eq!(admin.submit("/webhooks/1/test/", &[]).await.status, 303);
        assert_eq!(admin.submit("/webhooks/1/enable/", &[]).await.status, 303);
        assert_eq!(app.pass().await.delivered, 1);
        let one = admin.get("/webhooks/deliveries/1/").await;
        assert!(
            one.text.contains("resposta 410") && one.text.contains("resposta 200"),
            "{one:?}"
        );
        let again = admin.submit("/webhooks/deliveries/1/redeliver/", &[]).await;
        assert_eq!(again.status, 303);
        assert_eq!(app.pass().await.delivered, 1);
        assert_eq!(admin.submit("/webhooks/1/disable/", &[]).await.status, 303);
        assert!(app.endpoints().await[0].disabled.is_some());
        assert_eq!(
            admin
                .submit("/webhooks/redeliver-failed/", &[])
                .await
                .status,
            303
        );
        assert_eq!(admin.get("/webhooks/deliveries/99/").await.status, 404);
        assert_eq!(
            events::deliveries::waiting(&app.state.db)
                .await
                .unwrap()
                .deliveries,
            0
        );
    }
);

on_both_engines!(
    who_may_not_see_webhooks_does_not_and_managers_only_redeliver,
    async |address| {
        let receiver = Receiver::start().await;
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.ship(product, 1).await;
        app.pass().await;
        let viewer = app.logged_in("viewer").await;
        assert_eq!(viewer.get("/webhooks/").await.status, 403);
        assert_eq!(viewer.get("/webhooks/deliveries/1/").await.status, 403);
        assert_eq!(
            viewer
                .submit("/webhooks/deliveries/1/redeliver/", &[])
                .await
                .status,
            403
        );
        let manager = app.logged_in("manager").await;
        assert_eq!(manager.get("/webhooks/").await.status, 200);
        assert_eq!(
            manager.submit("/webhooks/1/disable/", &[]).await.status,
            403
        );
        assert_eq!(
            manager
                .submit("/webhooks/deliveries/1/redeliver/", &[])
                .await
                .status,
            303
        );
    }
);
