//! The aggregates behind lists and the dashboard are exact at any moment: whichever process
//! compacts them, after failures, and with large numbers.

use std::time::Duration;

use db::{Conn, Error, Timestamp};
use inventory::{
    aggregates::{self, DayAggregate, Dimension, StockAggregate, day_of},
    stock::movements::Movement,
};
use serde_json::json;

use crate::app::{TestApp, app_on_both_engines};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn count(app: &TestApp, list: &str) -> u64 {
    let answer = app.viewer().get(&format!("/api/v1/{list}")).await;
    answer.json()["count"].as_u64().unwrap()
}

async fn deltas(app: &TestApp) -> i64 {
    app.number("SELECT count(*) FROM aggregate_deltas").await
}

async fn sales_of(app: &TestApp, day: Timestamp) -> DayAggregate {
    let read = async move |conn: &mut Conn| {
        let days = aggregates::days(conn, Movement::Outflow, day, day + DAY).await?;
        Ok::<_, Error>(days.values().next().copied().unwrap_or_default())
    };
    app.state.db.read(read).await.unwrap()
}

async fn stock_of(app: &TestApp, dimension: Dimension, record: i64) -> StockAggregate {
    let read = async |conn: &mut Conn| aggregates::stock(conn).await;
    let stock = app.state.db.read::<_, Error, _>(read).await.unwrap();
    stock.get(&(dimension, record)).copied().unwrap_or_default()
}

async fn verified(app: &TestApp) {
    assert_eq!(aggregates::verify(&app.state.db).await.unwrap(), []);
}

fn cents(aggregate: &DayAggregate) -> [String; 4] {
    [
        aggregate.cost,
        aggregate.value,
        aggregate.present_cost,
        aggregate.present_value,
    ]
    .map(|sum| sum.to_string())
}

app_on_both_engines!(
    lists_count_by_day_and_supplier_without_counting,
    async |app| {
        let product = app.admin().a_product("Arroz", 500).await;
        let mut suppliers = Vec::new();
        for name in ["S", "T"] {
            suppliers.push(app.admin().a_supplier(name).await);
        }
        let mut inflow = 0;
        for supplier in [0, 0, 1] {
            inflow = app.receive(suppliers[supplier], product, 5).await;
            for _ in 0..2 {
                app.sell(product, 1).await;
            }
            app.clock.advance(DAY);
        }
        // The counts are the same before, during and after compaction.
        for _ in 0..2 {
            for (list, expected) in [
                ("products/", 1),
                ("products/?category=1", 1),
                ("products/?category=2", 0),
                ("products/?brand=1", 1),
                ("inflows/", 3),
                ("outflows/", 6),
                ("outflows/?date_from=2026-11-21", 4),
                ("outflows/?date_to=2026-11-21", 4),
                ("outflows/?date_from=2026-11-21&date_to=2026-11-21", 2),
                ("outflows/?date_from=2027-01-01", 0),
                ("inflows/?supplier=1", 2),
                ("inflows/?supplier=2&date_from=2026-11-22", 1),
                ("inflows/?supplier=2&date_to=2026-11-21", 0),
                ("inflows/?supplier=0", 0),
                ("inflows/?supplier=-1", 0),
                ("inflows/?supplier=1&product=1", 2),
            ] {
                assert_eq!(count(&app, list).await, expected, "{list}");
            }
            aggregates::compact_all(&app.state.db).await.unwrap();
            assert_eq!(deltas(&app).await, 0);
        }
        let path = format!("/api/v1/inflows/{inflow}/");
        assert_eq!(app.admin().delete(&path).await.status, 204);
        assert_eq!(count(&app, "inflows/?supplier=2").await, 0);
        verified(&app).await;
    }
);

app_on_both_engines!(
    a_sale_keeps_its_price_and_a_deleted_one_leaves_its_own_day,
    async |app| {
        let day = day_of(app.clock.now());
        let product = app.admin().a_product("Arroz", 100).await;
        let first = app.sell(product, 3).await;
        let dearer = json!({"selling_price": "20.00"});
        app.change_product(product, dearer).await;
        app.sell(product, 2).await;
        assert_eq!(
            cents(&sales_of(&app, day).await),
            ["4000", "7750", "4000", "10000"]
        );
        app.clock.advance(DAY);
        app.admin()
            .delete(&format!("/api/v1/outflows/{first}/"))
            .await
            .has_status(204);
        let left = sales_of(&app, day).await;
        assert_eq!((left.movements, left.units.to_string().as_str()), (1, "2"));
        assert_eq!(cents(&left), ["1600", "4000", "1600", "4000"]);
        assert_eq!(sales_of(&app, day + DAY).await, DayAggregate::default());
        verified(&app).await;
        aggregates::compact_all(&app.state.db).await.unwrap();
        verified(&app).await;
    }
);

