//! Lists: filters, orders, pages and files, all by their address.

use serde_json::json;
use test_kit::html::has;

use crate::{
    app::{TestApp, app_on_both_engines},
    visitor::redirects,
};

/// Thirty products; those of even numbers have a serie number.
async fn shop(app: &TestApp) {
    let admin = app.admin();
    admin.a_product("Arroz", 5).await;
    for number in 2..=30 {
        let product = json!({
            "title": format!("Café {number:02}"), "category": 1, "brand": 1, "cost_price": "1.00", "quantity": number,
            "selling_price": format!("{number}.50"), "serie_number": (number % 2 == 0).then(|| format!("789{number}")),
        });
        admin.post("/api/v1/products/", product).await.id();
    }
}

app_on_both_engines!(
    a_list_is_searched_filtered_ordered_and_paged_by_its_address,
    async |app| {
        shop(&app).await;
        let viewer = app.logged_in("viewer").await;
        let first = viewer.page("/products/").await;
        assert!(first.contains("1–10 of 30") && first.contains("Arroz"));
        assert!(first.contains("aria-sort=\"ascending\""));
        assert!(first.contains("href=\"/products/?page=2\""));
        let last = viewer.page("/products/?page=3&ordering=-quantity").await;
        assert!(last.contains("21–30 of 30") && last.contains("aria-sort=\"descending\""));
        let found = viewer.page("/products/?search=cafe+30&page_size=25").await;
        let export = "href=\"/products/export/?search=cafe+30\"";
        has(&found, &["1–1 of 1", "“cafe 30”", export]);
        assert!(
            found.contains("href=\"/products/?page_size=25\""),
            "the chip removes the search"
        );
        let priced = viewer
            .page("/products/?min_price=1,5&max_price=R$+3,00")
            .await;
        has(&priced, &["1–1 of 1", "Price from R$\u{a0}1.50"]);
        let by_brand = viewer.page("/products/?brand_text=tio&search=arroz").await;
        has(&by_brand, &["Brand: Tio João", "1–1 of 1"]);
        let none = viewer.page("/products/?search=nada").await;
        assert!(none.contains("Nothing found for"));
        for wrong in ["?min_price=abc", "?category=abc", "?min_price=1.234"] {
            viewer.page_with(&format!("/products/{wrong}"), 422).await;
        }
        viewer.page_with("/products/?page=99", 404).await;
        viewer.page_with("/products/abc/", 404).await;
    }
);

app_on_both_engines!(
    a_search_that_only_archived_products_match_leads_to_them,
    async |app| {
        let product = app.admin().a_product("Achocolatado", 1).await;
        let viewer = app.logged_in("viewer").await;
        let found = viewer.page("/products/?search=achoco").await;
        assert!(!found.contains("Archived products:"), "{found}");
        let path = format!("/api/v1/products/{product}/archived/");
        app.admin().put(&path, json!({"archived": true})).await;
        let none = viewer.page("/products/?search=achoco").await;
        has(&none, &["Nothing found for", "Archived products: 1"]);
        let (before, _) = none.split_once("\">Archived products: 1").unwrap();
        let (_, address) = before.rsplit_once("href=\"").unwrap();
        let found = viewer.page(&address.replace("&#38;", "&")).await;
        has(&found, &["Achocolatado", "1–1 of 1"]);
    }
);

app_on_both_engines!(a_scanned_serie_number_jumps_to_its_product, async |app| {
    shop(&app).await;
    let viewer = app.logged_in("viewer").await;
    let jump = viewer.get("/products/?search=+78930+&jump=1").await;
    assert_eq!(jump.header("location"), "/products/30/");
    let clean = viewer
        .get("/products/?search=caf%C3%A9&brand=&brand_text=tio&brand_was=&jump=1")
        .await;
    assert_eq!(
        clean.header("location"),
        "/products/?search=caf%C3%A9&brand=1"
    );
});

