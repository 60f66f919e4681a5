//! Movements imported after their time: the ledger books them when they are imported, and they
//! count on their own days.

use std::time::Duration;

use inventory::{
    aggregates,
    stock::{self, movements::Movement},
    transfer::FileKind,
};
use serde_json::{Value, json};
use test_kit::html::has;

use crate::{
    app::{TestApp, app_on_both_engines},
    transfer::load_bytes,
};

const OUTFLOWS: FileKind = FileKind::Movements(Movement::Outflow);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The ledger of a product, newest first.
async fn ledger(app: &TestApp, product: i64, query: &str) -> Vec<Value> {
    let path = format!("/api/v1/products/{product}/ledger/{query}");
    let mut page = app.viewer().get(&path).await.json();
    serde_json::from_value(page["results"].take()).unwrap()
}

fn balances(rows: &[Value]) -> Vec<(&str, i64, i64)> {
    let number = |row: &Value, member: &str| row[member].as_i64().unwrap();
    let rows = rows.iter().map(|row| {
        let kind = row["kind"].as_str().unwrap();
        (kind, number(row, "change"), number(row, "balance_after"))
    });
    rows.collect()
}

async fn verified(app: &TestApp) {
    assert_eq!(stock::verify(&app.state.db).await.unwrap(), []);
    assert_eq!(aggregates::verify(&app.state.db).await.unwrap(), []);
}

/// How many outflows a day has.
async fn sold_on(app: &TestApp, day: &str) -> i64 {
    let path = format!("/api/v1/outflows/?date_from={day}&date_to={day}");
    app.viewer().get(&path).await.json()["count"]
        .as_i64()
        .unwrap()
}

app_on_both_engines!(
    a_late_import_is_booked_now_and_changes_no_past_balance,
    async |app| {
        let product = app.admin().a_product("Arroz", 20).await;
        app.clock.advance(DAY);
        let then = resource::time_text(app.clock.now());
        app.clock.advance(DAY);
        let later = resource::time_text(app.clock.now());
        app.clock.advance(DAY * 400);
        let now = resource::time_text(app.clock.now());
        // Not in the order of time.
        let sold =
            format!("product,quantity,created_at\n{product},4,{later}\n{product},1,{then}\n");
        load_bytes(&app, OUTFLOWS, sold).await.unwrap();

        let rows = ledger(&app, product, "").await;
        let expected = [
            ("outflow", -1, 15),
            ("outflow", -4, 16),
            ("opening", 20, 20),
        ];
        assert_eq!(balances(&rows), expected);
        assert_eq!(
            (&rows[0]["created_at"], &rows[1]["created_at"]),
            (&json!(now), &json!(now))
        );
        for past in ["2027-11-26", &then, &later] {
            let past = ledger(&app, product, &format!("?as_of={past}")).await;
            assert_eq!(past, rows[2..]);
        }
        assert_eq!(ledger(&app, product, &format!("?as_of={now}")).await, rows);

        // The movements keep their times.
        let listed = app.viewer().get("/api/v1/outflows/").await.json();
        let times = [
            &listed["results"][0]["created_at"],
            &listed["results"][1]["created_at"],
        ];
        assert_eq!(times, [&json!(later), &json!(then)]);
        assert_eq!(
            (
                sold_on(&app, "2026-11-21").await,
                sold_on(&app, "2026-11-22").await
            ),
            (1, 1)
        );
        verified(&app).await;

        app.clock.advance(DAY);
        let id = &listed["results"][0]["id"];
        let deleted = app.admin().delete(&format!("/api/v1/outflows/{id}/")).await;
        deleted.has_status(204);
        assert_eq!(
            (
                sold_on(&app, "2026-11-21").await,
                sold_on(&app, "2026-11-22").await
            ),
            (1, 0)
        );
        assert_eq!(ledger(&app, product, &format!("?as_of={now}")).await, rows);
        assert_eq!(app.admin().quantity_of(product).await, 19);
        verified(&app).await;
    }
);

