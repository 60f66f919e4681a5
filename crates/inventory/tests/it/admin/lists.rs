//! Lists: order, search, filters, dates, pages, and addresses with invalid parameters.

use serde_json::json;
use test_kit::html::{has, has_not};

use super::first_column;
use crate::{
    app::{TestApp, app_on_both_engines},
    visitor::redirects,
};

/// Three products of two brands; each column sorts them in another order.
async fn shop(app: &TestApp) {
    let admin = app.admin();
    for name in ["Grãos", "Bebidas"] {
        admin.a_category(name).await;
    }
    for name in ["Zeta", "Alfa"] {
        admin.a_brand(name).await;
    }
    for (title, category, brand, price, serie) in [
        ("Café", 2, 1, "30.00", json!("789")),
        ("arroz", 1, 2, "10.00", json!(null)),
        ("Feijão", 1, 1, "20.00", json!(null)),
    ] {
        let product = json!({
            "title": title, "category": category, "brand": brand, "serie_number": serie,
            "cost_price": "1.00", "selling_price": price, "quantity": 5,
        });
        admin.post("/api/v1/products/", product).await.id();
    }
}

app_on_both_engines!(
    columns_sort_by_click_by_several_with_their_priority_and_can_be_removed,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let page = visitor.page("/admin/products/").await;
        assert_eq!(first_column(&page), ["arroz", "Café", "Feijão"]);
        has(
            &page,
            &[
                "aria-sort=\"ascending\"",
                "href=\"?o=-1\"",
                "data-label=\"Serial number\"><span>-</span>",
            ],
        );
        let page = visitor.page("/admin/products/?o=3.-1").await;
        assert_eq!(first_column(&page), ["arroz", "Feijão", "Café"]);
        has(
            &page,
            &[
                "title=\"Sorting priority\">1</span>",
                "title=\"Sorting priority\">2</span>",
                "href=\"?o=-1\" title=\"Remove from sorting\"",
                "href=\"?o=-3.-1\"",
            ],
        );
        let page = visitor.page("/admin/products/?o=-6").await;
        assert_eq!(first_column(&page), ["Café", "Feijão", "arroz"]);
    }
);

app_on_both_engines!(
    every_heading_that_sorts_leads_to_a_sorted_list,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let endpoint = [("url", "https://b.example/"), ("description", "")];
        visitor.submit("/admin/endpoints/add/", &endpoint).await;
        let links = |page: &str, start: &str| -> Vec<String> {
            let start = format!("href=\"{start}");
            let parts = page.split(&start).skip(1);
            parts
                .map(|part| part[..part.find('"').unwrap()].to_owned())
                .collect()
        };
        let index = visitor.page("/admin/").await;
        let mut followed = Vec::new();
        let models = links(&index, "/admin/")
            .into_iter()
            .filter(|path| path.matches('/').count() == 1 && path != "password_change/");
        for model in models {
            let list = format!("/admin/{model}");
            for order in links(&visitor.page(&list).await, "?o=") {
                let path = format!("{list}?o={order}");
                visitor.page(&path).await;
                followed.push(path);
            }
        }
        for known in ["/admin/endpoints/?o=4", "/admin/products/?o=6"] {
            assert!(followed.iter().any(|path| path == known), "{followed:?}");
        }
    }
);

