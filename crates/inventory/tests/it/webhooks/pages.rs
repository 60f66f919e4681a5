//! The pages of `/webhooks/`.

use inventory::events;
use test_kit::{html::has, on_both_engines};

use super::{
    config,
    receiver::{Receiver, Reply},
    receiver_and_app,
};
use crate::{
    app::{TestApp, app_on_both_engines},
    visitor::token,
};

/// The secret of an endpoint that a page shows.
pub(crate) fn secret(page: &str) -> String {
    test_kit::html::check(page);
    let (_, rest) = page.split_once("whsec_").unwrap();
    format!("whsec_{}", rest.split('<').next().unwrap())
}

on_both_engines!(
    people_see_what_failed_try_an_endpoint_out_and_redeliver,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|_| Reply::With(410, "x-note: <b>\r\n"));
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.pass().await;
        let mut admin = app.logged_in("admin").await;
        admin.language = "pt-BR";
        let list = admin.page("/webhooks/").await;
        has(&list, &["respondeu 410", "outflow.created"]);
        // The dashboard warns users with the permission that an endpoint gets no events any more.
        let told = "Desativado: respondeu 410";
        has(&admin.page("/").await, &[told]);
        let mut viewer = app.logged_in("viewer").await;
        viewer.language = "pt-BR";
        assert!(!viewer.page("/").await.contains(told));
        receiver.behaves(|_| Reply::Status(200));
        assert_eq!(admin.submit("/webhooks/1/test/", &[]).await.status, 303);
        assert_eq!(admin.submit("/webhooks/1/enable/", &[]).await.status, 303);
        assert_eq!(app.pass().await.delivered, 1);
        let one = admin.page("/webhooks/deliveries/1/").await;
        has(&one, &["resposta 410", "resposta 200"]);
        let again = admin.submit("/webhooks/deliveries/1/redeliver/", &[]).await;
        assert_eq!(again.status, 303);
        assert_eq!(app.pass().await.delivered, 1);
        assert_eq!(admin.submit("/webhooks/1/disable/", &[]).await.status, 303);
        assert!(app.endpoints().await[0].disabled().is_some());
        // An endpoint that a user switched off needs no warning.
        assert!(!admin.page("/").await.contains("Desativado"));
        admin
            .submit("/webhooks/redeliver-failed/", &[])
            .await
            .has_status(303);
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
    an_endpoint_that_keeps_failing_is_told_on_the_first_page_before_it_is_given_up,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|_| Reply::Status(500));
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.pass().await;
        let mut admin = app.logged_in("admin").await;
        admin.language = "pt-BR";
        // A failure of some minutes causes no warning.
        let told = "Falhando desde ";
        app.pass_after(6).await;
        assert!(!admin.page("/").await.contains(told));
        app.pass_after(15 * 60).await;
        let first = admin.page("/").await;
        has(&first, &[told, "/webhooks/1/"]);
        test_kit::html::check(&first);
        let viewer = app.logged_in("viewer").await;
        assert!(!viewer.page("/").await.contains("Failing"));
        receiver.behaves(|_| Reply::Status(200));
        app.pass_after(40 * 60).await;
        assert!(!admin.page("/").await.contains(told));
    }
);

on_both_engines!(
    whoever_taps_a_test_twice_sends_one_event_and_sees_what_became_of_it,
    async |address| {
        let receiver = Receiver::start().await;
        receiver.behaves(|_| Reply::Hang);
        let app = TestApp::with(&address, config(Some(&receiver))).await;
        let admin = app.superuser().await;
        let html = admin.page("/webhooks/1/").await;
        let first = token(&html);
        let fields = [("form_token", first.as_str())];
        let tapped = || admin.submit("/webhooks/1/test/", &fields);
        let (first, second, ()) = tokio::join!(tapped(), tapped(), async {
            receiver.has_read(1).await;
            receiver.release();
        });
        let third = tapped().await;
        assert_eq!(first.status, 303, "{first:?}");
        assert_eq!(second.set_cookies(), first.set_cookies());
        assert_eq!(third.set_cookies(), first.set_cookies());
        has(&admin.page("/webhooks/1/").await, &["Test event: "]);
        assert_eq!(receiver.received().len(), 1);

        receiver.behaves(|_| Reply::Status(204));
        let html = admin.page("/admin/endpoints/").await;
        let token = token(&html);
        let fields = [
            ("form_token", token.as_str()),
            ("action", "test"),
            ("row:1", "1"),
        ];
        for _ in 0..2 {
            let done = admin.submit("/admin/endpoints/", &fields).await;
            assert_eq!(done.status, 303, "{done:?}");
        }
        assert_eq!(receiver.received().len(), 2);
    }
);

