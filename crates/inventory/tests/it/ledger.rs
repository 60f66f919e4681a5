//! The ledger behind every quantity: its rows, past balances, thresholds and low stock, and that
//! all of these agree.

use std::time::Duration;

use http::Method;
use inventory::{
    stock::{self, movements::Movement},
    transfer::FileKind,
};
use serde_json::{Value, json};
use test_kit::{html::has, on_both_engines};

use crate::{
    app::{Client, NOW, TestApp, app_on_both_engines},
    transfer::{load_bytes, with_basics},
};

async fn kinds(client: &Client<'_>, product: i64, query: &str) -> Vec<(String, i64, i64)> {
    let ledger = client
        .get(&format!("/api/v1/products/{product}/ledger/{query}"))
        .await
        .json();
    let rows = ledger["results"].as_array().unwrap();
    rows.iter()
        .map(|row| {
            (
                row["kind"].as_str().unwrap().to_owned(),
                row["change"].as_i64().unwrap(),
                row["balance_after"].as_i64().unwrap(),
            )
        })
        .collect()
}

fn rows(expected: &[(&str, i64, i64)]) -> Vec<(String, i64, i64)> {
    expected
        .iter()
        .map(|(kind, change, balance)| ((*kind).to_owned(), *change, *balance))
        .collect()
}

app_on_both_engines!(every_change_of_a_quantity_is_one_row, async |app| {
    let admin = app.admin();
    let product = admin.a_product("Arroz", 0).await;
    let supplier = admin.a_supplier("S").await;
    let inflow = admin.receive(supplier, product, 9).await;
    let outflow = admin.sell(product, 4).await;
    admin.change_product(product, json!({"quantity": 20})).await;
    admin.change_product(product, json!({"quantity": 20})).await;
    admin.delete(&format!("/api/v1/outflows/{outflow}/")).await;
    admin.delete(&format!("/api/v1/inflows/{inflow}/")).await;
    let expected = [
        ("inflow_reversed", -9, 15),
        ("outflow_reversed", 4, 24),
        ("adjustment", 15, 20),
        ("outflow", -4, 5),
        ("inflow", 9, 9),
        ("opening", 0, 0),
    ];
    assert_eq!(kinds(&app.viewer(), product, "").await, rows(&expected));
    let newest = admin
        .get(&format!("/api/v1/products/{product}/ledger/"))
        .await
        .json()["results"][0]
        .clone();
    let id = newest["id"].clone();
    let row = json!({
        "id": id, "kind": "inflow_reversed", "change": -9, "balance_after": 15, "created_at": NOW, "user": "admin",
        "reference": {"type": "inflow", "id": inflow},
    });
    assert_eq!(newest, row);
});

app_on_both_engines!(a_past_balance_is_the_first_row_up_to_then, async |app| {
    let admin = app.admin();
    let product = admin.a_product("Arroz", 7).await;
    app.clock.advance(Duration::from_secs(24 * 60 * 60));
    let admin = app.admin();
    admin.sell(product, 2).await;
    assert_eq!(
        kinds(&admin, product, "?as_of=2026-11-20").await,
        rows(&[("opening", 7, 7)])
    );
    assert_eq!(
        kinds(&admin, product, "?as_of=2026-11-21T12:00:00Z").await,
        rows(&[("outflow", -2, 5), ("opening", 7, 7)])
    );
    assert_eq!(
        kinds(&admin, product, "?as_of=2026-11-21T08:59:59-03:00").await,
        rows(&[("opening", 7, 7)])
    );
    // A time without an offset is in UTC.
    for (time, count) in [("11:59:59", 1), ("12:00:00", 2)] {
        let past = kinds(&admin, product, &format!("?as_of=2026-11-21T{time}")).await;
        assert_eq!(past.len(), count, "{time}");
    }
    assert_eq!(kinds(&admin, product, "?as_of=2026-11-19").await, []);
    for moment in [
        "9999-12-31",
        "9999-12-30T23:59:59Z",
        "9999-12-31T23:59:59-03:00",
    ] {
        let latest = kinds(&admin, product, &format!("?as_of={moment}")).await;
        assert_eq!(latest.len(), 2, "{moment}");
    }
    for moment in ["yesterday", "-004800-01-01T00:00:00Z"] {
        let path = format!("/api/v1/products/{product}/ledger/?as_of={moment}");
        let malformed = admin.get(&path).await;
        malformed.is(400, &json!({"as_of": ["Enter a valid date/time."]}));
    }
    // A deleted product keeps its ledger, and so its past balances.
    let gone = admin.a_product("Sal", 0).await;
    let path = format!("/api/v1/products/{gone}/");
    admin.delete(&path).await.has_status(204);
    assert_eq!(kinds(&admin, gone, "").await, rows(&[("opening", 0, 0)]));
    assert_eq!(kinds(&admin, gone, "?as_of=2026-11-19").await, []);
    for query in ["", "?as_of=2026-11-19"] {
        let path = format!("/api/v1/products/99/ledger/{query}");
        let missing = admin.get(&path).await;
        missing.is(404, &json!({"detail": "Not found."}));
    }
});

