//! The number of low products is exact at any moment, whatever changed a quantity or a threshold.

use inventory::{Config, aggregates, stock::AlertMode, transfer::FileKind};
use serde_json::json;
use test_kit::on_both_engines;

use crate::{
    app::{TestApp, app_on_both_engines, unlimited},
    transfer::load_bytes,
};

/// The count of the list. It and the aggregates must be right before and after compaction.
async fn low(app: &TestApp) -> u64 {
    let count = async || {
        assert_eq!(aggregates::verify(&app.state.db).await.unwrap(), []);
        let list = app.viewer().get("/api/v1/low-stock/").await.json();
        assert_eq!(
            list["results"].as_array().map(Vec::len),
            list["count"]
                .as_u64()
                .map(|count| usize::try_from(count).unwrap())
        );
        list["count"].as_u64().unwrap()
    };
    let noted = count().await;
    aggregates::compact_all(&app.state.db).await.unwrap();
    assert_eq!(count().await, noted);
    noted
}

/// The settings of a shop with this threshold.
fn under(app: &TestApp, threshold: i64) -> Config {
    Config {
        low_stock_threshold: threshold,
        ..app.state.config.clone()
    }
}

async fn deleted(app: &TestApp, path: &str, id: i64) {
    let answer = app.admin().delete(&format!("/api/v1/{path}/{id}/")).await;
    assert_eq!(answer.status, 204, "{answer:?}");
}

app_on_both_engines!(
    whatever_makes_a_product_low_or_not_is_counted,
    async |app| {
        assert_eq!(low(&app).await, 0);
        let product = app.admin().a_product("Arroz", 12).await;
        let other = app.admin().a_product("Feijão", 9).await;
        let supplier = app.admin().a_supplier("S").await;
        assert_eq!(low(&app).await, 1);
        let sell = async |quantity: i64| app.admin().sell(product, quantity).await;
        let receive = async |quantity: i64| app.admin().receive(supplier, product, quantity).await;
        sell(2).await;
        assert_eq!(low(&app).await, 1, "to the threshold");
        let sold = sell(1).await;
        assert_eq!(low(&app).await, 2, "below it");
        sell(1).await;
        assert_eq!(low(&app).await, 2, "still below it");
        let received = receive(2).await;
        assert_eq!(low(&app).await, 1, "back at it");
        deleted(&app, "inflows", received).await;
        assert_eq!(low(&app).await, 2, "without the delivery");
        receive(1).await;
        assert_eq!(low(&app).await, 2);
        deleted(&app, "outflows", sold).await;
        assert_eq!(low(&app).await, 1, "without the sale");
        app.admin()
            .change_product(product, json!({"quantity": 0}))
            .await;
        assert_eq!(low(&app).await, 2, "corrected downwards");
        app.admin()
            .change_product(product, json!({"quantity": 15, "selling_price": "9.99"}))
            .await;
        assert_eq!(low(&app).await, 1, "corrected upwards");
        app.admin().set_threshold(product, 16).await;
        assert_eq!(low(&app).await, 2, "under a threshold of its own");
        app.admin().set_threshold(product, 15).await;
        assert_eq!(low(&app).await, 1, "at it");
        app.admin().set_threshold(other, 0).await;
        assert_eq!(low(&app).await, 0, "a threshold of nothing");
        sell(1).await;
        assert_eq!(low(&app).await, 1, "sold below its own threshold");
        app.admin().set_threshold(product, None).await;
        app.admin().set_threshold(other, None).await;
        assert_eq!(low(&app).await, 1, "the shop's threshold again");
        deleted(&app, "products", other).await;
        assert_eq!(low(&app).await, 0, "deleted");
    }
);

app_on_both_engines!(imported_products_and_movements_are_counted, async |app| {
    let product = app.admin().a_product("Arroz", 12).await;
    let products = "title;category_name;brand_name;cost_price;selling_price;quantity\nSal;Grãos;Tio João;1,00;2,00;3\nSoja;Grãos;Tio João;1,00;2,00;30\n";
    load_bytes(&app, FileKind::Products, products)
        .await
        .unwrap();
    assert_eq!(low(&app).await, 1);
    let outflows = FileKind::Movements(inventory::stock::movements::Movement::Outflow);
    let rows = format!("product;quantity\n{product};3\n");
    load_bytes(&app, outflows, rows).await.unwrap();
    assert_eq!(low(&app).await, 2);
});

app_on_both_engines!(
    the_number_is_known_without_counting_and_put_right_at_a_start,
    async |app| {
        app.admin().a_product("Arroz", 3).await;
        let counted = async |app: &TestApp| {
            let list = app.viewer().get("/api/v1/low-stock/?page_size=1").await;
            list.json()["count"].as_u64().unwrap()
        };
        let tampered = app.state.db.write::<_, db::Error, _>(async |tx| {
            tx.execute(
                "UPDATE low_stock_aggregate SET products = products + 76",
                &[],
            )
            .await
        });
        tampered.await.unwrap();
        assert_eq!(counted(&app).await, 77);
        let told = aggregates::verify(&app.state.db).await.unwrap();
        let told: Vec<String> = told.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["low products under a threshold of 10: the aggregate is 77, counted are 1"]
        );
        let again = app.restarted(under(&app, 10)).await;
        assert_eq!((counted(&again).await, low(&again).await), (1, 1));
    }
);

