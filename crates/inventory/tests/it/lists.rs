//! Lists compared with a model: the records of each filter, the order of each field, the length of
//! pages.

use std::{cmp::Ordering, time::Duration};

use serde_json::{Value, json};
use test_kit::on_both_engines;

use crate::app::{Client, TestApp, app_on_both_engines};

/// The values of one field of all records, in the order of the list at `path`.
async fn ids(client: &Client<'_>, path: &str) -> Vec<i64> {
    let page = client.get(path).await;
    let page = page.json();
    let ids: Vec<_> = page["results"]
        .as_array()
        .unwrap_or_else(|| panic!("{path}: {page}"))
        .iter()
        .map(|record| record["id"].as_i64().unwrap())
        .collect();
    assert_eq!(page["count"], ids.len(), "{path}");
    ids
}

/// A catalogue that each field sorts differently: two categories, two brands, texts with and
/// without accents, equal values.
async fn a_shop(app: &TestApp) -> Vec<Value> {
    let admin = app.admin();
    admin.a_category("Óleos").await;
    admin.a_category("grãos").await;
    admin.a_brand("Zaeli").await;
    admin.a_brand("Ágape").await;
    let titles = ["Óleo", "arroz", "Açúcar", "Feijão preto", "feijao", "Café"];
    let mut products = Vec::new();
    for number in 0..24_usize {
        app.clock.advance(Duration::from_secs(60));
        let description = ["É bom", "e ruim", "zz"].get(number % 4);
        let serie_number =
            (!number.is_multiple_of(3)).then(|| format!("{}{number}", ["b", "A"][number % 2]));
        let product = json!({
            "title": titles[number % titles.len()], "category": 1 + number % 2, "brand": 1 + number / 3 % 2,
            "description": description,
            "serie_number": serie_number,
            "cost_price": format!("{}.{:02}", number * 7 % 5, number % 3), "selling_price": format!("{}.50", number * 5 % 11),
            "quantity": number * 3 % 8,
        });
        let created = admin.post("/api/v1/products/", product).await;
        assert_eq!(created.status, 201, "{created:?}");
        products.push(created.json());
    }
    products
}

/// The order of two values of a field: nothing first, numbers and prices by value, texts without
/// regard to case and accents.
fn compare(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Number(_), _) => one.as_i64().cmp(&other.as_i64()),
        (Value::Object(one), _) => compare(&one["name"], &other["name"]),
        _ => {
            let (one, other) = (one.as_str().unwrap(), other.as_str().unwrap());
            match (db::Money::parse(one), db::Money::parse(other)) {
                (Ok(one), Ok(other)) => one.cmp(&other),
                _ => db::fold(one).cmp(&db::fold(other)),
            }
        }
    }
}

/// The ids of the records that `keeps` selects, ordered by fields such as `-title`, ids breaking
/// ties.
fn expected(records: &[Value], order: &str, keeps: impl Fn(&Value) -> bool) -> Vec<i64> {
    let mut kept: Vec<_> = records.iter().filter(|record| keeps(record)).collect();
    kept.sort_by(|one, other| {
        order
            .split(',')
            .map(|field| match field.strip_prefix('-') {
                Some(field) => compare(&other[field], &one[field]),
                None => compare(&one[field], &other[field]),
            })
            .fold(Ordering::Equal, Ordering::then)
            .then(one["id"].as_i64().cmp(&other["id"].as_i64()))
    });
    kept.iter()
        .map(|record| record["id"].as_i64().unwrap())
        .collect()
}

const PRODUCT_FIELDS: [&str; 11] = [
    "id",
    "title",
    "category",
    "brand",
    "description",
    "serie_number",
    "cost_price",
    "selling_price",
    "quantity",
    "created_at",
    "updated_at",
];

fn price(product: &Value) -> db::Money {
    db::Money::parse(product["selling_price"].as_str().unwrap()).unwrap()
}

