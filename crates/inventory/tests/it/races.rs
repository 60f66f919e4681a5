//! Two requests of which one commits between the other's check and its write.

use std::sync::Arc;

use db::Db;
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
        for (delete, id, path, body, field) in [
            (
                "DELETE FROM brands WHERE id = $1",
                2,
                "/api/v1/products/",
                json!({"title": "Feijão", "category": 1, "brand": 2, "cost_price": 1, "selling_price": 2, "quantity": 3}),
                "brand",
            ),
            (
                "DELETE FROM suppliers WHERE id = $1",
                1,
                "/api/v1/inflows/",
                json!({"supplier": 1, "product": product, "quantity": 2}),
                "supplier",
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
            let creating = {
                let app = app.clone();
                tokio::spawn(async move { app.admin().post(path, body).await })
            };
            until_one_waits(&app.state.db).await;
            may_commit.wait().await;
            deleting.await.unwrap().unwrap();
            creating
                .await
                .unwrap()
                .is(400, &json!({field: unknown(id)}));
        }
    });
}
