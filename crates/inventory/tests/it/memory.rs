//! Answers that are given again without asking the database: to the same question only, and until anything is committed.

use std::time::Duration;

use http::{HeaderMap, Method};
use inventory::{Config, accounts::users};
use serde_json::json;
use test_kit::on_both_engines;

use crate::app::{Answer, Client, TestApp};

const PRODUCT: &str = "/api/v1/products/1/";
const LIST: &str = "/api/v1/products/?page_size=10";

/// The most questions until one is answered from memory.
const ATTEMPTS: u64 = 10_000;

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

/// The answer from memory. On PostgreSQL another test that commits meanwhile makes further attempts necessary.
async fn remembered(app: &TestApp, client: &Client<'_>, path: &str) -> Answer {
    for _ in 0..ATTEMPTS {
        let (answer, statements) = asked(app, client, path).await;
        assert_eq!(answer.status.as_u16(), 200);
        if statements == 0 {
            return answer;
        }
    }
    panic!("{path} is never answered from memory")
}

/// Whether a figure stands so.
fn stands(app: &TestApp, figure: &str) -> bool {
    let shown = app.metrics.encode().unwrap();
    shown.lines().any(|line| line == figure)
}

on_both_engines!(
    what_was_read_is_given_again_until_anything_is_committed,
    async |address| {
        let app = TestApp::new(&address).await;
        let (manager, viewer) = (app.manager(), app.viewer());
        manager.a_product("Arroz", 5).await;
        let replica = app.replica(&address).await;
        for (path, seller) in [
            (PRODUCT, &manager),
            (LIST, &replica.manager()),
            (PRODUCT, &replica.manager()),
        ] {
            let (read, statements) = asked(&app, &viewer, path).await;
            assert!(statements > 0, "{path}");
            let again = remembered(&app, &viewer, path).await;
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
    an_answer_from_memory_is_counted_as_any_other,
    async |address| {
        let app = TestApp::new(&address).await;
        app.manager().a_product("Arroz", 5).await;
        let viewer = app.viewer();
        let figure = |number: u64| {
            format!(
                r#"balcao_http_requests_total{{service="inventory",route="/api/v1/products/{{id}}/",method="GET",status="200"}} {number}"#
            )
        };
        assert!(stands(&app, "balcao_answers_repeated_total 0"));
        for number in 1..ATTEMPTS {
            let (_, statements) = asked(&app, &viewer, PRODUCT).await;
            assert!(stands(&app, &figure(number)));
            if statements == 0 {
                assert!(stands(&app, "balcao_answers_repeated_total 1"));
                return;
            }
        }
        panic!("nothing is ever answered from memory");
    }
);

on_both_engines!(
    an_answer_from_memory_counts_towards_the_limit,
    async |address| {
        let config = Config {
            rate_limit_read: "3/minute".parse().unwrap(),
            ..Config::default()
        };
        let app = TestApp::with(&address, config).await;
        app.manager().a_product("Arroz", 5).await;
        let viewer = app.viewer();
        let mut repeated = 0;
        for _ in 0..ATTEMPTS {
            for left in [2, 1, 0] {
                let (answer, statements) = asked(&app, &viewer, PRODUCT).await;
                let told = format!(r#""minute";r={left};"#);
                assert!(answer.header("ratelimit").contains(&told), "{answer:?}");
                repeated += u32::from(statements == 0);
            }
            let refused = viewer.get(PRODUCT).await;
            assert_eq!(refused.status.as_u16(), 429);
            assert_eq!(refused.header("retry-after"), "60");
            if repeated >= 6 {
                return;
            }
            app.clock.advance(Duration::from_secs(60));
        }
        panic!("too little is answered from memory");
    }
);

on_both_engines!(
    an_answer_in_memory_is_only_for_who_may_have_it,
    async |address| {
        let app = TestApp::new(&address).await;
        app.manager().a_product("Arroz", 5).await;
        let viewer = app.viewer();
        for path in [PRODUCT, LIST] {
            remembered(&app, &viewer, path).await;
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
        remembered(&app, &viewer, PRODUCT).await;
        app.clock.advance(Duration::from_secs(86_399));
        assert_eq!(viewer.get(PRODUCT).await.status.as_u16(), 200);
        app.clock.advance(Duration::from_secs(1));
        let expired = viewer.get(PRODUCT).await;
        assert_eq!(expired.status.as_u16(), 401);
        assert!(expired.text.contains("Token is expired"), "{expired:?}");
    }
);
