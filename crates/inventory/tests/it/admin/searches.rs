//! Search and dates in lists that grow without end: the ledger, the audit log, products.

use std::time::Duration;

use serde_json::json;
use test_kit::html::{has, has_not};

use super::first_column;
use crate::app::{TestApp, app_on_both_engines};

const DAY: Duration = Duration::from_secs(86_400);

/// A product, an outflow of it, and forty days later another product.
async fn shop(app: &TestApp) {
    let admin = app.admin();
    let first = admin.a_product("Café torrado", 50).await;
    let serie = json!({"serie_number": "789"});
    admin.change_product(first, serie).await;
    admin.sell(first, 1).await;
    app.clock.advance(40 * DAY);
    app.admin().a_product("Arroz", 50).await;
}

app_on_both_engines!(
    the_ledger_is_searched_by_the_words_and_serie_numbers_of_products,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        for (query, expected) in [
            ("", vec!["#3", "#2", "#1"]),
            ("?o=8", vec!["#1", "#2", "#3"]),
            ("?q=cafe", vec!["#2", "#1"]),
            ("?q=cafe&o=8", vec!["#1", "#2"]),
            ("?q=789", vec!["#2", "#1"]),
            ("?q=cafe&product=2", vec![]),
            ("?q=cafe&product=1", vec!["#2", "#1"]),
            ("?q=nothing", vec![]),
        ] {
            let page = visitor.page(&format!("/admin/ledger/{query}")).await;
            assert_eq!(first_column(&page), expected, "{query}");
        }
        let page = visitor.page("/admin/ledger/?q=cafe").await;
        has(&page, &["2 ledger entries (<a href=\"?\">3 total</a>)"]);
    }
);

app_on_both_engines!(
    the_ledger_movements_and_products_drill_down_by_year_month_and_day,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        for (list, query, expected) in [
            ("ledger", "year=2026", vec!["#3", "#2", "#1"]),
            ("ledger", "year=2026&month=11", vec!["#2", "#1"]),
            ("ledger", "year=2026&month=12&day=30", vec!["#3"]),
            ("ledger", "year=2026&month=12&day=29", vec![]),
            ("ledger", "year=2026&month=12&q=cafe", vec![]),
            ("ledger", "year=2026&month=11&product=1", vec!["#2", "#1"]),
            ("outflows", "year=2026", vec!["#1"]),
            ("outflows", "year=2026&month=11&day=20", vec!["#1"]),
            ("outflows", "year=2026&month=12", vec![]),
            ("products", "year=2026", vec!["Arroz", "Café torrado"]),
            ("products", "year=2026&month=11", vec!["Café torrado"]),
            ("products", "year=2026&month=11&o=-7", vec!["Café torrado"]),
            ("products", "year=2026&month=12&category=2", vec!["Arroz"]),
            ("products", "year=2026&month=11&q=arroz", vec![]),
        ] {
            let page = visitor.page(&format!("/admin/{list}/?{query}")).await;
            assert_eq!(first_column(&page), expected, "{list} {query}");
        }
        let page = visitor.page("/admin/ledger/?year=2026").await;
        let november = "href=\"?year=2026&#38;month=11\">November</a>";
        has(&page, &[november, ">December</a>", "All dates"]);
        let page = visitor.page("/admin/products/?year=2026&month=11").await;
        has(&page, &["1 product (<a href=\"?\">2 total</a>)", ">20</a>"]);
        // The API has no such parameter.
        let all = app
            .admin()
            .get("/api/v1/products/?date_from=2026-12-01&year=2026")
            .await;
        assert_eq!(all.json()["count"], 2);
    }
);

app_on_both_engines!(
    the_audit_log_is_searched_by_what_was_changed_and_by_whom,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        visitor
            .done("/admin/brands/add/", &[("name", "Açaí do Pará")])
            .await;
        let page = visitor.page("/admin/audit-log/?q=ACAI+para").await;
        has(&page, &["Açaí do Pará", "1 audit entry ("]);
        has_not(&page, &["Café torrado", "The search covers"]);
        let page = visitor.page("/admin/audit-log/?q=root+acai").await;
        has(&page, &["1 audit entry ("]);
        let page = visitor.page("/admin/audit-log/?q=cafe&model=product").await;
        has(&page, &["2 audit entries ("]);
        let page = visitor.page("/admin/audit-log/?q=cafe&model=brand").await;
        has(&page, &["Nothing was found."]);
        let page = visitor
            .page("/admin/audit-log/?q=arroz&year=2026&month=11")
            .await;
        has(&page, &["Nothing was found."]);
    }
);

