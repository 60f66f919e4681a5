//! Search in titles: words are found anywhere in a title, special characters included. Counts are
//! exact after every change, and both engines agree.

use std::collections::BTreeMap;

use inventory::rest::{list::search_words, query::Parameters};
use serde_json::json;
use web::Random;

use crate::app::{TestApp, app_on_both_engines};

pub(crate) const TITLES: [&str; 16] = [
    "Café 100% arábica 1 kg",
    "Café torrado e moído",
    "CAFETEIRA elétrica",
    "cafe_preto 50%_a\\b",
    "O'Brien \"aspas\" -- ; DROP TABLE products",
    "x\u{10FFFF}yz abc",
    "NEAR(café*) OR AND NOT ^inicio",
    "aaa aaaa aaaaa",
    "Straße Ação 漢字かな交じり文",
    "ab",
    "é",
    "Descafeinado,sem açúcar",
    "tab\there café\u{3000}largo",
    "dois  espaços   juntos",
    "$1 {word} %s",
    "Ω ωmega ΟΔΟΣ",
];

/// Searches, with quotes and other special characters.
pub(crate) const SEARCHES: [&str; 44] = [
    "cafe",
    "CAFÉ",
    "afe",
    "fe",
    "f",
    "100%",
    "%",
    "_",
    "50%_",
    "%_a\\b",
    "\\",
    "'",
    "\"",
    "o'brien",
    "near(",
    "near(café*)",
    "*",
    "or",
    "^ini",
    "aa",
    "aaa",
    "aaaa",
    "aaaaa",
    "aaaaaa",
    "\"torrado e\"",
    "\"café torrado\"",
    "\"e m\"",
    "strasse",
    "acao",
    "漢字か",
    "漢",
    "--",
    "; drop",
    "$1",
    "{word}",
    "%s",
    "\u{10FFFF}yz",
    "e cafe",
    "cafe torrado",
    "torrado cafeteira",
    "feinado,sem",
    "zzz",
    "οδος",
    "\"dois  esp\"",
];

/// The titles in which every word of a search occurs, by id.
pub(crate) fn expected(titles: &BTreeMap<i64, String>, search: &str) -> Vec<i64> {
    let words = search_words(&Parameters::parse(&query(search)));
    let has_all = |title: &str| words.iter().all(|word| db::fold(title).contains(word));
    let found = titles.iter().filter(|(_, title)| has_all(title));
    found.map(|(id, _)| *id).collect()
}

pub(crate) fn query(search: &str) -> String {
    let bytes: Vec<String> = search.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("search={}", bytes.concat())
}

pub(crate) async fn found(app: &TestApp, query: &str) -> (u64, Vec<i64>) {
    let path = format!("/api/v1/products/?{query}");
    let page = app.viewer().get(&path).await.json();
    let results = page["results"].as_array().unwrap();
    let ids = results.iter().map(|record| record["id"].as_i64().unwrap());
    (page["count"].as_u64().unwrap(), ids.collect())
}

app_on_both_engines!(
    every_word_is_found_wherever_it_stands_and_signs_stand_for_themselves,
    async |app| {
        let long = format!("{}agulha{} depois", "palha".repeat(30), "feno".repeat(20));
        let mut titles = BTreeMap::new();
        for title in TITLES.into_iter().chain([long.as_str()]) {
            titles.insert(app.admin().a_product(title, 1).await, title.to_owned());
        }
        let longer = "lhapalhapalhaagulhafenofenofenofeno";
        for search in SEARCHES
            .into_iter()
            .chain(["agulha", longer, "fenox", "feno depois"])
        {
            let expected = expected(&titles, search);
            let (count, ids) = found(
                &app,
                &format!("{}&page_size=100&ordering=id", query(search)),
            )
            .await;
            assert_eq!(
                (count, &ids),
                (expected.len() as u64, &expected),
                "{search}"
            );
            // Small pages use other access paths to the same products.
            for ordering in ["title", "-title", "brand", "-quantity", "-id"] {
                let first = format!("{}&page_size=2&ordering={ordering}", query(search));
                let (count, some) = found(&app, &first).await;
                assert_eq!(
                    (count, some.len()),
                    (expected.len() as u64, expected.len().min(2)),
                    "{search}"
                );
                assert!(
                    some.iter().all(|id| expected.contains(id)),
                    "{search} {ordering}"
                );
            }
        }
    }
);

/// A title of some of a few words.
fn random_title(random: &Random) -> String {
    const WORDS: [&str; 8] = [
        "Café",
        "torrado",
        "moído",
        "Feijão",
        "preto",
        "kg",
        "cafeteira",
        "100%",
    ];
    let words: Vec<&str> = (0..=below(random, 3))
        .map(|_| WORDS[below(random, WORDS.len())])
        .collect();
    words.join(" ")
}

fn below(random: &Random, end: usize) -> usize {
    usize::try_from(random.below(end as u64)).unwrap()
}

