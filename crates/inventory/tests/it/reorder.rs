//! The low-stock list: sorted by what runs out first, with quantities to order and their reasons,
//! grouped by supplier, and thresholds that are changed in their row.

use std::collections::BTreeSet;

use inventory::Config;
use serde_json::json;
use test_kit::{
    html::{self, has, has_not},
    on_both_engines,
};

use crate::{
    analyses,
    app::{TestApp, app_on_both_engines},
    visitor::{Visitor, is_refused, leads_to},
};

/// A shop with three low products: one that sells and was delivered last by Norte, one of Sul's
/// that never sold, and one that nobody has delivered.
async fn shop(app: &TestApp) -> [i64; 3] {
    let rice = analyses::a_product_that_ran_low(app, "Arroz").await;
    let salt = app.manager().a_product("Sal", 2).await;
    let soap = app.manager().a_product("Sabão", 0).await;
    app.set_threshold(rice, 11).await;
    for (name, products) in [("Sul", vec![rice, salt]), ("Norte", vec![rice])] {
        let supplier = app.admin().a_supplier(name).await;
        for product in products {
            app.receive(supplier, product, 1).await;
            app.clock.advance(std::time::Duration::from_secs(1));
        }
    }
    app.sell(rice, 2).await;
    [rice, salt, soap]
}

/// The row of a product, as text.
fn row(page: &str, product: i64) -> &str {
    let rows = page.split("<tr>").skip(1);
    let link = format!("<th scope=\"row\"><a href=\"/products/{product}/\">");
    let mut found = rows.filter(|row| row.trim_start().starts_with(&link));
    found.next().unwrap_or_else(|| panic!("{product}: {page}"))
}

/// The positions of these texts, which must be in this order.
#[track_caller]
fn in_order(page: &str, texts: &[&str]) {
    let places: Vec<usize> = texts
        .iter()
        .map(|text| page.find(text).unwrap_or_else(|| panic!("{text}: {page}")))
        .collect();
    assert!(places.is_sorted(), "{texts:?}: {places:?}");
}

app_on_both_engines!(
    the_list_says_what_runs_out_first_what_to_order_why_and_of_whom,
    async |app| {
        let [rice, salt, soap] = shop(&app).await;
        let mut visitor = app.logged_in("viewer").await;
        for (language, expected) in [
            (
                "en",
                [
                    vec![
                        "3 days",
                        ">77</td>",
                        "Norte",
                        "<strong>42</strong>",
                        "Restocks to 51, covering 7 days for delivery and 7 days until the next review, at 2.7 a day.",
                    ],
                    vec![
                        "no sales",
                        "Sul",
                        "<strong>7</strong>",
                        "Restocks to the threshold of 10; too little has gone out so far to forecast.",
                    ],
                    vec!["out of stock", "–", "<strong>10</strong>"],
                ],
            ),
            (
                "pt-BR",
                [
                    vec![
                        "3 dias",
                        "Norte",
                        "Repõe até 51, para 7 dias de entrega e 7 dias até a próxima revisão, no ritmo de 2,7 por dia.",
                    ],
                    vec![
                        "sem saídas",
                        "Repõe até o mínimo de 10; ainda há poucas saídas para prever.",
                    ],
                    vec!["acabou"],
                ],
            ),
        ] {
            visitor.language = language;
            let text = visitor.page("/low-stock/").await;
            for (product, expected) in [rice, salt, soap].into_iter().zip(expected) {
                let row = row(&text, product);
                has(row, &expected);
            }
            // Products that never sold come last, however low their stock is.
            in_order(&text, &[">Arroz</a>", ">Sabão</a>", ">Sal</a>"]);
        }
        // The API's list keeps its order.
        let list = app.viewer().get("/api/v1/low-stock/").await.json();
        let lowest =
            json!({"product": {"id": soap, "title": "Sabão"}, "quantity": 0, "threshold": 10});
        assert_eq!(list["results"][0], lowest);
    }
);

app_on_both_engines!(
    products_are_brought_together_by_supplier_and_each_order_is_for_one_of_them,
    async |app| {
        shop(&app).await;
        let visitor = app.logged_in("viewer").await;
        let list = visitor.page("/low-stock/").await;
        has(&list, &["href=\"/low-stock/?group=supplier\""]);
        let grouped = visitor.page("/low-stock/?group=supplier").await;
        let headings = [
            "<span>Norte</span>",
            "<span>Sul</span>",
            "<span>No supplier yet</span>",
        ];
        in_order(
            &grouped,
            &[
                headings[0],
                ">Arroz</a>",
                headings[1],
                ">Sal</a>",
                headings[2],
                ">Sabão</a>",
            ],
        );
        has(&grouped, &["href=\"/low-stock/orders/?supplier=1\""]);
        let orders = visitor.page("/low-stock/orders/").await;
        in_order(
            &orders,
            &[">Norte</h2>", ">Arroz</th>", ">Sul</h2>", ">Sal</th>"],
        );
        for (supplier, there, elsewhere) in [
            ("1", "Sal", "Arroz"),
            ("2", "Arroz", "Sal"),
            ("0", "Sabão", "Arroz"),
        ] {
            let path = format!("/low-stock/orders/?supplier={supplier}");
            let order = visitor.page(&path).await;
            has(&order, &[&format!("<th scope=\"row\">{there}</th>")]);
            has_not(&order, &[&format!("<th scope=\"row\">{elsewhere}</th>")]);
        }
        for nobody in ["99", "x"] {
            let path = format!("/low-stock/orders/?supplier={nobody}");
            has(&visitor.page(&path).await, &["There is nothing to order."]);
        }
    }
);

