//! Two requests of which one commits between the other's check and its write.

use std::sync::Arc;

use db::Db;
use http::Method;
use serde_json::json;
use test_kit::{
    database::{Engine, run},
    until,
};
use tokio::sync::Barrier;

use crate::app::TestApp;

/// Waits until a statement waits for another transaction.
async fn until_one_waits(db: &Db) {
    let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until(async || {
        let waiting: Result<i64, db::Error> = db
            .read(async move |conn| conn.one(count, &[], |row| row.get(0)).await)
            .await;
        waiting.unwrap() > 0
    })
    .await;
}

/// SQLite runs one write after the other, so this race cannot happen there.
#[test]
fn what_goes_between_the_check_and_the_write_is_told_as_if_it_had_been_gone() {
    run(Engine::Postgres, async |address| {
        let app = TestApp::new(&address).await;
        let product = app.admin().a_product("Arroz", 5).await;
        for path in ["brands", "suppliers"] {
            let body = json!({"name": "Outra"});
            app.admin().post(&format!("/api/v1/{path}/"), body).await;
        }
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
            let (is_deleted, may_commit) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
            let deleting = {
                let (db, is_deleted, may_commit) =
                    (app.state.db.clone(), is_deleted.clone(), may_commit.clone());
                tokio::spawn(async move {
                    db.write(async move |tx| {
                        tx.execute(delete, &[&id]).await?;
                        is_deleted.wait().await;
                        may_commit.wait().await;
                        Ok::<_, db::Error>(())
                    })
                    .await
                })
            };
            is_deleted.wait().await;
            let writing = {
                let (app, path) = (app.clone(), path.to_owned());
                tokio::spawn(async move { app.admin().send(method, &path, Some(body)).await })
            };
            until_one_waits(&app.state.db).await;
            may_commit.wait().await;
            deleting.await.unwrap().unwrap();
            writing.await.unwrap().is(answer.0, &answer.1);
        }
    });
}
