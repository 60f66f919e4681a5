//! Ordinary sales have a fast path on PostgreSQL. Their records are the same as those of other
//! sales.

use std::{
    collections::BTreeMap,
    sync::{Mutex, mpsc},
};

use http::Method;
use inventory::{aggregates, stock};
use serde_json::{Value, json};
use test_kit::database;

use crate::app::{TestApp, app_on_both_engines, open};

/// All records of a sale, without their ids.
async fn records(app: &TestApp) -> Vec<String> {
    let read = async |conn: &mut db::Conn| {
        conn.all(
            "SELECT l.kind, l.change, l.cost_price, l.user_id, l.user_name, t.movement, t.day, t.movements, t.moved, t.present, t.products,
                    t.units, t.selling_price, t.moved_cost_price, o.description, o.description_key, o.created_at, s.updated_at,
                    CASE WHEN EXISTS (SELECT 1 FROM outflows AS n WHERE n.id = t.movement_id) THEN 1 ELSE 0 END
             FROM outflows AS o
             JOIN ledger_entries AS l ON l.reference_id = o.id AND l.kind = 'outflow'
             JOIN product_stock AS s ON s.product_id = o.product_id
             CROSS JOIN aggregate_deltas AS t WHERE t.movement = 'outflow' ORDER BY o.id, t.id",
            &[],
            |row| {
                let user: (Option<i64>, Option<String>) = (row.get(3)?, row.get(4)?);
                let day: Option<db::Timestamp> = row.get(6)?;
                let texts: (Option<String>, Option<String>) = (row.get(14)?, row.get(15)?);
                let times: (db::Timestamp, db::Timestamp) = (row.get(16)?, row.get(17)?);
                let movement: Option<String> = row.get(5)?;
                let prices: (db::Money, db::Money, db::Money) = (row.get(2)?, row.get(12)?, row.get(13)?);
                let numbers: Vec<i64> = [1, 7, 8, 9, 10, 11, 18].into_iter().map(|at| row.get(at).unwrap()).collect();
                Ok(format!("{user:?} {movement:?} {day:?} {texts:?} {times:?} {prices:?} {numbers:?}"))
            },
        )
        .await
    };
    app.state
        .db
        .read(read)
        .await
        .map_err(|error: db::Error| error)
        .unwrap()
}

app_on_both_engines!(
    a_sale_leaves_the_same_behind_whichever_way_it_takes,
    async |app| {
        let product = app
            .manager()
            .a_product("Café \"moído\" \\ é\t1 kg\u{1}", 1000)
            .await;
        let sale = json!({"product": product, "quantity": 3, "description": "Balcão \"2\"\n"});
        let (path, body) = ("/api/v1/outflows/", Some(sale.to_string()));
        let long = [("idempotency-key", "long-way")];
        let mut answers = Vec::new();
        for headers in [&long[..], &[]] {
            let answer = app
                .manager()
                .send_with(Method::POST, path, body.clone(), headers)
                .await;
            assert_eq!(answer.status, 201);
            answers.push(answer.json());
        }
        let [mut first, second] = <[Value; 2]>::try_from(answers).unwrap();
        first["id"] = second["id"].clone();
        assert_eq!(first, second);
        let events = app.events().await;
        let [mut first, second] = <[Value; 2]>::try_from(events).unwrap();
        assert_eq!(
            (
                &first["data"]["product_quantity"],
                &second["data"]["product_quantity"]
            ),
            (&json!(997), &json!(994))
        );
        first["data"]["product_quantity"] = json!(994);
        first["data"]["id"] = second["data"]["id"].clone();
        assert_eq!(first.to_string(), second.to_string());
        let traces = records(&app).await;
        assert_eq!(traces.len(), 4);
        assert!(
            traces.iter().all(|trace| *trace == traces[0]),
            "{traces:#?}"
        );
        assert_eq!(app.manager().quantity_of(product).await, 994);
        assert_eq!(stock::verify(&app.state.db).await.unwrap(), Vec::new());
        assert_eq!(aggregates::verify(&app.state.db).await.unwrap(), Vec::new());
    }
);

app_on_both_engines!(
    a_sale_that_is_not_ordinary_is_answered_as_ever,
    async |app| {
        let product = app.manager().a_product("Arroz", 12).await;
        let manager = app.manager();
        let refused = manager.try_to_sell(product, 13).await;
        assert_eq!(
            (refused.status, refused.json()),
            (
                400,
                json!({"quantity": ["Insufficient stock: 12 available."]})
            )
        );
        let refused = manager.try_to_sell(product, i64::MAX).await;
        assert_eq!(
            refused.json(),
            json!({"quantity": ["Insufficient stock: 12 available."]})
        );
        let refused = manager.try_to_sell(999, 1).await;
        assert_eq!(
            refused.json(),
            json!({"product": ["Invalid pk \"999\" - object does not exist."]})
        );
        // One sale down to the threshold, then one below it.
        app.sell(product, 2).await;
        assert_eq!(app.events().await.len(), 1);
        app.sell(product, 1).await;
        let kinds: Vec<Value> = app
            .events()
            .await
            .iter()
            .map(|event| event["type"].clone())
            .collect();
        assert_eq!(
            kinds,
            ["outflow.created", "outflow.created", "product.low_stock"]
        );
        // A product with a threshold of its own.
        app.set_threshold(product, 5).await;
        app.sell(product, 4).await;
        app.sell(product, 1).await;
        let kinds: Vec<Value> = app
            .events()
            .await
            .iter()
            .map(|event| event["type"].clone())
            .collect();
        assert_eq!(
            kinds[3..],
            ["outflow.created", "outflow.created", "product.low_stock"]
        );
        assert_eq!(stock::verify(&app.state.db).await.unwrap(), Vec::new());
    }
);