app_on_both_engines!(
    a_movement_that_comes_back_from_its_file_has_its_last_booking,
    async |app| {
        let product = app.admin().a_product("Arroz", 20).await;
        app.clock.advance(DAY);
        let then = resource::time_text(app.clock.now());
        app.clock.advance(DAY);
        let sold = format!("id,product,quantity,created_at\n7,{product},4,{then}\n");
        load_bytes(&app, OUTFLOWS, &sold).await.unwrap();
        let deleted = app.admin().delete("/api/v1/outflows/7/").await;
        deleted.has_status(204);
        app.change_product(product, json!({"selling_price": "20.00"}))
            .await;
        load_bytes(&app, OUTFLOWS, &sold).await.unwrap();
        let shown = app.logged_in("manager").await.page("/outflows/7/").await;
        has(&shown, &["80.00"]);
        verified(&app).await;
        // The sale leaves its day at the price at which it was booked last.
        let dearer = json!({"selling_price": "30.00"});
        app.change_product(product, dearer).await;
        let deleted = app.admin().delete("/api/v1/outflows/7/").await;
        deleted.has_status(204);
        assert_eq!(sold_on(&app, "2026-11-21").await, 0);
        verified(&app).await;
    }
);

app_on_both_engines!(
    history_that_an_opening_included_moves_no_chart_and_no_past_balance,
    async |app| {
        let then = resource::time_text(app.clock.now());
        app.clock.advance(DAY);
        let product = app.admin().a_product("Arroz", 10).await;
        app.clock.advance(DAY);
        app.sell(product, 1).await;
        app.clock.advance(DAY);
        let yesterday = resource::time_text(app.clock.now());
        app.clock.advance(DAY);
        let sold = format!("product,quantity,created_at\n{product},400,{then}\n");
        load_bytes(&app, OUTFLOWS, sold).await.unwrap();
        assert_eq!(app.admin().quantity_of(product).await, 9);
        let rows = ledger(&app, product, "").await;
        assert_eq!(rows.len(), 4);
        assert_eq!(rows[0]["balance_after"], 9);
        let past = ledger(&app, product, &format!("?as_of={yesterday}")).await;
        assert_eq!(past, rows[2..]);
        let visitor = app.logged_in("manager").await;
        let shown = visitor.page(&format!("/products/{product}/")).await;
        has(&shown, &["Balance: lowest 9, highest 10, now 9"]);
        verified(&app).await;
    }
);

app_on_both_engines!(
    a_sale_by_a_clock_that_is_behind_is_booked_after_the_history_before_it,
    async |app| {
        let then = resource::time_text(app.clock.now());
        app.clock.advance(DAY);
        let product = app.admin().a_product("Arroz", 10).await;
        app.clock.advance(DAY * 2);
        let sold = format!("id,product,quantity,created_at\n7,{product},400,{then}\n");
        load_bytes(&app, OUTFLOWS, sold).await.unwrap();
        let behind = app.clock.now() - DAY;
        app.clock.set(behind);
        app.sell(product, 1).await;
        assert_eq!(ledger(&app, product, "").await[0]["balance_after"], 9);
        verified(&app).await;
        app.clock.advance(DAY * 3);
        let deleted = app.admin().delete("/api/v1/outflows/7/").await;
        deleted.has_status(204);
        app.clock.set(behind);
        app.sell(product, 1).await;
        assert_eq!(ledger(&app, product, "").await[0]["balance_after"], 8);
        verified(&app).await;
    }
);

app_on_both_engines!(
    verify_reports_an_entry_that_is_not_in_the_order_of_time,
    async |app| {
        let product = app.admin().a_product("Arroz", 20).await;
        for units in [4, 1] {
            app.clock.advance(DAY);
            app.sell(product, units).await;
        }
        verified(&app).await;
        let sql = "UPDATE ledger_entries SET created_at = (SELECT min(created_at) FROM ledger_entries) WHERE balance_after = 15";
        app.execute(sql).await;
        let differences = stock::verify(&app.state.db).await.unwrap();
        let told: Vec<_> = differences.iter().map(ToString::to_string).collect();
        let expected = [(16, 11), (15, 19)].map(|(stored, ledger)| {
            format!(
                "product {product}: balance after an entry is {stored}, the ledger says {ledger}"
            )
        });
        assert_eq!(told, expected);
    }
);