app_on_both_engines!(
    stock_moves_with_its_product_to_another_category,
    async |app| {
        let product = app.admin().a_product("Arroz", 10).await;
        let other = app.admin().a_category("Outra").await;
        let moved = json!({"category": other, "quantity": 4});
        app.change_product(product, moved).await;
        assert_eq!(
            stock_of(&app, Dimension::Category, 1).await,
            StockAggregate::default()
        );
        let moved = stock_of(&app, Dimension::Category, other).await;
        assert_eq!(
            (
                moved.products,
                moved.units.to_string(),
                moved.cost.to_string(),
                moved.value.to_string()
            ),
            (1, "4".to_owned(), "3200".to_owned(), "5000".to_owned())
        );
        assert_eq!(stock_of(&app, Dimension::Brand, 1).await, moved);
        verified(&app).await;
        let path = format!("/api/v1/products/{product}/");
        assert_eq!(app.admin().delete(&path).await.status, 204);
        assert_eq!(
            stock_of(&app, Dimension::Category, other).await,
            StockAggregate::default()
        );
        assert_eq!(count(&app, "products/").await, 0);
        verified(&app).await;
    }
);

app_on_both_engines!(numbers_beyond_every_column_stay_exact, async |app| {
    let day = day_of(app.clock.now());
    let dearest = json!({
        "title": "Tudo", "category": 1, "brand": 1, "cost_price": "99999999999999999999.99",
        "selling_price": "99999999999999999999.99", "quantity": i64::MAX,
    });
    app.admin().a_product("Nada", 0).await;
    for _ in 0..2 {
        app.admin()
            .post("/api/v1/products/", dearest.clone())
            .await
            .id();
    }
    let worth = || async { stock_of(&app, Dimension::Brand, 1).await.value.to_string() };
    assert_eq!(worth().await, "184467440737095516139981553255926290448386");
    for _ in 0..2 {
        let sold = app.sell(2, i64::MAX).await;
        aggregates::compact_all(&app.state.db).await.unwrap();
        assert_eq!(
            cents(&sales_of(&app, day).await)[1],
            "92233720368547758069990776627963145224193"
        );
        app.admin()
            .delete(&format!("/api/v1/outflows/{sold}/"))
            .await
            .has_status(204);
    }
    app.sell(2, i64::MAX).await;
    app.change_product(2, json!({"quantity": i64::MAX})).await;
    app.sell(2, i64::MAX).await;
    // More units in a day than 64 bits hold are valued at a new price.
    app.change_product(2, json!({"selling_price": "0.01"}))
        .await;
    let sales = sales_of(&app, day).await;
    assert_eq!(sales.units.to_string(), "18446744073709551614");
    assert_eq!(sales.present_value.to_string(), "18446744073709551614");
    verified(&app).await;
    aggregates::compact_all(&app.state.db).await.unwrap();
    assert_eq!(worth().await, "92233720368547758069990776627963145224193");
    verified(&app).await;
});

app_on_both_engines!(a_fold_that_fails_in_between_changes_nothing, async |app| {
    let product = app.admin().a_product("Arroz", 100).await;
    app.sell(product, 3).await;
    let before = (
        deltas(&app).await,
        sales_of(&app, day_of(app.clock.now())).await,
    );
    let crashed = app
        .state
        .db
        .write(async |tx| {
            assert!(aggregates::compact(tx).await? > 0);
            Err::<(), _>(Error::other("the process dies here"))
        })
        .await;
    assert!(crashed.is_err());
    assert_eq!(
        (
            deltas(&app).await,
            sales_of(&app, day_of(app.clock.now())).await
        ),
        before
    );
    aggregates::compact_all(&app.state.db).await.unwrap();
    assert_eq!(sales_of(&app, day_of(app.clock.now())).await, before.1);
    verified(&app).await;
});

app_on_both_engines!(
    many_workers_fold_while_goods_move_and_every_count_is_exact,
    async |app| {
        let product = app.admin().a_product("Arroz", 10_000).await;
        let sales = async {
            for sold in 1..=60 {
                app.sell(product, 1).await;
                assert_eq!(count(&app, "outflows/").await, sold);
            }
        };
        let fold = async || {
            for _ in 0..60 {
                aggregates::compact_batch(&app.state.db).await.unwrap();
            }
        };
        tokio::join!(sales, fold(), fold(), fold());
        verified(&app).await;
        aggregates::compact_all(&app.state.db).await.unwrap();
        assert_eq!(
            (deltas(&app).await, count(&app, "outflows/").await),
            (0, 60)
        );
        verified(&app).await;
    }
);

