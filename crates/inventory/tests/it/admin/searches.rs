//! Searches and days of what grows without end: the ledger, the audit log, products.

use std::time::Duration;

use serde_json::json;
use test_kit::on_both_engines;

use super::{first_column, has, has_not};
use crate::app::TestApp;

const DAY: Duration = Duration::from_secs(86_400);

/// A product, an outflow of it, and forty days later another product.
async fn shop(app: &TestApp) {
    let admin = app.admin();
    let first = admin.a_product("Café torrado", 50).await;
    let serie = json!({"serie_number": "789"});
    admin
        .patch(&format!("/api/v1/products/{first}/"), serie)
        .await;
    let outflow = json!({"product": first, "quantity": 1});
    admin.post("/api/v1/outflows/", outflow).await.id();
    app.clock.advance(40 * DAY);
    app.admin().a_product("Arroz", 50).await;
}

on_both_engines!(
    the_ledger_is_searched_by_the_words_and_serie_numbers_of_products,
    async |address| {
        let app = TestApp::new(&address).await;
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

on_both_engines!(
    the_ledger_and_products_drill_down_by_year_month_and_day,
    async |address| {
        let app = TestApp::new(&address).await;
        shop(&app).await;
        let visitor = app.superuser().await;
        for (list, query, expected) in [
            ("ledger", "year=2026", vec!["#3", "#2", "#1"]),
            ("ledger", "year=2026&month=11", vec!["#2", "#1"]),
            ("ledger", "year=2026&month=12&day=30", vec!["#3"]),
            ("ledger", "year=2026&month=12&day=29", vec![]),
            ("ledger", "year=2026&month=12&q=cafe", vec![]),
            ("ledger", "year=2026&month=11&product=1", vec!["#2", "#1"]),
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
        has(&page, &[">November</a>", ">December</a>", "All dates"]);
        let page = visitor.page("/admin/products/?year=2026&month=11").await;
        has(&page, &["1 product (<a href=\"?\">2 total</a>)", ">20</a>"]);
        // The API knows no such parameter.
        let all = app
            .admin()
            .get("/api/v1/products/?date_from=2026-12-01&year=2026")
            .await;
        assert_eq!(all.json()["count"], 2);
    }
);

on_both_engines!(
    the_audit_log_is_searched_by_what_was_changed_and_by_whom,
    async |address| {
        let app = TestApp::new(&address).await;
        shop(&app).await;
        let visitor = app.superuser().await;
        visitor
            .done("/admin/brands/add/", &[("name", "Açaí do Pará")])
            .await;
        let page = visitor.page("/admin/audit-log/?q=ACAI+para").await;
        has(&page, &["Açaí do Pará", "1 audit entry ("]);
        has_not(&page, &["Café torrado", "The search looked at"]);
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