/// A product's ledger with the times of its rows, oldest first.
async fn times(client: &Client<'_>, product: i64, query: &str) -> Vec<(String, Value)> {
    let path = format!("/api/v1/products/{product}/ledger/{query}");
    let mut rows = client.get(&path).await.json()["results"].take();
    let rows = rows.as_array_mut().unwrap().iter_mut().rev();
    rows.map(|row| (row["kind"].to_string(), row["created_at"].take()))
        .collect()
}

// A write takes its time before it waits for the stock row. Here the clock goes back instead.
app_on_both_engines!(
    the_times_of_a_ledger_follow_its_order_however_late_a_write_comes,
    async |app| {
        let opened_at = app.clock.now();
        let admin = app.admin();
        let product = admin.a_product("Arroz", 70).await;
        let supplier = admin.a_supplier("S").await;
        let latest = opened_at + Duration::from_millis(9250);
        app.clock.set(latest);
        let outflow = admin.sell(product, 4).await;
        app.clock.set(opened_at + Duration::from_secs(5));
        admin.sell(product, 1).await;
        let body = json!({"product": product, "quantity": 1}).to_string();
        let key = [("Idempotency-Key", "late")];
        let keyed = admin.send_with(Method::POST, "/api/v1/outflows/", Some(body), &key);
        keyed.await.has_status(201);
        admin.receive(supplier, product, 9).await;
        admin.change_product(product, json!({"quantity": 20})).await;
        let deleted = format!("/api/v1/outflows/{outflow}/");
        admin.delete(&deleted).await.has_status(204);
        let latest = json!(resource::time_text(latest));
        let rows = times(&admin, product, "").await;
        assert_eq!(rows.len(), 7);
        assert!(rows[1..].iter().all(|(_, at)| *at == latest), "{rows:?}");
        let before = times(&admin, product, "?as_of=2026-11-20T12:00:09Z").await;
        assert_eq!(before, rows[..1]);
        let upto = format!("?as_of={}", latest.as_str().unwrap());
        assert_eq!(times(&admin, product, &upto).await, rows);
        for path in ["/api/v1/outflows/", "/api/v1/inflows/"] {
            for movement in admin.get(path).await.json()["results"].as_array().unwrap() {
                assert_eq!(
                    (&movement["created_at"], &movement["updated_at"]),
                    (&latest, &latest)
                );
            }
        }
        for event in app.events().await {
            let data = &event["data"];
            let times = [
                &event["timestamp"],
                &data["created_at"],
                &data["updated_at"],
            ];
            assert_eq!(times, [&latest; 3]);
        }
        let path = format!("/api/v1/products/{product}/");
        assert_eq!(admin.get(&path).await.json()["updated_at"], latest);
    }
);

