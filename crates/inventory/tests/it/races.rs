//! Two requests of which one commits between the other's check and its write.

use std::sync::Arc;

use db::Db;
use http::Method;
use inventory::{
    access::{Kind, Model},
    analysis::{self, WorkOutcome},
};
use serde_json::json;
use test_kit::{
    database::{Engine, run},
    html::has,
    until,
};
use tokio::sync::Barrier;

use crate::{app::TestApp, visitor::PASSWORD};

/// Waits until a statement waits for another transaction.
pub(crate) async fn until_one_waits(db: &Db) {
    let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until(async || {
        let waiting: Result<i64, db::Error> = db
            .read(async move |conn| conn.one(count, &[], |row| row.get(0)).await)
            .await;
        waiting.unwrap() > 0
    })
    .await;
}

/// Sends a request while a transaction has changed a record and not committed, and commits once the
/// request waits for it. SQLite runs one write after the other, so such a race cannot happen there.
async fn overtake<T: Send + 'static>(
    app: &TestApp,
    sql: &'static str,
    id: i64,
    request: impl Future<Output = T> + Send + 'static,
) -> T {
    let (is_changed, may_commit) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let changing = {
        let (db, is_changed, may_commit) =
            (app.state.db.clone(), is_changed.clone(), may_commit.clone());
        tokio::spawn(async move {
            db.write(async move |tx| {
                tx.execute(sql, &[&id]).await?;
                is_changed.wait().await;
                may_commit.wait().await;
                Ok::<_, db::Error>(())
            })
            .await
        })
    };
    is_changed.wait().await;
    let requesting = tokio::spawn(request);
    until_one_waits(&app.state.db).await;
    may_commit.wait().await;
    changing.await.unwrap().unwrap();
    requesting.await.unwrap()
}

#[test]
fn what_goes_between_the_check_and_the_write_is_told_as_if_it_had_been_gone() {
    run(Engine::Postgres, async |address| {
        let app = TestApp::new(&address).await;
        let product = app.admin().a_product("Arroz", 5).await;
        for path in ["brands", "suppliers"] {
            let body = json!({"name": "Outra"});
            app.admin().post(&format!("/api/v1/{path}/"), body).await;
        }
        app.admin().a_product("Feijão", 5).await;
        let unknown = |id: i64| json!([format!("Invalid pk \"{id}\" - object does not exist.")]);
        let terms = format!("/api/v1/products/{product}/restock/");
        for (delete, id, method, path, body, answer) in [
            (
                "DELETE FROM brands WHERE id = $1",
                2,
                Method::POST,
                "/api/v1/products/",
                json!({"title": "Feijão", "category": 1, "brand": 2, "cost_price": 1, "selling_price": 2, "quantity": 3}),
                (400, json!({"brand": unknown(2)})),
            ),
            (
                "DELETE FROM products WHERE id = $1",
                product + 1,
                Method::POST,
                "/api/v1/inflows/",
                json!({"supplier": 1, "product": product + 1, "quantity": 2}),
                (400, json!({"product": unknown(product + 1)})),
            ),
            (
                "DELETE FROM suppliers WHERE id = $1",
                1,
                Method::POST,
                "/api/v1/inflows/",
                json!({"supplier": 1, "product": product, "quantity": 2}),
                (400, json!({"supplier": unknown(1)})),
            ),
            (
                "DELETE FROM products WHERE id = $1",
                product,
                Method::PUT,
                terms.as_str(),
                json!({
                    "lead_time_days": 3, "lead_time_deviation_days": null, "service_level": null,
                    "review_interval_days": null, "pack_multiple": null,
                }),
                (404, json!({"detail": "Not found."})),
            ),
        ] {
            let (caller, path) = (app.clone(), path.to_owned());
            let write = async move { caller.admin().send(method, &path, Some(body)).await };
            let written = overtake(&app, delete, id, write).await;
            written.is(answer.0, &answer.1);
        }
    });
}

#[test]
fn goods_that_come_in_while_a_sale_waits_are_sold() {
    run(Engine::Postgres, async |address| {
        let app = TestApp::new(&address).await;
        let product = app.admin().a_product("Arroz", 0).await;
        let caller = app.clone();
        let sale = async move {
            let body = json!({"product": product, "quantity": 5});
            caller.admin().post("/api/v1/outflows/", body).await
        };
        let receive = "UPDATE product_stock SET quantity = 60 WHERE product_id = $1";
        let sold = overtake(&app, receive, product, sale).await;
        sold.has_status(201);
    });
}

#[test]
fn an_analysis_is_published_after_the_sale_that_is_not_committed_yet() {
    run(Engine::Postgres, async |address| {
        let app = TestApp::new(&address).await;
        let product = app.admin().a_product("Arroz", 10).await;
        app.sell(product, 1).await;
        let worker = app.clone();
        let analyse = async move { analysis::work_once(&worker.state).await.unwrap() };
        let sale = "WITH stock AS (UPDATE product_stock SET quantity = quantity - 1 WHERE product_id = $1)
                    INSERT INTO events (service, type, subject_id, payload, created_at)
                    SELECT service, 'outflow.created', $1, payload, created_at FROM events WHERE type = 'outflow.created'";
        let analysed = overtake(&app, sale, product, analyse).await;
        assert!(matches!(analysed, WorkOutcome::Analysed(_)), "{analysed:?}");
        let last = "SELECT count(*) FROM events WHERE type = 'analysis.created' AND id = (SELECT max(id) FROM events)";
        assert_eq!(app.number(last).await, 1);
    });
}