app_on_both_engines!(
    prices_change_while_goods_are_sold_and_every_total_is_exact,
    async |app| {
        let product = app.admin().a_product("Arroz", 10_000).await;
        let sales = async || {
            for _ in 0..25 {
                app.sell(product, 3).await;
            }
        };
        let prices = async {
            for cents in 10..35 {
                let body = json!({"selling_price": format!("1.{cents}"), "cost_price": "0.99"});
                app.change_product(product, body).await;
            }
        };
        tokio::join!(sales(), sales(), prices);
        verified(&app).await;
        aggregates::compact_all(&app.state.db).await.unwrap();
        verified(&app).await;
    }
);

app_on_both_engines!(
    what_the_aggregates_do_not_have_right_is_named,
    async |app| {
        let product = app.admin().a_product("Arroz", 100).await;
        app.sell(product, 3).await;
        aggregates::compact_all(&app.state.db).await.unwrap();
        let break_it = async |tx: &mut db::Tx| {
            tx.execute(
                "UPDATE stock_aggregates SET products = 4 WHERE dimension = 'brand'",
                &[],
            )
            .await?;
            tx.execute("UPDATE daily_aggregates SET movements = 7", &[])
                .await
        };
        app.state.db.write::<_, Error, _>(break_it).await.unwrap();
        let differences = aggregates::verify(&app.state.db).await.unwrap();
        let texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 2);
        assert!(
            texts[0].starts_with("outflows of 2026-11-20: the aggregate is 7 movements of 3 units"),
            "{texts:?}"
        );
        assert!(
            texts[1].starts_with("stock of brand 1: the aggregate is 4 products"),
            "{texts:?}"
        );
    }
);

/// The queries of the dashboard and the lists on large tables, with the index that each engine's
/// plan must use.
const EXPLAINED: [(&str, &str, &str); 4] = [
    (
        "EXPLAIN QUERY PLAN SELECT sum(movements) FROM daily_aggregates WHERE movement = 'outflow' AND supplier_id = 0 AND day >= 0",
        "EXPLAIN SELECT sum(movements) FROM daily_aggregates WHERE movement = 'outflow' AND supplier_id = 0 AND day >= now()",
        "daily_aggregates",
    ),
    (
        "EXPLAIN QUERY PLAN SELECT sum(quantity) FROM outflows WHERE product_id = 1 AND created_at >= 0",
        "EXPLAIN SELECT sum(quantity) FROM outflows WHERE product_id = 1 AND created_at >= now()",
        "outflows_product_created_at",
    ),
    (
        "EXPLAIN QUERY PLAN SELECT quantity FROM product_stock WHERE quantity < 10 AND threshold IS NULL
         ORDER BY quantity, product_id LIMIT 40",
        "EXPLAIN SELECT quantity FROM product_stock WHERE quantity < 10 AND threshold IS NULL
         ORDER BY quantity, product_id LIMIT 40",
        "product_stock_quantity",
    ),
    (
        "EXPLAIN QUERY PLAN SELECT id FROM outflows ORDER BY created_at DESC, id LIMIT 8",
        "EXPLAIN SELECT id FROM outflows ORDER BY created_at DESC, id LIMIT 8",
        "outflows_created_at",
    ),
];

app_on_both_engines!(large_tables_are_asked_by_their_indexes, async |app| {
    for (on_sqlite, on_postgres, index) in EXPLAINED {
        let explain = async move |tx: &mut db::Tx| {
            if tx.engine() == db::Engine::Sqlite {
                return tx.all(on_sqlite, &[], |row| row.get::<String>(3)).await;
            }
            // PostgreSQL scans tables this small unless sequential scans are disabled.
            for method in [
                "SET LOCAL enable_seqscan = off",
                "SET LOCAL enable_bitmapscan = off",
            ] {
                tx.execute(method, &[]).await?;
            }
            tx.all(on_postgres, &[], |row| row.get::<String>(0)).await
        };
        let plan = app.state.db.write::<_, Error, _>(explain).await.unwrap();
        let plan = plan.join("\n");
        assert!(plan.contains(index), "{index}\n{plan}");
        assert!(
            !plan.contains("SCAN daily_aggregates") && !plan.contains("Seq Scan"),
            "{plan}"
        );
    }
});