app_on_both_engines!(
    a_sale_is_undone_though_an_adjustment_of_the_same_time_has_its_units,
    async |app| {
        let product = app.admin().a_product("Arroz", 10).await;
        app.clock.advance(Duration::from_secs(1));
        let outflow = app.sell(product, 4).await;
        app.change_product(product, json!({"quantity": 10})).await;
        let sold = format!("/api/v1/outflows/{outflow}/");
        app.admin().delete(&sold).await.has_status(204);
        assert_eq!(app.admin().quantity_of(product).await, 14);
    }
);

app_on_both_engines!(the_ledger_outlives_its_product, async |app| {
    let admin = app.admin();
    let product = admin.a_product("Arroz", 7).await;
    let outflow = admin.sell(product, 2).await;
    let refused = admin.delete(&format!("/api/v1/products/{product}/")).await;
    refused.is(
        409,
        &json!({"detail": "Cannot delete this product because 1 outflow record references it."}),
    );
    admin.delete(&format!("/api/v1/outflows/{outflow}/")).await;
    admin
        .delete(&format!("/api/v1/products/{product}/"))
        .await
        .has_status(204);
    let rows = kinds(&admin, product, "").await;
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0], ("adjustment".to_owned(), -7, 0));
});

app_on_both_engines!(
    a_deleted_product_comes_back_from_its_file_with_its_stock_and_its_history,
    async |app| {
        with_basics(&app).await;
        let product = "id,title,category,brand,cost_price,selling_price,quantity\n5,Arroz,1,1,8.00,12.50,10\n";
        load_bytes(&app, FileKind::Products, product).await.unwrap();
        app.admin()
            .delete("/api/v1/products/5/")
            .await
            .has_status(204);
        let between = app.clock.now().to_string();
        app.clock.advance(Duration::from_hours(24));
        load_bytes(&app, FileKind::Products, product).await.unwrap();
        assert_eq!(stock::verify(&app.state.db).await.unwrap(), Vec::new());
        // It is older than the opening that counts now.
        let sold = format!("product,quantity,created_at\n5,4,{between}\n");
        load_bytes(&app, FileKind::Movements(Movement::Outflow), sold)
            .await
            .unwrap();
        assert_eq!(app.viewer().quantity_of(5).await, 10);
        assert_eq!(stock::verify(&app.state.db).await.unwrap(), Vec::new());
        // The chart begins with that opening.
        app.clock.advance(Duration::from_secs(60));
        app.admin().sell(5, 1).await;
        let shown = app.logged_in("manager").await.page("/products/5/").await;
        has(&shown, &["Balance: lowest 9, highest 10, now 9"]);
    }
);

app_on_both_engines!(each_product_may_have_a_threshold_of_its_own, async |app| {
    let (manager, viewer) = (app.manager(), app.viewer());
    let product = app.admin().a_product("Arroz", 12).await;
    let path = format!("/api/v1/products/{product}/threshold/");
    viewer.get(&path).await.is(200, &json!({"threshold": null}));
    assert_eq!(viewer.put(&path, json!({"threshold": 1})).await.status, 403);
    manager
        .put(&path, json!({"threshold": 13}))
        .await
        .is(200, &json!({"threshold": 13}));
    manager.put(&path, json!({"threshold": -1})).await.is(
        400,
        &json!({"threshold": ["Ensure this value is greater than or equal to 0."]}),
    );
    manager
        .put(&path, json!({}))
        .await
        .is(400, &json!({"threshold": ["This field is required."]}));
    viewer.get(&path).await.is(200, &json!({"threshold": 13}));
    let low = viewer.get("/api/v1/low-stock/").await.json();
    assert_eq!(
        low["results"],
        json!([{"product": {"id": product, "title": "Arroz"}, "quantity": 12, "threshold": 13}])
    );
    manager
        .put(&path, json!({"threshold": null}))
        .await
        .is(200, &json!({"threshold": null}));
    assert_eq!(viewer.get("/api/v1/low-stock/").await.json()["count"], 0);
    let patched = manager.patch(&path, json!({"threshold": 1})).await;
    patched.is(405, &json!({"detail": "Method \"PATCH\" not allowed."}));
});