app_on_both_engines!(the_file_has_what_the_list_has, async |app| {
    let [rice, ..] = shop(&app).await;
    let mut visitor = app.logged_in("viewer").await;
    let file = visitor.get("/low-stock/export/").await.text;
    let mut lines = file.trim_start_matches('\u{feff}').lines();
    let head = "Product ID,Product,Serial number,Stock,Threshold,Lasts (days),Sold in 30 days,Supplier ID,Last supplier,Order,Reason";
    assert_eq!(lines.next(), Some(head));
    let first = format!(
        "{rice},Arroz,,9,11,3,77,2,Norte,42,\"Restocks to 51, covering 7 days for delivery and 7 days until the next review, at 2.7 a day.\""
    );
    assert_eq!(lines.next(), Some(first.as_str()));
    assert_eq!(lines.count(), 2);
    visitor.language = "pt-BR";
    let file = visitor.get("/low-stock/export/").await.text;
    let head = "ID do produto;Produto;Número de série;Estoque;Mínimo;Dura (dias);Saídas em 30 dias;ID do fornecedor;Último fornecedor;Pedir;Motivo";
    has(&file, &[head, ";Norte;42;Repõe até 51, para"]);
});

/// Changes the threshold in the row of a product.
async fn type_minimum(visitor: &Visitor<'_>, product: i64, typed: &str) -> crate::app::Answer {
    let path = format!("/low-stock/{product}/threshold/?group=supplier");
    visitor.submit(&path, &[("threshold", typed)]).await
}

app_on_both_engines!(
    a_minimum_is_changed_in_its_row_by_those_who_may,
    async |app| {
        let [rice, salt, _] = shop(&app).await;
        let manager = app.logged_in("manager").await;
        let list = "/low-stock/?group=supplier";
        let led = format!("{list}#threshold-{salt}");
        leads_to(&type_minimum(&manager, salt, " 1,200 ").await, &led);
        assert_eq!(app.threshold_of(salt).await, 1200);
        let shown = manager.page(list).await;
        assert!(shown.contains("Sal: threshold 1,200."), "{shown}");
        assert!(row(&shown, salt).contains("value=\"1,200\""), "{shown}");

        leads_to(&type_minimum(&manager, salt, "3").await, &led);
        let shown = manager.page(list).await;
        let told = "Sal: threshold 3. The stock is no longer below it.";
        has(&shown, &[told]);
        has_not(&shown, &[">Sal</a>"]);

        // A blank field means the shop's threshold. The shop's threshold sent unchanged stays the
        // shop's.
        for typed in ["", "10"] {
            leads_to(&type_minimum(&manager, salt, typed).await, &led);
            assert_eq!(app.threshold_of(salt).await, json!(null), "{typed}");
        }

        for typed in ["abc", "-1", "1.5"] {
            let refused = type_minimum(&manager, salt, typed).await;
            let field = format!("href=\"#threshold-{salt}\"");
            is_refused(&refused, &["Threshold: Sal: ", &field, "No supplier yet"]);
            let row = row(&refused.text, salt);
            assert!(row.contains(&format!("value=\"{typed}\"")), "{row}");
            assert!(row.contains("aria-invalid"), "{row}");
            assert!(!self::row(&refused.text, rice).contains("aria-invalid"));
        }
        assert_eq!(app.threshold_of(salt).await, json!(null));
        assert_eq!(type_minimum(&manager, 99, "5").await.status, 404);

        let viewer = app.logged_in("viewer").await;
        has_not(&viewer.page(list).await, &["/threshold/"]);
        let refused = type_minimum(&viewer, salt, "5").await;
        assert_eq!(refused.status, 403);
        has(&refused.text, &["Can change product"]);
    }
);

/// The products on a page of the list.
fn listed(page: &str) -> Vec<i64> {
    let links = page.split("<th scope=\"row\"><a href=\"/products/").skip(1);
    let ids = links.map(|rest| rest.split('/').next().unwrap().parse().unwrap());
    ids.collect()
}

on_both_engines!(
    with_more_products_than_are_put_in_order_at_once_each_still_stands_once_and_a_page_costs_the_same,
    async |address| {
        let config = Config {
            low_stock_threshold: 1_000_000,
            max_page_size: 400,
            ..Config::default()
        };
        let app = TestApp::with(&address, config).await;
        app.make_up(1_100, 3_000, 7, 60).await;
        let visitor = app.logged_in("viewer").await;
        let mut seen = BTreeSet::new();
        let mut costs = BTreeSet::new();
        // A number that does not divide the size of the batch that is sorted at once.
        for number in 1..=4 {
            let path = format!("/low-stock/?page_size=300&page={number}");
            visitor.page(&path).await;
            let before = app.state.db.statistics().statements;
            let text = visitor.page(&path).await;
            costs.insert(app.state.db.statistics().statements - before);
            assert!(text.contains("There are 1,100 products"), "{path}");
            for id in listed(&text) {
                assert!(seen.insert(id), "{id} stands twice");
            }
        }
        assert_eq!((seen.len(), costs.len()), (1_100, 1), "{costs:?}");
        let grouped = visitor.page("/low-stock/?group=supplier&page_size=100&page=10").await;
        assert_eq!(listed(&grouped).len(), 100);
        visitor.page_with("/low-stock/?group=supplier&page_size=100&page=11", 404).await;
        let orders = visitor.page("/low-stock/orders/").await;
        assert!(orders.contains("did not fit here: 850."), "{orders}");
        html::check(&orders);
        let file = visitor.get("/low-stock/export/").await.text;
        assert_eq!(file.lines().count(), 1_101);
    }
);