app_on_both_engines!(
    sales_that_race_with_changes_of_prices_are_counted_exactly,
    async |app| {
        let product = app.manager().a_product("Feijão", 100_000).await;
        let mut storm = tokio::task::JoinSet::new();
        for seller in 0..8_i64 {
            let app = app.clone();
            storm.spawn(async move {
                for round in 0..12_i64 {
                    if seller == 0 {
                        let price = format!("{round}.{:02}", round * 7 % 100);
                        let prices = json!({"selling_price": price, "cost_price": price});
                        app.change_product(product, prices).await;
                    } else {
                        app.sell(product, seller).await;
                    }
                }
            });
        }
        storm.join_all().await;
        assert_eq!(app.manager().quantity_of(product).await, 100_000 - 12 * 28);
        assert_eq!(stock::verify(&app.state.db).await.unwrap(), Vec::new());
        assert_eq!(aggregates::verify(&app.state.db).await.unwrap(), Vec::new());
    }
);

app_on_both_engines!(
    sales_that_are_booked_together_are_each_answered_and_told_as_themselves,
    async |app| {
        let mut products = Vec::new();
        for title in ["Arroz", "Feijão", "Café"] {
            products.push(app.manager().a_product(title, 1_000).await);
        }
        let mut sales = tokio::task::JoinSet::new();
        // Sales of 1 to 12 units of each product, and one of more than there are.
        for (product, quantity) in products
            .iter()
            .flat_map(|product| (1..=12_i64).chain([5_000]).map(|units| (*product, units)))
        {
            let app = app.clone();
            sales.spawn(async move {
                let description = format!("{product}: {quantity}");
                let sale =
                    json!({"product": product, "quantity": quantity, "description": description});
                let answer = app.manager().post("/api/v1/outflows/", sale).await;
                (product, quantity, answer)
            });
        }
        for (product, quantity, answer) in sales.join_all().await {
            if quantity == 5_000 {
                assert_eq!(answer.status, 400, "{answer:?}");
                continue;
            }
            let told = answer.json();
            let description = json!(format!("{product}: {quantity}"));
            assert_eq!(
                (&told["product"]["id"], &told["description"]),
                (&json!(product), &description)
            );
            let stored = app
                .manager()
                .get(&format!("/api/v1/outflows/{}/", told["id"]))
                .await;
            assert_eq!(stored.json(), told);
        }
        // The balances show that the sales were booked one after the other.
        let mut left: BTreeMap<i64, i64> = products.iter().map(|id| (*id, 1_000)).collect();
        for event in app.events().await {
            let data = &event["data"];
            let left = left.get_mut(&data["product"]["id"].as_i64().unwrap());
            let left = left.unwrap();
            *left -= data["quantity"].as_i64().unwrap();
            assert_eq!(data["product_quantity"], json!(*left));
        }
        assert!(left.values().all(|left| *left == 1_000 - 78), "{left:?}");
        assert_eq!(stock::verify(&app.state.db).await.unwrap(), Vec::new());
        assert_eq!(aggregates::verify(&app.state.db).await.unwrap(), Vec::new());
    }
);

/// A transaction of another process that has run this statement, and ends when the test says so.
async fn hold(
    address: &str,
    sql: &'static str,
    product: i64,
) -> (
    mpsc::Sender<()>,
    tokio::task::JoinHandle<Result<(), db::Error>>,
) {
    let db = open(address).await;
    let (go_on, wait) = mpsc::channel();
    let (tell, mut reached) = tokio::sync::mpsc::unbounded_channel();
    let wait = Mutex::new(wait);
    let holder = tokio::spawn(async move {
        db.write(async move |tx: &mut db::Tx| {
            tx.execute(sql, &[&product]).await?;
            tell.send(()).unwrap();
            wait.lock().unwrap().recv().unwrap();
            Ok(())
        })
        .await
    });
    reached.recv().await.unwrap();
    (go_on, holder)
}

#[test]
fn a_locked_product_holds_up_sales_of_no_other() {
    database::run(database::Engine::Postgres, async |address| {
        let app = TestApp::new(&address).await;
        let locked = app.manager().a_product("Arroz", 1000).await;
        let other = app.manager().a_product("Milho", 1000).await;
        let sell = async |product: i64, key: Option<&str>| {
            let sale = json!({"product": product, "quantity": 1}).to_string();
            let headers: Vec<_> = key
                .map(|key| ("idempotency-key", key))
                .into_iter()
                .collect();
            let (path, app) = ("/api/v1/outflows/", app.manager());
            let answer = app
                .send_with(Method::POST, path, Some(sale), &headers)
                .await;
            assert_eq!(answer.status, 201);
        };
        for (time, sql) in [
            "UPDATE product_stock SET quantity = quantity WHERE product_id = $1",
            "UPDATE products SET title = title WHERE id = $1",
        ]
        .into_iter()
        .enumerate()
        {
            let (go_on, holder) = hold(&address, sql, locked).await;
            let others = async {
                for _ in 0..20 {
                    sell(other, None).await;
                }
                for number in 0..5 {
                    sell(other, Some(&format!("other-{time}-{number}"))).await;
                }
                assert!(!holder.is_finished());
                go_on.send(()).unwrap();
            };
            let key = format!("locked-{time}");
            let key = Some(key.as_str());
            tokio::join!(
                sell(locked, None),
                sell(locked, None),
                sell(locked, key),
                others
            );
            holder.await.unwrap().unwrap();
        }
        assert_eq!(app.manager().quantity_of(locked).await, 994);
        assert_eq!(app.manager().quantity_of(other).await, 950);
        assert_eq!(stock::verify(&app.state.db).await.unwrap(), Vec::new());
    });
}
