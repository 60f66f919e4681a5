//! Generated data sets have the exact number of records, a consistent ledger, and the same content
//! for the same seed. The shop can be used afterwards.

use std::sync::Arc;

use generator::{GenerateError, Plan, generate};
use inventory::{aggregates, stock};

use crate::app::{TestApp, app_on_both_engines};

fn plan(app: &TestApp, products: u64, movements: u64) -> Plan {
    Plan {
        products,
        movements,
        seed: 42,
        days: 180,
        until: app.clock.now(),
    }
}

async fn counts(app: &TestApp) -> (i64, i64, i64, i64) {
    let read = async |conn: &mut db::Conn| {
        conn.one(
            "SELECT (SELECT count(*) FROM products), (SELECT count(*) FROM inflows), (SELECT count(*) FROM outflows),
                    (SELECT count(*) FROM product_stock WHERE quantity < 10)",
            &[],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .await
    };
    app.state.db.read(read).await.unwrap()
}

async fn indexes(app: &TestApp) -> i64 {
    let sql = match app.state.db.engine() {
        db::Engine::Sqlite => "SELECT count(*) FROM sqlite_master WHERE type = 'index'",
        db::Engine::Postgres => {
            "SELECT count(*) + (SELECT count(*) FROM pg_constraint WHERE contype = 'f') FROM pg_indexes WHERE schemaname = current_schema()"
        }
    };
    app.number(sql).await
}

app_on_both_engines!(
    a_data_set_has_exactly_what_was_asked_for_and_its_ledger_adds_up,
    async |app| {
        let before = indexes(&app).await;
        // Enough for the indexes to be built afterwards.
        generate(&app.state.db, plan(&app, 500, 50_000), Arc::new(|_| ()))
            .await
            .unwrap();
        let (products, inflows, outflows, low) = counts(&app).await;
        assert_eq!((products, inflows + outflows), (500, 50_000));
        assert!(outflows > inflows * 2, "{inflows} {outflows}");
        assert!(low > 0 && low < 250, "{low}");
        assert_eq!(stock::verify(&app.state.db).await.unwrap(), Vec::new());
        assert_eq!(aggregates::verify(&app.state.db).await.unwrap(), Vec::new());
        assert_eq!(indexes(&app).await, before);
        // New ids follow the generated ones.
        let product = app.admin().a_product("Novo", 3).await;
        assert_eq!(product, 501);
        assert_eq!(app.admin().sell(product, 1).await, outflows + 1);
    }
);

app_on_both_engines!(
    made_up_records_are_never_mixed_with_real_ones,
    async |app| {
        app.admin().a_product("Arroz", 3).await;
        let refused = generate(&app.state.db, plan(&app, 5, 10), Arc::new(|_| ())).await;
        assert!(matches!(refused, Err(GenerateError::NotEmpty)));
        assert_eq!(counts(&app).await.0, 1);
    }
);

app_on_both_engines!(the_same_seed_makes_the_same_catalogue, async |app| {
    generate(&app.state.db, plan(&app, 60, 2_000), Arc::new(|_| ()))
        .await
        .unwrap();
    let list = app
        .viewer()
        .get("/api/v1/products/?page_size=100&ordering=id")
        .await
        .json();
    let titles: Vec<&str> = list["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|product| product["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles.len(), 60);
    assert_eq!(titles[0], "Arroz branco tipo 1 Bom Grão 1 kg");
    let newest = app
        .viewer()
        .get("/api/v1/outflows/?ordering=-created_at&page_size=1")
        .await
        .json();
    assert!(newest["results"][0]["created_at"].as_str().unwrap() <= crate::app::NOW);
});