app_on_both_engines!(counts_and_pages_are_exact_after_every_change, async |app| {
    let admin = app.admin();
    let mut shop: BTreeMap<i64, (String, usize)> = BTreeMap::new();
    let first = admin.a_product("Café", 1).await;
    shop.insert(first, ("Café".to_owned(), 1250));
    let random = Random::seeded(7);
    for round in 0..60 {
        let any = *shop.keys().nth(below(&random, shop.len())).unwrap();
        let (title, cents) = (random_title(&random), below(&random, 2000));
        let price = format!("{}.{:02}", cents / 100, cents % 100);
        match random.below(5) {
            0 | 1 => {
                let product = json!({"title": title, "category": 1, "brand": 1, "cost_price": "1.00", "selling_price": price, "quantity": 1});
                let id = admin.post("/api/v1/products/", product).await.id();
                shop.insert(id, (title, cents));
            }
            2 => {
                admin.change_product(any, json!({"title": title})).await;
                shop.get_mut(&any).unwrap().0 = title;
            }
            3 => {
                admin
                    .change_product(any, json!({"selling_price": price}))
                    .await;
                shop.get_mut(&any).unwrap().1 = cents;
            }
            _ if shop.len() > 1 => {
                admin.delete(&format!("/api/v1/products/{any}/")).await;
                shop.remove(&any);
            }
            _ => {}
        }
        for (search, least) in [
            ("", 0),
            ("cafe", 0),
            ("caf", 500),
            ("oid tor", 0),
            ("", 1000),
            ("kg", 0),
            ("100%", 700),
        ] {
            let mut expected: Vec<(String, i64)> = shop
                .iter()
                .filter(|(_, (title, cents))| {
                    *cents >= least && search.split(' ').all(|word| db::fold(title).contains(word))
                })
                .map(|(id, (title, _))| (db::fold(title), *id))
                .collect();
            expected.sort();
            let ids: Vec<i64> = expected.iter().map(|(_, id)| *id).collect();
            for size in [3, 100] {
                let path = format!(
                    "{}&min_price={}&page_size={size}",
                    query(search),
                    least / 100
                );
                let (count, found) = found(&app, &path).await;
                assert_eq!(count, ids.len() as u64, "{round} {path}");
                assert_eq!(found, ids[..ids.len().min(size)], "{round} {path}");
            }
        }
    }
});

app_on_both_engines!(made_up_titles_are_found, async |app| {
    app.make_up(400, 400, 3, 30).await;
    for word in ["cafe", "inte", "kg", "serra", "00"] {
        let pattern = format!("%{word}%");
        let count: i64 = app
            .state
            .db
            .read(async move |conn: &mut db::Conn| {
                let sql = "SELECT count(*) FROM products WHERE title_folded LIKE $1";
                conn.one(sql, &[&pattern], |row| row.get(0)).await
            })
            .await
            .map_err(|error: db::Error| error)
            .unwrap();
        assert_eq!(
            found(&app, &query(word)).await.0,
            count.unsigned_abs(),
            "{word}"
        );
        assert!(count > 0, "{word}");
    }
});

app_on_both_engines!(
    a_search_is_narrowed_and_ordered_by_what_products_are_now,
    async |app| {
        let admin = app.admin();
        let mut ids = Vec::new();
        for title in ["Café torrado", "Café moído", "Cafeteira"] {
            ids.push(admin.a_product(title, 5).await);
        }
        let category = admin.a_category("Zebra").await;
        let path = format!("/api/v1/products/{}/", ids[1]);
        let change = json!({"category": category, "cost_price": "0.10", "selling_price": "70.00"});
        let changed = admin.send(http::Method::PATCH, &path, Some(change)).await;
        assert_eq!(changed.status, 200, "{changed:?}");
        let path = format!("/api/v1/products/{}/", ids[2]);
        let change = json!({"title": "Bule", "selling_price": "71.00"});
        let changed = admin.send(http::Method::PATCH, &path, Some(change)).await;
        assert_eq!(changed.status, 200, "{changed:?}");
        for (query, expected) in [
            ("search=cafe", vec![ids[1], ids[0]]),
            ("search=cafe&min_price=60", vec![ids[1]]),
            ("search=cafe&max_price=60", vec![ids[0]]),
            ("search=cafe&ordering=cost_price", vec![ids[1], ids[0]]),
            ("search=cafe&ordering=-cost_price", vec![ids[0], ids[1]]),
            ("search=cafe&ordering=-category", vec![ids[1], ids[0]]),
            ("search=bule&min_price=71", vec![ids[2]]),
            (&format!("search=moido&category={category}"), vec![ids[1]]),
        ] {
            let page = admin
                .get(&format!("/api/v1/products/?{query}"))
                .await
                .json();
            let found: Vec<i64> = page["results"]
                .as_array()
                .unwrap()
                .iter()
                .map(|product| product["id"].as_i64().unwrap())
                .collect();
            assert_eq!(found, expected, "{query}");
            assert_eq!(page["count"], expected.len(), "{query}");
        }
    }
);

app_on_both_engines!(
    a_search_is_ordered_by_whole_descriptions_however_long_they_begin_alike,
    async |app| {
        let admin = app.admin();
        let alike = "Moído na hora. ".repeat(6);
        let mut products = Vec::new();
        // The first and the last description have the smallest and the greatest id.
        for number in [3, 9, 1, 0, 7, 5, 2, 8, 6, 4] {
            let id = admin.a_product("Café, cafeteira e café", 5).await;
            let description = match number {
                0 => serde_json::Value::Null,
                9 => json!("Moído"),
                number => json!(format!("{alike}{number}")),
            };
            let change = json!({"description": description});
            admin.change_product(id, change).await;
            // Null sorts first, and a shorter text before a longer one that begins alike.
            let place = if number == 9 { 1 } else { number * 2 };
            products.push((place, id));
        }
        products.sort_unstable();
        let mut expected: Vec<i64> = products.iter().map(|(_, id)| *id).collect();
        for order in ["description", "-description"] {
            for page in 1..=4 {
                let path = format!("search=cafe&ordering={order}&page_size=3&page={page}");
                let part = expected.chunks(3).nth(page - 1).unwrap();
                assert_eq!(found(&app, &path).await, (10, part.to_vec()), "{path}");
            }
            expected.reverse();
        }
    }
);