on_both_engines!(
    whoever_taps_redeliver_twice_begins_one_delivery,
    async |address| {
        let (receiver, app) = receiver_and_app(&address).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.pass().await;
        let admin = app.superuser().await;
        let tap_twice = async |page: &str, path: &str, fields: &[(&str, &str)]| {
            let form = token(&admin.page(page).await);
            let fields = [&[("form_token", form.as_str())], fields].concat();
            for posts in [1, 0] {
                let done = admin.submit(path, &fields).await;
                assert_eq!(done.status, 303, "{done:?}");
                // The first has arrived when the second comes.
                assert_eq!(app.pass().await.attempts, posts, "{path}");
            }
        };
        let page = "/webhooks/deliveries/1/";
        tap_twice(page, "/webhooks/deliveries/1/redeliver/", &[]).await;
        let chosen = [("action", "redeliver"), ("row:1", "1")];
        tap_twice("/admin/deliveries/", "/admin/deliveries/", &chosen).await;
        let received = receiver.received();
        assert_eq!(received.len(), 3);
        assert!(received.iter().all(|one| one.id() == received[0].id()));
    }
);

on_both_engines!(
    an_endpoint_is_added_changed_and_removed_on_its_pages,
    async |address| {
        let receiver = Receiver::start().await;
        let app = TestApp::with(&address, config(None)).await;
        let mut admin = app.logged_in("admin").await;
        admin.language = "pt-BR";
        has(&admin.page("/webhooks/").await, &["Nenhum destino ainda"]);
        // The form shows the typed values again with their errors.
        let fields = [
            ("url", "loja.example"),
            ("description", "Caixa"),
            ("types:product.low_stock", "1"),
        ];
        let refused = admin.refused("/webhooks/new/", &fields).await;
        has(
            &refused,
            &[
                "Digite um endereço que comece com",
                "value=\"loja.example\"",
                "name=\"types:product.low_stock\" value=\"1\" checked",
            ],
        );
        let url = receiver.url();
        let fields = [("url", url.as_str()), ("types:outflow.created", "1")];
        let told = admin.submit("/webhooks/new/", &fields).await;
        assert_eq!(told.status, 200);
        assert!(told.header("cache-control").contains("no-store"));
        let first = secret(&told.text);
        let detail = admin.page("/webhooks/1/").await;
        assert!(!detail.contains("whsec_") && detail.contains("Ativo"));
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.pass().await;
        assert!(receiver.received()[0].is_signed_with(&first));
        let asked = admin.page("/webhooks/1/secret/").await;
        assert!(!asked.contains("whsec_") && asked.contains("24 horas"));
        let rotated = admin.submit("/webhooks/1/secret/", &[]).await;
        assert_ne!(secret(&rotated.text), first);
        let edit = admin.page("/webhooks/1/edit/").await;
        assert!(edit.contains("name=\"types:outflow.created\" value=\"1\" checked"));
        let fields = [("url", "https://erp.example/"), ("description", "ERP")];
        assert_eq!(admin.submit("/webhooks/1/edit/", &fields).await.status, 303);
        let detail = admin.page("/webhooks/1/").await;
        has(
            &detail,
            &[
                "https://erp.example/",
                "ERP",
                "todos",
                "Alterado: segredo · admin",
                "Segredo anterior válido até",
            ],
        );
        let asked = admin.page("/webhooks/1/delete/").await;
        assert!(asked.contains("https://erp.example/"));
        assert_eq!(admin.submit("/webhooks/1/delete/", &[]).await.status, 303);
        assert_eq!(admin.get("/webhooks/1/").await.status, 404);
    }
);