app_on_both_engines!(
    users_groups_and_endpoints_are_searched_filtered_and_sorted_without_case_and_accents,
    async |app| {
        let visitor = app.superuser().await;
        for (id, username, email, others) in [
            (
                1,
                "João",
                "joao@loja.example",
                [("staff", "1"), ("active", "1")],
            ),
            (2, "ana", "", [("active", "1"), ("groups:1", "1")]),
            (
                3,
                "Bia",
                "bia@loja.example",
                [("staff", "1"), ("groups:2", "1")],
            ),
        ] {
            let fields = [&[("username", username), ("email", email)][..], &others].concat();
            visitor
                .done(&format!("/admin/users/{id}/change/"), &fields)
                .await;
        }
        let group = [("name", "Época"), ("permissions:add_brand", "1")];
        visitor.done("/admin/groups/add/", &group).await;
        for (url, description) in [("https://b.example/", "Época"), ("https://a.example/", "")] {
            let endpoint = [("url", url), ("description", description)];
            visitor.submit("/admin/endpoints/add/", &endpoint).await;
        }
        let (first, second) = ("https://a.example/", "https://b.example/");
        for (list, query, expected) in [
            ("users", "", vec!["ana", "Bia", "João", "root"]),
            ("users", "o=-1", vec!["root", "João", "Bia", "ana"]),
            ("users", "o=4", vec!["ana", "root", "Bia", "João"]),
            ("users", "o=5.1", vec!["Bia", "ana", "João", "root"]),
            ("users", "o=6.-1", vec!["ana", "root", "João", "Bia"]),
            ("users", "o=7", vec!["João", "ana", "Bia", "root"]),
            ("users", "o=-7", vec!["root", "João", "ana", "Bia"]),
            ("users", "q=JOAO", vec!["João"]),
            ("users", "q=loja+bia", vec!["Bia"]),
            ("users", "q=loja_bia", vec![]),
            ("users", "staff=1", vec!["Bia", "João", "root"]),
            ("users", "staff=0&q=loja", vec![]),
            ("users", "groups=2", vec!["Bia"]),
            ("users", "groups=2&active=1", vec![]),
            ("refresh-tokens", "", vec!["ana", "Bia", "João", "root"]),
            (
                "refresh-tokens",
                "o=-3.-1",
                vec!["root", "João", "Bia", "ana"],
            ),
            ("refresh-tokens", "q=joao", vec!["João"]),
            ("refresh-tokens", "q=loja", vec![]),
            ("groups", "", vec!["Admin", "Época", "Managers"]),
            ("groups", "o=2.-1", vec!["Época", "Managers", "Admin"]),
            ("groups", "o=3", vec!["Época", "Managers", "Admin"]),
            ("groups", "q=EPOCA", vec!["Época"]),
            ("endpoints", "", vec![first, second]),
            ("endpoints", "o=-2", vec![second, first]),
            ("endpoints", "q=EPOCA", vec![second]),
            ("endpoints", "enabled=1&o=3.-1", vec![second, first]),
            ("endpoints", "enabled=0", vec![]),
        ] {
            let page = visitor.page(&format!("/admin/{list}/?{query}")).await;
            assert_eq!(first_column(&page), expected, "{list} {query}");
        }
    }
);

app_on_both_engines!(
    sessions_are_searched_filtered_and_sorted_while_they_are_open,
    async |app| {
        app.staff("clerk", &["view_brand"]).await;
        app.clock.advance(std::time::Duration::from_secs(60));
        app.logged_in("manager").await;
        app.clock.advance(std::time::Duration::from_secs(60));
        let visitor = app.superuser().await;
        for (query, expected) in [
            ("", vec!["root", "manager", "clerk"]),
            ("o=1", vec!["clerk", "manager", "root"]),
            ("o=2.-1", vec!["root", "manager", "clerk"]),
            ("o=4", vec!["clerk", "manager", "root"]),
            ("q=MANAGER", vec!["manager"]),
            ("q=clerk+root", vec![]),
            ("user=4", vec!["clerk"]),
        ] {
            let page = visitor.page(&format!("/admin/sessions/?{query}")).await;
            assert_eq!(first_column(&page), expected, "{query}");
        }
        // The first session has just ended, and its row is still stored.
        let lifetime = inventory::accounts::session::SHORT_LIFETIME;
        app.clock
            .advance(lifetime.saturating_sub(std::time::Duration::from_secs(120)));
        let page = visitor.page("/admin/sessions/?o=1").await;
        assert_eq!(first_column(&page), ["manager", "root"]);
    }
);