app_on_both_engines!(
    movements_are_searched_by_product_serie_number_description_and_user,
    async |app| {
        shop(&app).await;
        app.admin().a_supplier("Sul").await;
        for (product, quantity, description) in [
            (1, 4, "Pedido do João"),
            (2, 30, "Café trocado"),
            (2, 5, ""),
        ] {
            let inflow = json!({"supplier": 1, "product": product, "quantity": quantity, "description": description});
            app.manager().post("/api/v1/inflows/", inflow).await.id();
            app.clock.advance(DAY);
        }
        let visitor = app.superuser().await;
        for (list, query, expected) in [
            ("inflows", "q=torrado", vec!["#1"]),
            ("inflows", "q=789", vec!["#1"]),
            ("inflows", "q=joao", vec!["#1"]),
            ("inflows", "q=torrado+joao+pedido", vec!["#1"]),
            ("inflows", "q=cafe", vec!["#2", "#1"]),
            ("inflows", "q=cafe&o=1", vec!["#1", "#2"]),
            ("inflows", "q=cafe&o=-4", vec!["#2", "#1"]),
            ("inflows", "q=cafe&product=2", vec!["#2"]),
            ("inflows", "q=cafe&supplier=2", vec![]),
            ("inflows", "q=manager", vec!["#3", "#2", "#1"]),
            ("inflows", "q=manager&o=4", vec!["#1", "#3", "#2"]),
            ("inflows", "q=manager&year=2026&month=11", vec![]),
            ("inflows", "q=nothing", vec![]),
            ("outflows", "q=cafe", vec!["#1"]),
            ("outflows", "q=admin", vec!["#1"]),
            ("outflows", "q=arroz", vec![]),
        ] {
            let page = visitor.page(&format!("/admin/{list}/?{query}")).await;
            assert_eq!(first_column(&page), expected, "{list} {query}");
        }
        let page = visitor.page("/admin/inflows/?q=cafe").await;
        has(&page, &["2 inflows (<a href=\"?\">3 total</a>)"]);
        has_not(&page, &["The search covers"]);
    }
);

app_on_both_engines!(a_search_of_movements_ends_and_says_so, async |app| {
    app.admin().a_product("Arroz", 50).await;
    app.execute(
        "INSERT INTO outflows (product_id, quantity, created_at)
                 WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 1001)
                 SELECT p.id, n.number, p.created_at FROM numbers AS n CROSS JOIN products AS p",
    )
    .await;
    let visitor = app.superuser().await;
    let page = visitor.page("/admin/outflows/?q=arroz&o=3").await;
    has(&page, &["1,000 outflows (", "and shows at most 1,000."]);
    // Records of the same moment are sorted by id, so the first record is not among the newest.
    assert_eq!(first_column(&page).first().unwrap(), "#2");
    let file = visitor.get("/admin/outflows/export/?q=arroz&o=3").await;
    assert_eq!(file.text.lines().count(), 1 + 1_000, "the list's records");
});

app_on_both_engines!(
    deliveries_and_analyses_are_searched_by_what_they_are_about,
    async |app| {
        let visitor = app.superuser().await;
        let endpoint = [("url", "https://erp.example/hook")];
        visitor.submit("/admin/endpoints/add/", &endpoint).await;
        for title in ["Café torrado", "Arroz"] {
            let product = app.admin().a_product(title, 10).await;
            app.admin().sell(product, 1).await;
            inventory::analysis::work_once(&app.state).await.unwrap();
        }
        inventory::events::pass(&app.state).await.unwrap();
        for (list, query, expected) in [
            ("deliveries", "q=torrado", 3),
            ("deliveries", "q=low_stock", 2),
            ("deliveries", "q=arroz+outflow.created", 1),
            ("deliveries", "q=erp.example", 6),
            ("deliveries", "q=erp.example&state=failed", 0),
            ("deliveries", "q=nothing", 0),
            ("analyses", "q=CAFE", 1),
            ("analyses", "q=cafe&product=2", 0),
            ("analyses", "q=torrado+nothing", 0),
            ("analyses", "", 2),
        ] {
            let page = visitor.page(&format!("/admin/{list}/?{query}")).await;
            assert_eq!(first_column(&page).len(), expected, "{list} {query}");
        }
        let record = app.viewer().get("/api/v1/analyses/").await.json();
        let result = record["results"][0]["result"].as_str().unwrap();
        let word = result
            .split_whitespace()
            .find(|word| word.len() > 3)
            .unwrap();
        let page = visitor.page(&format!("/admin/analyses/?q={word}")).await;
        assert_eq!(first_column(&page).len(), 2, "{word}");
    }
);