on_both_engines!(
    the_endpoint_of_the_configuration_is_shown_and_not_changed_on_pages,
    async |address| {
        let (_receiver, app) = receiver_and_app(&address).await;
        let admin = app.logged_in("admin").await;
        let detail = admin.page("/webhooks/1/").await;
        assert!(detail.contains("change them there") && !detail.contains("href=\"edit/\""));
        for page in ["edit", "secret", "delete"] {
            let path = format!("/webhooks/1/{page}/");
            assert_eq!(admin.get(&path).await.status, 409, "{page}");
            let fields = [("url", "https://erp.example/")];
            assert_eq!(admin.submit(&path, &fields).await.status, 409, "{page}");
        }
    }
);

on_both_engines!(
    who_may_not_see_webhooks_does_not_and_managers_only_redeliver,
    async |address| {
        let (_receiver, app) = receiver_and_app(&address).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 1).await;
        app.pass().await;
        let viewer = app.logged_in("viewer").await;
        assert_eq!(viewer.get("/webhooks/").await.status, 403);
        assert_eq!(viewer.get("/webhooks/deliveries/1/").await.status, 403);
        viewer
            .submit("/webhooks/deliveries/1/redeliver/", &[])
            .await
            .has_status(403);
        let manager = app.logged_in("manager").await;
        assert_eq!(manager.get("/webhooks/").await.status, 200);
        assert_eq!(manager.get("/webhooks/1/").await.status, 200);
        for path in ["new", "1/edit", "1/secret", "1/delete"] {
            let path = format!("/webhooks/{path}/");
            assert_eq!(manager.get(&path).await.status, 403, "{path}");
            let fields = [("url", "https://erp.example/")];
            assert_eq!(manager.submit(&path, &fields).await.status, 403, "{path}");
        }
        manager
            .submit("/webhooks/1/disable/", &[])
            .await
            .has_status(403);
        manager
            .submit("/webhooks/deliveries/1/redeliver/", &[])
            .await
            .has_status(303);
    }
);

app_on_both_engines!(
    an_endpoint_is_added_and_its_secret_rotated_once_however_often_the_form_is_sent,
    async |app| {
        let admin = app.logged_in("admin").await;
        let new = "/webhooks/new/";
        let first = token(&admin.page(new).await);
        let mut fields = [
            ("url", "https://erp.example/hook"),
            ("form_token", first.as_str()),
        ];
        let (one, other) = tokio::join!(admin.submit(new, &fields), admin.submit(new, &fields));
        let made = secret(&one.text);
        assert_eq!(secret(&other.text), made);
        fields[0].1 = "https://erp.example/other";
        let refused = admin.submit(new, &fields).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        assert!(refused.text.contains("has already been saved"));
        let [endpoint] = &app.endpoints().await[..] else {
            panic!("more than one was added")
        };
        let rotate = &format!("/webhooks/{}/secret/", endpoint.id);
        let second = token(&admin.page(rotate).await);
        let fields = [("form_token", second.as_str())];
        let (one, other) =
            tokio::join!(admin.submit(rotate, &fields), admin.submit(rotate, &fields));
        let rotated = secret(&one.text);
        assert_ne!(rotated, made);
        assert_eq!(secret(&other.text), rotated);
        assert!(other.text.contains("The previous secret stays valid until"));
        // Whoever added the endpoint does not learn a secret that somebody else was shown since.
        let fields = [
            ("url", "https://erp.example/hook"),
            ("form_token", first.as_str()),
        ];
        let repeated = admin.submit(new, &fields).await;
        assert_eq!(repeated.status, 422, "{repeated:?}");
        assert!(repeated.text.contains("has been rotated again since"));
        assert!(!repeated.text.contains("whsec_"));
    }
);