app_on_both_engines!(
    thresholds_are_searched_filtered_and_sorted_without_case_and_accents,
    async |app| {
        shop(&app).await;
        for (product, threshold) in [(1, 3), (2, 5), (3, 3)] {
            app.admin().set_threshold(product, threshold).await;
        }
        app.admin().a_product("Açaí", 5).await;
        let visitor = app.superuser().await;
        for (query, expected) in [
            ("", vec!["arroz", "Café", "Feijão"]),
            ("o=-1", vec!["Feijão", "Café", "arroz"]),
            ("o=3.-1", vec!["Feijão", "Café", "arroz"]),
            ("o=2", vec!["Café", "arroz", "Feijão"]),
            ("q=FEIJAO", vec!["Feijão"]),
            ("q=acai", vec![]),
            ("product=1", vec!["Café"]),
            ("product=1&q=feijao", vec![]),
        ] {
            let page = visitor.page(&format!("/admin/thresholds/?{query}")).await;
            assert_eq!(first_column(&page), expected, "{query}");
        }
    }
);

app_on_both_engines!(
    a_search_tells_how_many_it_found_and_leads_to_the_total,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let page = visitor.page("/admin/products/?q=CAFE").await;
        assert_eq!(first_column(&page), ["Café"]);
        has(
            &page,
            &["1 product (<a href=\"?\">3 total</a>)", "value=\"CAFE\""],
        );
        let page = visitor.page("/admin/products/?q=%22cafe+preto%22").await;
        has(&page, &["Nothing was found."]);
    }
);

app_on_both_engines!(
    filters_offer_all_and_each_value_with_counts_on_demand_and_clear_all,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let page = visitor.page("/admin/products/").await;
        has(
            &page,
            &[
                "By brand",
                "By category",
                ">All</a>",
                ">Zeta</a>",
                "Show counts",
            ],
        );
        has_not(&page, &["Clear all filters", "Zeta (2)"]);
        let page = visitor.page("/admin/products/?brand=1").await;
        assert_eq!(first_column(&page), ["Café", "Feijão"]);
        has(
            &page,
            &[
                "Clear all filters",
                "href=\"?brand=1\" aria-current=\"true\"",
            ],
        );
        let page = visitor.page("/admin/products/?category=1&_facets=1").await;
        has(
            &page,
            &[
                "Zeta (1)",
                "Alfa (1)",
                "Grãos (2)",
                "Bebidas (1)",
                "Hide counts",
            ],
        );
        let users = visitor.page("/admin/users/?staff=1&_facets=1").await;
        assert_eq!(first_column(&users), ["root"]);
        has(&users, &["By staff status", "By groups", "Admin (0)"]);
    }
);

app_on_both_engines!(
    a_hundred_rows_make_a_page_and_two_hundred_are_shown_at_once,
    async |app| {
        let admin = app.admin();
        for number in 0..120 {
            admin.a_brand(&format!("Marca {number:03}")).await;
        }
        let visitor = app.superuser().await;
        let page = visitor.page("/admin/brands/").await;
        assert_eq!(first_column(&page).len(), 100);
        has(
            &page,
            &["120 brands", "Show all", "href=\"?p=2\"", "name=\"across\""],
        );
        let page = visitor.page("/admin/brands/?p=2").await;
        assert_eq!(first_column(&page).len(), 20);
        let page = visitor.page("/admin/brands/?all=1").await;
        assert_eq!(first_column(&page).len(), 120);
        redirects(
            &visitor.get("/admin/brands/?p=3").await,
            "/admin/brands/?e=1",
        );
    }
);

app_on_both_engines!(
    an_address_that_the_list_does_not_know_leads_to_an_explanation,
    async |app| {
        let visitor = app.superuser().await;
        for query in [
            "colour=red",
            "o=99",
            "o=x",
            "o=0",
            "p=0",
            "p=x",
            "brand=x",
            "year=abc",
            "month=2",
            "day=2",
            "year=2026&day=2",
            "year=2026&month=13",
            "year=2026&month=2&day=30",
            "year=99999",
            "q=%00&nothing=1",
        ] {
            let answer = visitor.get(&format!("/admin/products/?{query}")).await;
            assert_eq!(answer.redirect(), (302, "/admin/products/?e=1"), "{query}");
        }
        let page = visitor.page("/admin/products/?e=1").await;
        has(
            &page,
            &["The address has a filter that does not exist in this list"],
        );
    }
);