on_both_engines!(
    every_filter_of_products_under_every_order_is_as_a_model_has_it,
    async |address| {
        type Keeps = fn(&Value) -> bool;
        let filters: [(&str, Keeps); 8] = [
            ("", |_| true),
            ("&category=2", |p| p["category"]["id"] == 2),
            ("&brand=1", |p| p["brand"]["id"] == 1),
            ("&min_price=4.50", |p| price(p).cents() >= 450),
            ("&max_price=4.5", |p| price(p).cents() <= 450),
            ("&search=FEIJAO", |p| {
                p["title"]
                    .as_str()
                    .unwrap()
                    .to_lowercase()
                    .starts_with("fei")
            }),
            (
                "&search=preto+feijão&category=2&min_price=1&max_price=9",
                |p| {
                    p["title"] == "Feijão preto"
                        && p["category"]["id"] == 2
                        && (100..=900).contains(&price(p).cents())
                },
            ),
            ("&search=c&brand=2", |p| {
                ["Açúcar", "Café"].contains(&p["title"].as_str().unwrap()) && p["brand"]["id"] == 2
            }),
        ];
        let app = TestApp::new(&address).await;
        let products = a_shop(&app).await;
        let viewer = app.viewer();
        let single = PRODUCT_FIELDS
            .iter()
            .flat_map(|field| [(*field).to_owned(), format!("-{field}")]);
        let several = ["category,-title", "-brand,quantity,-cost_price"].map(str::to_owned);
        for order in single.chain(several) {
            for (filter, keeps) in filters {
                let path = format!("/api/v1/products/?page_size=100&ordering={order}{filter}");
                let expected = expected(&products, &order, keeps);
                assert!(!expected.is_empty(), "{filter} selects nothing");
                assert_eq!(ids(&viewer, &path).await, expected, "{path}");
            }
        }
    }
);

app_on_both_engines!(
    search_finds_brands_categories_and_suppliers_by_every_word_of_their_name,
    async |app| {
        let admin = app.admin();
        for path in ["brands", "categories", "suppliers"] {
            for name in ["Café do Sítio", "Sítio do Café", "Açaí", "100% pura_fruta"] {
                let record = json!({"name": name, "description": "café"});
                admin.post(&format!("/api/v1/{path}/"), record).await.id();
            }
            for (search, found) in [
                ("cafe+sitio", vec![1, 2]),
                ("do", vec![1, 2]),
                ("ACAI", vec![3]),
                ("100%25", vec![4]),
                ("_", vec![4]),
                ("a_i", vec![]),
                ("%22cafe+do%22", vec![1]),
                ("caf%C3%A9+ausente", vec![]),
            ] {
                let address = format!("/api/v1/{path}/?search={search}&ordering=id");
                assert_eq!(ids(&admin, &address).await, found, "{address}");
            }
        }
    }
);

app_on_both_engines!(
    named_records_come_by_name_unless_another_order_is_asked_for,
    async |app| {
        let admin = app.admin();
        for path in ["brands", "categories", "suppliers"] {
            let mut records = Vec::new();
            for (name, description) in
                [("b", Some("y")), ("Á", None), ("a", Some("x")), ("c", None)]
            {
                app.clock.advance(Duration::from_secs(1));
                let record = json!({"name": name, "description": description});
                records.push(admin.post(&format!("/api/v1/{path}/"), record).await.json());
            }
            let address = format!("/api/v1/{path}/");
            assert_eq!(
                ids(&admin, &address).await,
                expected(&records, "name", |_| true)
            );
            for field in ["id", "name", "description", "created_at", "updated_at"] {
                for order in [field.to_owned(), format!("-{field}")] {
                    let address = format!("{address}?ordering={order}");
                    let expected = expected(&records, &order, |_| true);
                    assert_eq!(ids(&admin, &address).await, expected, "{address}");
                }
            }
        }
    }
);

/// Two products, two suppliers, and a movement of each kind every eight hours for five days.
async fn movements(app: &TestApp) -> [Vec<Value>; 2] {
    let admin = app.admin();
    for title in ["Óleo", "arroz"] {
        admin.a_product(title, 100).await;
    }
    for name in ["Zé", "Ação"] {
        admin.a_supplier(name).await;
    }
    let mut made = [Vec::new(), Vec::new()];
    for number in 0..15 {
        app.clock.advance(Duration::from_secs(8 * 60 * 60));
        let description =
            (number % 3 > 0).then(|| format!("{} {number}", ["Nota", "avulso"][number % 2]));
        for (path, made) in ["inflows", "outflows"].iter().zip(&mut made) {
            let movement = json!({
                "product": 1 + number % 2, "supplier": 1 + number / 2 % 2, "quantity": 1 + number * 7 % 5, "description": description,
            });
            // A new client, since a token is valid for a day.
            let created = app
                .admin()
                .post(&format!("/api/v1/{path}/"), movement)
                .await;
            assert_eq!(created.status, 201, "{created:?}");
            made.push(created.json());
        }
    }
    made
}

/// The UTC day of a record.
fn day(record: &Value) -> &str {
    record["created_at"]
        .as_str()
        .unwrap()
        .split('T')
        .next()
        .unwrap()
}