app_on_both_engines!(
    a_brand_a_category_and_the_beginning_of_a_serie_number_find_what_no_title_has,
    async |app| {
        shop(&app).await;
        let viewer = app.logged_in("viewer").await;
        let by_brand = viewer.page("/products/?search=joao+cafe&page=2").await;
        assert!(by_brand.contains("11–20 of 29"), "{by_brand}");
        assert!(
            by_brand.contains("No title has all these words. Products of the brand Tio João:"),
            "{by_brand}"
        );
        assert!(
            by_brand.contains("href=\"/products/?search=joao+cafe&#38;page=3\""),
            "{by_brand}"
        );
        let by_category = viewer.page("/products/?search=GR%C3%83OS").await;
        assert!(by_category.contains("Products of the category Grãos:"));
        assert!(by_category.contains("1–10 of 30"));
        let file = viewer.get("/products/export/?search=joao+arroz").await;
        assert_eq!(file.text.lines().count(), 2, "{}", file.text);
        let by_number = viewer.page("/products/?search=7892").await;
        assert!(
            by_number.contains("Products whose serial number begins with 7892:"),
            "{by_number}"
        );
        has(&by_number, &["1–6 of 6", "Café 02", "Café 20", "Café 28"]);
        let second = viewer.page("/products/?search=789&page=2").await;
        assert!(second.contains("11–15 of 15"), "{second}");
        viewer.page_with("/products/?search=789&page=3", 404).await;
        let file = viewer.get("/products/export/?search=789&page=2").await;
        let numbers: Vec<&str> = file
            .text
            .lines()
            .skip(1)
            .filter_map(|line| line.split(',').nth(5))
            .collect();
        assert_eq!(numbers.len(), 15, "{}", file.text);
        assert!(numbers.is_sorted() && numbers[0] == "78910", "{numbers:?}");
        let within = viewer.page("/products/?search=7892&category=1").await;
        assert!(within.contains("7892 · Café 02") && within.contains("Nothing found for"));
        let title = viewer.page("/products/?search=cafe").await;
        assert!(!title.contains("No title has"));
        // A search that only one title begins with opens that product.
        let jump = viewer.get("/products/?search=78914&jump=1").await;
        assert_eq!(jump.header("location"), "/products/14/");
        let jump = viewer.get("/products/?search=7891&jump=1").await;
        assert_eq!(jump.header("location"), "/products/?search=7891");
        // Pickers find the same.
        for (typed, first) in [
            ("78914", "Café 14"),
            ("joao 21", "Café 21"),
            ("7892", "Café 02"),
        ] {
            let offers = viewer
                .get(&format!("/pick/products/?q={}", typed.replace(' ', "+")))
                .await;
            assert_eq!(offers.json()[0]["text"], first, "{typed}");
        }
        // The API searches titles alone.
        let found = app.viewer().get("/api/v1/products/?search=joao").await;
        assert_eq!(found.json()["count"], 0);
    }
);

app_on_both_engines!(
    a_search_for_what_no_text_can_hold_is_told_and_finds_nothing,
    async |app| {
        shop(&app).await;
        let mut viewer = app.logged_in("viewer").await;
        viewer.language = "pt-BR";
        for list in ["products", "brands", "categories"] {
            let found = viewer.page_with(&format!("/{list}/?search=%00"), 422).await;
            for said in ["Há um caractere que não é permitido.", "Nada corresponde"] {
                assert!(found.contains(said), "{list}: {said}: {found}");
            }
            let file = viewer.get(&format!("/{list}/export/?search=a%00")).await;
            redirects(&file, &format!("/{list}/?search=a%00"));
            let offers = viewer.get(&format!("/pick/{list}/?q=%00")).await;
            assert_eq!(offers.text, "[]", "{list}");
        }
        // An invalid filter does not export everything.
        for path in [
            "products/export/?min_price=1.234",
            "inflows/export/?product_text=nada",
        ] {
            let file = viewer.get(&format!("/{path}")).await;
            assert_eq!(file.status, 302, "{path}: {file:?}");
        }
        let root = app.superuser().await;
        let bad = root.get("/admin/products/?q=%00").await;
        assert_eq!(bad.header("location"), "/admin/products/?e=1");
    }
);