app_on_both_engines!(
    the_ledger_and_the_audit_log_can_be_read_and_not_written,
    async |app| {
        let product = app.admin().a_product("Arroz", 5).await;
        let visitor = app.superuser().await;
        let ledger = visitor
            .page(&format!("/admin/ledger/?product={product}"))
            .await;
        has(&ledger, &["Opening", "Arroz", "admin", "1 ledger entry"]);
        has_not(&ledger, &["delete_selected", "/admin/ledger/add/"]);
        let log = visitor
            .page("/admin/audit-log/?model=product&action=added")
            .await;
        has(&log, &["Arroz", "admin", "1 audit entry"]);
        for path in ["ledger", "audit-log"] {
            for page in ["add/", "1/delete/"] {
                assert_eq!(visitor.status(&format!("/admin/{path}/{page}")).await, 403);
            }
            let page = visitor.page(&format!("/admin/{path}/1/change/")).await;
            has_not(&page, &["_save"]);
        }
    }
);

app_on_both_engines!(
    a_file_has_the_columns_and_the_records_of_the_list_with_its_search_and_filters,
    async |app| {
        shop(&app).await;
        let visitor = app.superuser().await;
        let page = visitor.page("/admin/products/?brand=1&o=-1").await;
        has(&page, &["href=\"export/?o=-1&#38;brand=1\" download"]);
        let file = visitor.get("/admin/products/export/?brand=1&o=-1").await;
        assert_eq!(file.headers["content-type"], "text/csv; charset=utf-8");
        assert_eq!(
            file.headers["content-disposition"],
            "attachment; filename=\"products.csv\""
        );
        let rows: Vec<&str> = file.text.lines().collect();
        assert!(rows[0].starts_with("\u{feff}Title,"), "{rows:?}");
        assert!(
            rows[1].starts_with("Feijão,Grãos,Zeta,,1.00,20.00,5,"),
            "{rows:?}"
        );
        assert!(
            rows[2].starts_with("Café,Bebidas,Zeta,789,1.00,30.00,5,"),
            "{rows:?}"
        );
        assert_eq!(rows.len(), 3, "{rows:?}");
        redirects(
            &visitor.get("/admin/products/export/?brand=x").await,
            "/admin/products/?e=1",
        );
    }
);

app_on_both_engines!(
    the_file_of_the_audit_log_is_for_those_who_may_read_it,
    async |app| {
        app.admin().a_brand("=SUM(A1)").await;
        let visitor = app.superuser().await;
        let file = visitor.get("/admin/audit-log/export/").await.text;
        assert!(file.contains("\'=SUM(A1)"), "{file}");
        let staff = app.staff("clerk", &["view_product"]).await;
        assert_eq!(staff.status("/admin/audit-log/export/").await, 403);
    }
);

app_on_both_engines!(
    more_records_than_one_file_takes_are_not_exported_in_part,
    async |app| {
        app.execute(
            "INSERT INTO audit_entries (user_id, user_name, action, model, object_id, object_text, changes, created_at)
                 WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 10001)
                 SELECT u.id, u.username, 'imported', 'brand', n.number, 'x', '', u.created_at
                 FROM numbers AS n CROSS JOIN (SELECT * FROM users ORDER BY id LIMIT 1) AS u",
        )
        .await;
        let visitor = app.superuser().await;
        let list = "/admin/audit-log/?action=imported";
        redirects(
            &visitor
                .get("/admin/audit-log/export/?action=imported")
                .await,
            list,
        );
        has(
            &visitor.page(list).await,
            &["There are too many records for one file: at most 10,000. Filter the list first."],
        );
    }
);