app_on_both_engines!(the_low_stock_list_has_the_lowest_first, async |app| {
    let admin = app.admin();
    for (title, quantity) in [("A", 9), ("B", 10), ("C", 0), ("D", 3)] {
        admin.a_product(title, quantity).await;
    }
    let low = app
        .viewer()
        .get("/api/v1/low-stock/?page_size=2")
        .await
        .json();
    let titles: Vec<&Value> = low["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["product"]["title"])
        .collect();
    assert_eq!(
        (&low["count"], titles),
        (&json!(3), vec![&json!("C"), &json!("D")])
    );
});

app_on_both_engines!(
    events_commit_with_the_outflow_that_causes_them,
    async |app| {
        let admin = app.admin();
        let product = admin.a_product("Arroz", 12).await;
        admin.sell(product, 2).await;
        admin.try_to_sell(product, 99).await;
        let outflow = admin.try_to_sell(product, 1).await.json();
        let events = app.events().await;
        let types: Vec<&str> = events
            .iter()
            .map(|event| event["type"].as_str().unwrap())
            .collect();
        assert_eq!(
            types,
            ["outflow.created", "outflow.created", "product.low_stock"]
        );
        let mut data = outflow;
        data["product_quantity"] = json!(9);
        assert_eq!(
            events[1],
            json!({"type": "outflow.created", "timestamp": NOW, "data": data})
        );
        let low = json!({"product": {"id": product, "title": "Arroz"}, "quantity": 9, "threshold": 10, "suggested_quantity": null});
        assert_eq!(events[2]["data"], low);
    }
);

app_on_both_engines!(
    an_inflow_past_64_bits_is_refused_and_nothing_is_saved,
    async |app| {
        let admin = app.admin();
        let product = admin.a_product("Arroz", i64::MAX - 5).await;
        let supplier = admin.a_supplier("S").await;
        let refused = admin
            .post(
                "/api/v1/inflows/",
                json!({"supplier": supplier, "product": product, "quantity": 6}),
            )
            .await;
        refused.is(
            400,
            &json!({"quantity": ["Ensure this value is less than or equal to 5."]}),
        );
        assert_eq!(admin.get("/api/v1/inflows/").await.json()["count"], 0);
    }
);

app_on_both_engines!(the_last_units_are_sold_once, async |app| {
    let product = app.admin().a_product("Arroz", 10).await;
    let attempts = (0..40).map(|_| {
        let app = app.clone();
        tokio::spawn(async move { app.manager().try_to_sell(product, 1).await.status })
    });
    let mut sold = 0;
    for attempt in attempts.collect::<Vec<_>>() {
        match attempt.await.unwrap() {
            201 => sold += 1,
            status => assert_eq!(status, 400),
        }
    }
    assert_eq!((sold, app.admin().quantity_of(product).await), (10, 0));
    assert_eq!(stock::verify(&app.state.db).await.unwrap(), []);
});

app_on_both_engines!(the_same_key_forty_times_at_once_books_once, async |app| {
    let product = app.admin().a_product("Arroz", 10).await;
    let body = json!({"product": product, "quantity": 1}).to_string();
    let attempts = (0..40).map(|_| {
        let (app, body) = (app.clone(), body.clone());
        tokio::spawn(async move {
            app.manager()
                .send_with(
                    Method::POST,
                    "/api/v1/outflows/",
                    Some(body),
                    &[("Idempotency-Key", "once")],
                )
                .await
        })
    });
    let mut bodies = Vec::new();
    for attempt in attempts.collect::<Vec<_>>() {
        let answer = attempt.await.unwrap();
        assert_eq!(answer.status, 201, "{answer:?}");
        bodies.push(answer.text);
    }
    bodies.dedup();
    assert_eq!(
        (bodies.len(), app.admin().quantity_of(product).await),
        (1, 9)
    );
});

/// Writes to the database without the service; returns the number of rows.
async fn write_past(app: &TestApp, sql: &'static str, product: i64) -> u64 {
    app.state
        .db
        .write(async move |tx| tx.execute(sql, &[&product]).await)
        .await
        .map_err(|error: db::Error| error)
        .unwrap()
}

/// Writes to the database without the service; returns what `verify` then finds.
async fn told_after(app: &TestApp, sql: &'static str, product: i64) -> Vec<String> {
    assert_eq!(stock::verify(&app.state.db).await.unwrap(), []);
    assert_eq!(write_past(app, sql, product).await, 1);
    let differences = stock::verify(&app.state.db).await.unwrap();
    differences.iter().map(ToString::to_string).collect()
}

app_on_both_engines!(
    verify_reports_a_quantity_that_something_else_wrote,
    async |app| {
        let product = app.admin().a_product("Arroz", 10).await;
        let sql = "UPDATE product_stock SET quantity = 11 WHERE product_id = $1";
        assert_eq!(
            told_after(&app, sql, product).await,
            [format!(
                "product {product}: quantity is 11, the ledger says 10"
            )]
        );
    }
);

app_on_both_engines!(
    verify_reports_inflows_that_are_filed_under_another_title,
    async |app| {
        let admin = app.admin();
        let product = admin.a_product("Arroz", 10).await;
        let supplier = admin.post("/api/v1/suppliers/", json!({"name": "Torra"}));
        let supplier = supplier.await.id();
        admin.receive(supplier, product, 5).await;
        let path = format!("/api/v1/products/{product}/");
        admin.patch(&path, json!({"title": "Arroz integral"})).await;
        let sql = "UPDATE inflows SET title_folded = 'arroz' WHERE product_id = $1";
        assert_eq!(
            told_after(&app, sql, product).await,
            [format!(
                "product {product}: inflows filed under another title than the product's: 1"
            )]
        );
    }
);

on_both_engines!(
    verify_reports_a_product_that_a_search_would_miss_or_find_otherwise,
    async |address| {
        let faults = [
            "DELETE FROM product_words WHERE product_id = $1",
            "UPDATE product_words SET brand_id = brand_id + 1 WHERE product_id = $1",
            "UPDATE product_words SET category_id = category_id + 1 WHERE product_id = $1",
            "UPDATE products SET title_folded = 'arroz branco' WHERE id = $1",
            "UPDATE product_words SET product_id = product_id + 1000 WHERE product_id = $1",
        ];
        let app = TestApp::new(&address).await;
        for (number, sql) in faults.into_iter().enumerate() {
            let title = format!("Arroz {number}");
            let product = app.admin().a_product(&title, 10).await;
            let told = told_after(&app, sql, product).await;
            let expected =
                format!("product {product}: the index of words has it otherwise than it is");
            assert!(told.contains(&expected), "{sql}: {told:?}");
            let path = format!("/api/v1/products/{product}/");
            assert_eq!(app.admin().delete(&path).await.status, 204);
            let clear = "DELETE FROM product_words WHERE product_id >= $1";
            write_past(&app, clear, product).await;
        }
        let product = app.admin().a_product("Feijão", 10).await;
        let sql = "DELETE FROM search_endings WHERE ending = 'jao' AND word_id = (SELECT word_id FROM product_words WHERE product_id = $1)";
        let told = told_after(&app, sql, product).await;
        assert_eq!(told.len(), 1);
        assert!(
            told[0].ends_with("its endings are not those of the word"),
            "{told:?}"
        );
    }
);

app_on_both_engines!(the_database_itself_refuses_to_owe_goods, async |app| {
    let product = app.admin().a_product("Arroz", 10).await;
    let refused: Result<u64, db::Error> = app
        .state
        .db
        .write(async move |tx| {
            tx.execute(
                "UPDATE product_stock SET quantity = -1 WHERE product_id = $1",
                &[&product],
            )
            .await
        })
        .await;
    assert!(refused.is_err_and(|error| error.is_check("product_stock_quantity_check")));
});