app_on_both_engines!(
    processes_with_other_thresholds_each_have_their_number_right,
    async |five| {
        let five = five.restarted(under(&five, 5)).await;
        let product = five.admin().a_product("Arroz", 30).await;
        let other = five.admin().a_product("Feijão", 7).await;
        assert_eq!(low(&five).await, 0);
        let twenty = five.restarted(under(&five, 20)).await;
        assert_eq!((low(&twenty).await, low(&five).await), (1, 0));
        // With one threshold this is an ordinary sale; with the other the product becomes low.
        five.admin().sell(product, 15).await;
        assert_eq!((low(&twenty).await, low(&five).await), (2, 0));
        twenty.admin().sell(other, 3).await;
        assert_eq!((low(&twenty).await, low(&five).await), (2, 1));
        let five = five.restarted(under(&five, 5)).await;
        assert_eq!((low(&twenty).await, low(&five).await), (2, 1));
        twenty.admin().sell(product, 11).await;
        assert_eq!((low(&twenty).await, low(&five).await), (2, 2));
    }
);

/// The alerts and recoveries that were sent, with the quantity of each.
async fn alerts(app: &TestApp) -> Vec<(String, i64)> {
    let events = app.events().await;
    let level = |event: &serde_json::Value| {
        let kind = event["type"].as_str().unwrap().strip_prefix("product.")?;
        Some((kind.to_owned(), event["data"]["quantity"].as_i64().unwrap()))
    };
    events.iter().filter_map(level).collect()
}

fn told(quantities: &[(&str, i64)]) -> Vec<(String, i64)> {
    let told = quantities.iter();
    told.map(|(kind, units)| ((*kind).to_owned(), *units))
        .collect()
}

async fn archive(app: &TestApp, product: i64, archived: bool) {
    let path = format!("/api/v1/products/{product}/archived/");
    let body = json!({"archived": archived});
    app.admin().put(&path, body).await.has_status(200);
}

/// An application that alerts once per crossing.
async fn alerting_once(address: &str) -> TestApp {
    let config = Config {
        low_stock_alert: AlertMode::Once,
        ..unlimited()
    };
    TestApp::with(address, config).await
}

on_both_engines!(
    a_product_that_is_low_without_an_alert_is_alerted_at_its_next_change_and_recovers_after_it,
    async |address| {
        let app = alerting_once(&address).await;
        // Low from its creation.
        let product = app.admin().a_product("Arroz", 5).await;
        assert_eq!(alerts(&app).await, []);
        app.sell(product, 1).await;
        app.sell(product, 1).await;
        let mut expected = told(&[("low_stock", 4)]);
        assert_eq!(alerts(&app).await, expected);
        app.change_product(product, json!({"quantity": 40})).await;
        expected.extend(told(&[("stock_recovered", 40)]));
        assert_eq!(alerts(&app).await, expected);
        // Low by its threshold while it was archived.
        archive(&app, product, true).await;
        app.set_threshold(product, 60).await;
        assert_eq!(alerts(&app).await, expected);
        archive(&app, product, false).await;
        app.change_product(product, json!({"quantity": 70})).await;
        expected.extend(told(&[("low_stock", 40), ("stock_recovered", 70)]));
        assert_eq!(alerts(&app).await, expected);
        // Low by a higher threshold of the shop.
        app.set_threshold(product, None).await;
        let app = app.restarted(under(&app, 100)).await;
        app.sell(product, 1).await;
        expected.extend(told(&[("low_stock", 69)]));
        assert_eq!(alerts(&app).await, expected);
        // A lower threshold ends it at the next sale.
        let app = app.restarted(under(&app, 10)).await;
        app.sell(product, 1).await;
        expected.extend(told(&[("stock_recovered", 68)]));
        assert_eq!(alerts(&app).await, expected);
    }
);

on_both_engines!(
    the_level_of_an_archived_product_is_told_when_it_is_unarchived,
    async |address| {
        let app = alerting_once(&address).await;
        let product = app.admin().a_product("Arroz", 50).await;
        app.sell(product, 45).await;
        let mut expected = told(&[("low_stock", 5)]);
        // Unchanged since its alert.
        archive(&app, product, true).await;
        archive(&app, product, false).await;
        assert_eq!(alerts(&app).await, expected);
        // Recovered, and then low again.
        for quantity in [50, 3] {
            archive(&app, product, true).await;
            app.change_product(product, json!({"quantity": quantity}))
                .await;
            assert_eq!(alerts(&app).await, expected);
            archive(&app, product, false).await;
            let kind = if quantity == 3 {
                "low_stock"
            } else {
                "stock_recovered"
            };
            expected.extend(told(&[(kind, quantity)]));
            assert_eq!(alerts(&app).await, expected);
        }
    }
);

on_both_engines!(
    an_alert_ends_with_a_lower_threshold_of_the_shop_and_the_next_crossing_is_told,
    async |address| {
        let app = alerting_once(&address).await;
        let sold = app.admin().a_product("Arroz", 12).await;
        let own = app.admin().a_product("Café", 12).await;
        for product in [sold, own] {
            app.sell(product, 7).await;
        }
        let mut expected = told(&[("low_stock", 5), ("low_stock", 5)]);
        assert_eq!(alerts(&app).await, expected);
        // Five units are not low in this shop.
        let app = app.restarted(under(&app, 3)).await;
        app.sell(sold, 3).await;
        expected.extend(told(&[("stock_recovered", 5), ("low_stock", 2)]));
        app.set_threshold(own, 8).await;
        expected.extend(told(&[("stock_recovered", 5), ("low_stock", 5)]));
        app.sell(sold, 1).await;
        app.sell(own, 1).await;
        assert_eq!(alerts(&app).await, expected);
    }
);