on_both_engines!(
    every_filter_of_movements_under_every_order_is_as_a_model_has_it,
    async |address| {
        type Keeps = fn(&Value) -> bool;
        let shared: [(&str, Keeps); 6] = [
            ("", |_| true),
            ("&product=2", |m| m["product"]["id"] == 2),
            ("&date_from=2026-11-22", |m| day(m) >= "2026-11-22"),
            ("&date_to=2026-11-22", |m| day(m) <= "2026-11-22"),
            ("&date_from=2026-11-22&date_to=2026-11-22", |m| {
                day(m) == "2026-11-22"
            }),
            ("&product=1&date_from=2026-11-21&date_to=2026-11-23", |m| {
                m["product"]["id"] == 1 && ("2026-11-21"..="2026-11-23").contains(&day(m))
            }),
        ];
        let of_suppliers: [(&str, Keeps); 3] = [
            ("&supplier=1", |m| m["supplier"]["id"] == 1),
            ("&supplier=2&product=1", |m| {
                m["supplier"]["id"] == 2 && m["product"]["id"] == 1
            }),
            ("&supplier=2&date_from=2026-11-23", |m| {
                m["supplier"]["id"] == 2 && day(m) >= "2026-11-23"
            }),
        ];
        let app = TestApp::new(&address).await;
        let [inflows, outflows] = movements(&app).await;
        let viewer = app.viewer();
        let fields = [
            "id",
            "product",
            "quantity",
            "description",
            "created_at",
            "updated_at",
        ];
        for (path, records, filters, more) in [
            (
                "inflows",
                &inflows,
                [&shared[..], &of_suppliers].concat(),
                Some("supplier"),
            ),
            ("outflows", &outflows, shared.to_vec(), None),
        ] {
            for order in fields
                .into_iter()
                .chain(more)
                .flat_map(|f| [f.to_owned(), format!("-{f}")])
            {
                // Products have titles where suppliers have names.
                let named: Vec<_> = records
                    .iter()
                    .cloned()
                    .map(|mut record| {
                        record["product"]["name"] = record["product"]["title"].clone();
                        record
                    })
                    .collect();
                for (filter, keeps) in &filters {
                    let address = format!("/api/v1/{path}/?page_size=100&ordering={order}{filter}");
                    let expected = expected(&named, &order, keeps);
                    assert!(!expected.is_empty(), "{address} selects nothing");
                    assert_eq!(ids(&viewer, &address).await, expected, "{address}");
                }
            }
        }
        // Outflows have no supplier, so an order and a filter by it mean nothing.
        let address = "/api/v1/outflows/?page_size=100&ordering=supplier&supplier=1";
        let newest = expected(&outflows, "-created_at", |_| true);
        assert_eq!(ids(&viewer, address).await, newest);
        let empty = "/api/v1/inflows/?date_from=2027-01-01";
        assert!(ids(&viewer, empty).await.is_empty());
    }
);

app_on_both_engines!(
    inflows_stand_where_the_titles_of_their_products_are_now,
    async |app| {
        let admin = app.admin();
        let supplier = admin.a_supplier("Atacado").await;
        let mut inflows = Vec::new();
        let mut products = Vec::new();
        for title in ["Bule", "Copo", "Açúcar"] {
            let product = admin.a_product(title, 5).await;
            inflows.push(admin.receive(supplier, product, 2).await);
            products.push(product);
        }
        let viewer = app.viewer();
        let path = |filter: &str| format!("/api/v1/inflows/?ordering=product{filter}");
        let expected = [inflows[2], inflows[0], inflows[1]];
        assert_eq!(ids(&viewer, &path("")).await, expected);
        let renamed = json!({"title": "ÁGUA"});
        admin.change_product(products[1], renamed).await;
        inflows.push(admin.receive(supplier, products[1], 1).await);
        let expected = [inflows[2], inflows[1], inflows[3], inflows[0]];
        for filter in ["", &format!("&supplier={supplier}")] {
            assert_eq!(ids(&viewer, &path(filter)).await, expected, "{filter}");
        }
    }
);

app_on_both_engines!(
    a_page_has_ten_records_unless_asked_otherwise_and_a_hundred_at_most,
    async |app| {
        let admin = app.admin();
        for number in 0..105 {
            admin.a_brand(&format!("Marca {number:03}")).await;
        }
        for (query, number, first) in [
            ("", 10, "Marca 000"),
            ("?page=2", 10, "Marca 010"),
            ("?page_size=3&page=4", 3, "Marca 009"),
            ("?page_size=1000", 100, "Marca 000"),
            ("?page_size=100&page=2", 5, "Marca 100"),
        ] {
            let page = admin.get(&format!("/api/v1/brands/{query}")).await.json();
            let results = page["results"].as_array().unwrap();
            assert_eq!(
                (results.len(), &page["count"]),
                (number, &json!(105)),
                "{query}"
            );
            assert_eq!(results[0]["name"], first, "{query}");
        }
        let last = admin
            .get("/api/v1/brands/?page_size=100&page=2")
            .await
            .json();
        assert_eq!(last["next"], Value::Null);
        assert_eq!(
            last["previous"],
            "http://shop.example/api/v1/brands/?page_size=100"
        );
    }
);
