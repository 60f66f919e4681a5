//! Answers that are given again without asking the database: to the same question only, and until anything is committed.

use std::time::Duration;

use db::Engine;
use http::{HeaderMap, Method};
use inventory::accounts::users;
use serde_json::json;
use test_kit::on_both_engines;

use crate::app::{Answer, Client, TestApp};

const PRODUCT: &str = "/api/v1/products/1/";
const LIST: &str = "/api/v1/products/?page_size=10";

/// An answer, and how many statements it took.
async fn asked(app: &TestApp, client: &Client<'_>, path: &str) -> (Answer, u64) {
    let before = app.state.db.statistics().statements;
    let answer = client.get(path).await;
    (answer, app.state.db.statistics().statements - before)
}

/// All of an answer but the id of its request.
fn without_id(answer: &Answer) -> (&str, HeaderMap) {
    let mut headers = answer.headers.clone();
    headers.remove("x-request-id");
    (&answer.text, headers)
}

/// Asks until the answer is in memory, where there is one.
async fn known(client: &Client<'_>, path: &str) {
    for _ in 0..2 {
        assert_eq!(client.get(path).await.status.as_u16(), 200);
    }
}

on_both_engines!(
    what_was_read_is_given_again_until_anything_is_committed,
    async |address| {
        let app = TestApp::new(&address).await;
        let (manager, viewer) = (app.manager(), app.viewer());
        manager.a_product("Arroz", 5).await;
        let replica = app.replica(&address).await;
        let remembers = app.state.db.engine() == Engine::Sqlite;
        for (path, seller) in [
            (PRODUCT, &manager),
            (LIST, &replica.manager()),
            (PRODUCT, &replica.manager()),
        ] {
            let (read, statements) = asked(&app, &viewer, path).await;
            assert!(statements > 0, "{path}");
            known(&viewer, path).await;
            let (again, statements) = asked(&app, &viewer, path).await;
            assert_eq!(statements == 0, remembers, "{path}: {statements}");
            assert_eq!(without_id(&again), without_id(&read));
            let sale = json!({"product": 1, "quantity": 1});
            seller.post("/api/v1/outflows/", sale).await.id();
            let (after, statements) = asked(&app, &viewer, path).await;
            assert!(statements > 0, "{path}");
            assert_ne!(after.text, read.text, "{path}");
        }
        assert_eq!(viewer.quantity_of(1).await, 2);
    }
);

on_both_engines!(
    an_answer_in_memory_is_only_for_who_may_have_it,
    async |address| {
        let app = TestApp::new(&address).await;
        app.manager().a_product("Arroz", 5).await;
        let viewer = app.viewer();
        for path in [PRODUCT, LIST] {
            known(&viewer, path).await;
            app.anonymous().get(path).await.is(
                401,
                &json!({"detail": "Authentication credentials were not provided."}),
            );
            let xml = [("accept", "application/xml")];
            let refused = viewer.send_with(Method::GET, path, None, &xml).await;
            assert_eq!(refused.status.as_u16(), 406);
            let indented = [("accept", "application/json; indent=2")];
            let lines = viewer.send_with(Method::GET, path, None, &indented).await;
            assert!(lines.text.contains("\n  \""), "{lines:?}");
            assert!(!viewer.get(path).await.text.contains('\n'));
            let head = viewer.send_with(Method::HEAD, path, None, &[]).await;
            assert_eq!((head.status.as_u16(), head.text.as_str()), (200, ""));
            let named = [("x-request-id", "mine")];
            let answer = viewer.send_with(Method::GET, path, None, &named).await;
            assert_eq!(answer.header("x-request-id"), "mine");
        }
        users::set_active(&app.state.db, app.clock.now(), "viewer", false)
            .await
            .unwrap();
        for path in [PRODUCT, LIST] {
            let out = json!({"detail": "User is inactive", "code": "user_inactive"});
            viewer.get(path).await.is(401, &out);
        }
    }
);

on_both_engines!(
    an_answer_in_memory_lasts_no_longer_than_its_token,
    async |address| {
        let app = TestApp::new(&address).await;
        app.manager().a_product("Arroz", 5).await;
        let viewer = app.viewer();
        known(&viewer, PRODUCT).await;
        app.clock.advance(Duration::from_secs(86_399));
        assert_eq!(viewer.get(PRODUCT).await.status.as_u16(), 200);
        app.clock.advance(Duration::from_secs(1));
        let expired = viewer.get(PRODUCT).await;
        assert_eq!(expired.status.as_u16(), 401);
        assert!(expired.text.contains("Token is expired"), "{expired:?}");
    }
);