app_on_both_engines!(a_file_has_exactly_what_is_shown_on_all_pages, async |app| {
    shop(&app).await;
    let product = json!({"title": "=1+1", "category": 1, "brand": 1, "cost_price": "1", "selling_price": "2", "quantity": 1});
    app.admin().post("/api/v1/products/", product).await.id();
    let mut viewer = app.logged_in("viewer").await;
    let file = viewer
        .get("/products/export/?search=cafe&ordering=-quantity")
        .await;
    assert_eq!(file.header("content-type"), "text/csv; charset=utf-8");
    assert_eq!(
        file.header("content-disposition"),
        "attachment; filename=\"products.csv\""
    );
    let text = file.text.strip_prefix('\u{feff}');
    let text = text.expect("spreadsheets know UTF-8 by its mark");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 30);
    assert!(
        lines[0]
            .starts_with("ID,Title,Category name,Brand name,Description,Serial number,Cost price")
    );
    assert!(
        lines[1].starts_with("30,Café 30,Grãos,Tio João,,78930,1.00,30.50,30,"),
        "{}",
        lines[1]
    );
    viewer.language = "pt-BR";
    let file = viewer.get("/products/export/?search=1%2B1").await;
    has(&file.text, &[";'=1+1;Grãos;Tio João;;;1,00;2,00;1;"]);
    app.admin().sell(1, 2).await;
    let file = viewer.get("/outflows/export/").await;
    assert!(file.text.contains("1;Arroz;2;;"), "{}", file.text);
    has(&viewer.get("/low-stock/export/").await.text, &["Arroz"]);
    has(&viewer.get("/brands/export/").await.text, &["Tio João"]);
    // The list shows the error of an invalid filter.
    for (list, wrong) in [
        ("products", "min_price=abc"),
        ("products", "category=abc"),
        ("inflows", "date_from=abc"),
    ] {
        let led = viewer.get(&format!("/{list}/export/?{wrong}")).await;
        let there = format!("/{list}/?{wrong}");
        redirects(&led, &there);
        viewer.page_with(&there, 422).await;
    }
});

app_on_both_engines!(
    every_list_stands_in_both_languages_empty_and_filled,
    async |app| {
        let mut manager = app.logged_in("manager").await;
        let lists = [
            "products",
            "brands",
            "categories",
            "suppliers",
            "inflows",
            "outflows",
            "low-stock",
        ];
        for is_filled in [false, true] {
            for language in ["pt-BR", "en"] {
                manager.language = language;
                for list in lists {
                    let text = manager.page(&format!("/{list}/")).await;
                    assert!(text.len() < 60_000, "{list}: {}", text.len());
                }
            }
            if !is_filled {
                shop(&app).await;
                app.admin().a_supplier("Torra").await;
                app.admin().receive(1, 1, 2).await;
                app.admin().sell(1, 1).await;
            }
        }
        let list = manager
            .page("/inflows/?product=1&supplier=1&date_from=2026-11-20&date_to=2026-11-20")
            .await;
        has(&list, &["Supplier: Torra", "1–1 of 1"]);
        assert!(list.contains("From 20 Nov 2026 (UTC)"), "{list}");
        let past = manager.page_with("/inflows/?product=1&page=99", 404).await;
        for told in [
            "This list does not have this page",
            "href=\"/inflows/?product=1\"",
        ] {
            assert!(past.contains(told), "{told}: {past}");
        }
        manager.page_with("/inflows/?date_from=ontem", 422).await;
    }
);

app_on_both_engines!(
    a_page_runs_as_many_statements_with_thirty_records_as_with_one,
    async |app| {
        app.admin().a_product("Arroz", 5).await;
        let viewer = app.logged_in("viewer").await;
        let paths = [
            "/products/?page_size=100",
            "/brands/",
            "/outflows/",
            "/low-stock/",
            "/low-stock/?group=supplier",
            "/low-stock/orders/",
            "/products/1/",
            "/brands/1/",
        ];
        // The first use of a filter counts it, and the count is stored.
        let statements = async |path| {
            viewer.page(path).await;
            viewer.statements(path).await
        };
        let mut before = Vec::new();
        for path in paths {
            before.push(statements(path).await);
        }
        shop(&app).await;
        for (path, expected) in paths.into_iter().zip(before) {
            let cost = statements(path).await;
            assert!(
                cost <= expected + 1 && cost <= 14,
                "{path}: {expected}, then {cost}"
            );
        }
    }
);
