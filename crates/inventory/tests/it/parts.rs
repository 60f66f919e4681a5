//! If one part of a page cannot be read, a sentence replaces it and the other parts are shown.

use test_kit::html;

use crate::{
    app::{Answer, TestApp, app_on_both_engines},
    visitor::Visitor,
};

const UNREAD: &str = "This part could not be loaded;";

/// A removed table, a page, the number of its parts that need the table, and a text that the page
/// shows all the same.
const CASES: [(&str, &str, usize, &[&str]); 8] = [
    (
        "analyses",
        "/",
        1,
        &[
            "Latest analysis",
            "R$\u{a0}24.00",
            "Arroz",
            "Latest movements",
        ],
    ),
    (
        "deliveries",
        "/",
        1,
        &["Undelivered notifications", "R$\u{a0}24.00", "Arroz"],
    ),
    (
        "stock_aggregates",
        "/",
        1,
        &["Sales by day", "Arroz", "Latest movements"],
    ),
    (
        "outflows",
        "/",
        2,
        &["Low stock", "Units in stock", "Sales by day"],
    ),
    (
        "ledger_entries",
        "/",
        1,
        &["Low stock", "Units in stock", "Latest movements"],
    ),
    (
        "analyses",
        "/products/1/",
        1,
        &["Restock", "Opening", "Arroz"],
    ),
    (
        "audit_entries",
        "/products/1/",
        1,
        &["Change history", "Opening", "Arroz"],
    ),
    (
        "audit_entries",
        "/admin/",
        1,
        &["Recent actions", "Products"],
    ),
];

async fn rename(app: &TestApp, from: &'static str, to: &'static str) {
    let rename = async move |tx: &mut db::Tx| {
        let mut query = db::Query::new("ALTER TABLE ");
        query.push(from).push(" RENAME TO ").push(to);
        tx.execute_of(&query).await
    };
    app.state.db.write::<_, db::Error, _>(rename).await.unwrap();
}

/// Reads the page while the table is missing.
async fn without(app: &TestApp, visitor: &Visitor<'_>, table: &'static str, path: &str) -> Answer {
    rename(app, table, "gone").await;
    let page = visitor.get(path).await;
    rename(app, "gone", table).await;
    page
}

app_on_both_engines!(
    a_part_that_cannot_be_read_is_told_in_its_place_beside_the_rest_of_the_page,
    async |app| {
        app.admin().a_product("Arroz", 3).await;
        let visitor = app.superuser().await;
        for (table, path, parts, stands) in CASES {
            let whole = visitor.get(path).await;
            assert!(!whole.text.contains(UNREAD), "{path} {whole:?}");
            let page = without(&app, &visitor, table, path).await;
            assert_eq!(page.status, 200, "{table} {path} {page:?}");
            html::check(&page.text);
            assert_eq!(
                page.text.matches(UNREAD).count(),
                parts,
                "{table} {path} {page:?}"
            );
            for part in stands {
                assert!(
                    page.text.contains(part),
                    "{part} without {table} at {path}: {page:?}"
                );
            }
        }
    }
);

app_on_both_engines!(what_a_page_is_for_cannot_be_left_out_of_it, async |app| {
    app.admin().a_product("Arroz", 3).await;
    let visitor = app.superuser().await;
    for (table, path) in [("products", "/products/1/"), ("analyses", "/analyses/")] {
        let page = without(&app, &visitor, table, path).await;
        assert_eq!(page.status, 500, "{path}");
    }
});

#[tokio::test(flavor = "multi_thread")]
async fn who_probes_is_told_in_json_that_the_database_is_away() {
    let database = test_kit::database::Database::new(test_kit::database::Engine::Sqlite);
    let app = TestApp::new(database.address()).await;
    app.state.db.clone().close().await;
    let answer = app.visitor().get("/ready").await;
    answer.is(503, &serde_json::json!({"detail": "Service unavailable"}));
}