#[test]
fn the_log_names_for_a_change_only_the_fields_that_its_author_changed() {
    run(Engine::Postgres, async |address| {
        let app = TestApp::new(&address).await;
        let product = app.admin().a_product("Arroz", 5).await;
        for (of_others, model, path, method, change, logged) in [
            (
                "UPDATE brands SET name = 'Outra' WHERE id = $1",
                Kind::Brand.model(),
                "/api/v1/brands/1/",
                Method::PATCH,
                json!({"description": "x"}),
                "admin changed brand 1 “Outra” [description]",
            ),
            (
                "WITH stock AS (UPDATE product_stock SET updated_at = updated_at WHERE product_id = $1)
                 UPDATE products SET title = 'Feijão' WHERE id = $1",
                Model::Product,
                "/api/v1/products/1/",
                Method::PATCH,
                json!({"selling_price": "13.00"}),
                "admin changed product 1 “Feijão” [selling_price]",
            ),
            (
                "WITH stock AS (UPDATE product_stock SET updated_at = updated_at WHERE product_id = $1)
                 INSERT INTO restock_terms (product_id, lead_time) VALUES ($1, 3)",
                Model::Product,
                "/api/v1/products/1/restock/",
                Method::PUT,
                json!({
                    "lead_time_days": 3, "lead_time_deviation_days": null, "service_level": null,
                    "review_interval_days": null, "pack_multiple": 6
                }),
                "admin changed product 1 “Feijão” [pack_multiple]",
            ),
        ] {
            let caller = app.clone();
            let write = async move { caller.admin().send(method, path, Some(change)).await };
            overtake(&app, of_others, product, write).await.has_status(200);
            assert_eq!(app.history_of(model, product).await[0], logged);
        }
    });
}

#[test]
fn the_password_of_a_user_who_becomes_a_superuser_meanwhile_is_not_reset() {
    run(Engine::Postgres, async |address| {
        let app = TestApp::new(&address).await;
        app.staff("clerk", &[]).await;
        let sql = "SELECT id FROM users WHERE username = 'clerk'";
        let read = async move |conn: &mut db::Conn| conn.one(sql, &[], |row| row.get(0)).await;
        let id: i64 = app.state.db.read::<_, db::Error, _>(read).await.unwrap();
        let staff = app.clone();
        let reset = async move {
            let keeper = staff.staff("keeper", &["view_user", "change_user"]).await;
            let new = "another correct horse battery";
            let fields = [("usable", "1"), ("password1", new), ("password2", new)];
            let address = format!("/admin/users/{id}/password/");
            keeper.refused(&address, &fields).await
        };
        let promote = "UPDATE users SET superuser = TRUE WHERE id = $1";
        let page = overtake(&app, promote, id, reset).await;
        has(
            &page,
            &["This account has permissions that yours does not have."],
        );
    });
}

#[test]
fn a_login_under_way_fails_when_what_it_has_proven_changes() {
    run(Engine::Postgres, async |address| {
        let app = TestApp::new(&address).await;
        for (id, name, change, path) in [
            (
                1,
                "admin",
                "UPDATE users SET password_hash = 'another' WHERE id = $1",
                "/api/v1/authentication/token/",
            ),
            (
                2,
                "manager",
                "UPDATE users SET active = FALSE WHERE id = $1",
                "/login/",
            ),
            (
                3,
                "viewer",
                "WITH locked AS (UPDATE users SET staff = staff WHERE id = $1 RETURNING id, created_at)
                 INSERT INTO second_factors (user_id, secret, last_step, created_at) SELECT id, '', 0, created_at FROM locked",
                "/login/",
            ),
        ] {
            let visitor = app.clone();
            let login = async move {
                let body = json!({"username": name, "password": PASSWORD}).to_string();
                visitor.visitor().json(Method::POST, path, &body, &[]).await
            };
            let refused = overtake(&app, change, id, login).await;
            let detail = "No active account found with the given credentials";
            refused.is(401, &json!({"detail": detail}));
        }
        let sessions = app.number("SELECT count(*) FROM sessions").await;
        assert_eq!(sessions, 0);
        let (browser, forgotten) = (app.clone(), "DELETE FROM second_factors WHERE user_id = 3");
        app.execute(forgotten).await;
        let login = async move {
            let visitor = browser.visitor();
            visitor.get("/login/").await;
            let fields = [("username", "viewer"), ("password", PASSWORD)];
            visitor.submit("/login/", &fields).await
        };
        let change = "UPDATE users SET password_hash = NULL WHERE id = $1";
        let page = overtake(&app, change, 3, login).await;
        has(
            &page.text,
            &["Please enter a correct username and password"],
        );
    });
}
