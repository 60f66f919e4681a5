//! Compares the list of products with one in memory, for every access path, and checks the query
//! plans of both engines: no list scans a whole table.

use db::{Conn, Db, Error, Timestamp, Tx};
use resource::Record as _;
use test_kit::on_both_engines;
use web::Random;

use super::{BY_TITLE, ProductRecord, StatsCache, selection};
use crate::{
    listing::tests::{compare, in_memory, one_of, plan, random_ordering, random_range},
    plans,
    rest::{list::ordering, query::Parameters},
};

const FILTERS: [&str; 13] = [
    "",
    "archived=false",
    "archived=true",
    "archived=false&search=cafe",
    "category=1",
    "brand=2",
    "min_price=20",
    "max_price=5",
    "min_price=5&max_price=5.50",
    "category=1&brand=1",
    "category=2&min_price=5&max_price=9",
    "search=cafe",
    "search=integral+kg&brand=3&max_price=90",
];

/// The last five days of the test data and the day after.
const LAST_DAYS: (Timestamp, Timestamp) = (
    Timestamp::from_micros(UNTIL - 5 * 86_400_000_000),
    Timestamp::from_micros(UNTIL + 86_400_000_000),
);
const UNTIL: i64 = 1_795_176_000_000_000;

/// Whether a step of a query plan scans a whole table that may be large.
fn is_full_scan(step: &str) -> bool {
    let tables = ["products", "product_stock", "product_words"];
    plans::is_full_scan(step, &["p", "s", "w", "q"], &tables)
}

/// Archives every seventh product, and gives some categories and brands the same name.
async fn change_some(db: &Db) {
    let change = async |tx: &mut Tx| {
        let sql = "UPDATE product_stock SET archived_at = $1 WHERE product_id % 7 = 0";
        tx.execute(sql, &[&LAST_DAYS.0]).await?;
        for sql in [
            "UPDATE categories SET name = 'Igual', name_folded = 'igual' WHERE id % 3 = 1",
            "UPDATE brands SET name = 'Igual', name_folded = 'igual' WHERE id % 3 = 1",
        ] {
            tx.execute(sql, &[]).await?;
        }
        Ok(())
    };
    db.write::<_, Error, _>(change).await.unwrap();
}

on_both_engines!(
    every_filter_and_order_of_products_goes_along_an_index,
    async |address| {
        let db = plans::shop(&address, (3000, 1000), 30).await;
        change_some(&db).await;
        plans::nothing_is_scanned(db, async |conn: &mut Conn| {
            let mut scans = Vec::new();
            for filter in FILTERS {
                for order in ProductRecord::FIELDS
                    .iter()
                    .flat_map(|field| [field.name.to_owned(), format!("-{}", field.name)])
                {
                    let parameters = Parameters::parse(&format!("{filter}&ordering={order}"));
                    // Reading a table by id is reading along its primary key.
                    let by_id = matches!(order.as_str(), "id" | "-id");
                    for created in [None, Some(LAST_DAYS)] {
                        let list = selection(&parameters).unwrap().created(created);
                        let stats = list.stats(conn, &StatsCache::default()).await?;
                        let steps = plan(conn, &list, &stats).await?;
                        if !by_id && steps.iter().any(|step| is_full_scan(step)) {
                            scans.push(format!("{filter} {created:?} by {order}: {steps:#?}"));
                        }
                    }
                }
            }
            Ok(scans)
        })
        .await;
    }
);

fn filters(random: &Random) -> String {
    let mut filters = vec![one_of(
        random,
        &[
            "",
            "",
            "search=cafe",
            "search=ca",
            "search=integral+kg",
            "search=a",
            "search=\"cafe+torrado\"",
        ],
    )];
    filters.push(one_of(
        random,
        &["", "", "category=1", "category=2", "category=99"],
    ));
    filters.push(one_of(random, &["", "", "brand=1", "brand=3"]));
    filters.push(one_of(random, &["", "", "min_price=5", "min_price=20"]));
    filters.push(one_of(random, &["", "", "max_price=5.50", "max_price=90"]));
    filters.push(one_of(random, &["", "archived=false", "archived=true"]));
    filters.join("&")
}

/// Whether a product matches the filters of a query string.
fn is_match(product: &ProductRecord, parameters: &Parameters) -> bool {
    let number = |name| {
        parameters
            .get(name)
            .map(|text| text.parse::<f64>().unwrap())
    };
    let price: f64 = product.selling_price.to_string().parse().unwrap();
    let id = |name| {
        parameters
            .get(name)
            .map(|text| text.parse::<i64>().unwrap())
    };
    let title = db::fold(&product.title);
    let mut words = crate::rest::list::search_words(parameters).into_iter();
    words.all(|word| title.contains(&word))
        && id("category").is_none_or(|id| id == product.category.id)
        && id("brand").is_none_or(|id| id == product.brand.id)
        && number("min_price").is_none_or(|least| price >= least)
        && number("max_price").is_none_or(|greatest| price <= greatest)
        && parameters
            .get("archived")
            .is_none_or(|archived| (archived == "true") == (product.id % 7 == 0))
}

on_both_engines!(
    the_engine_lists_products_as_a_list_in_memory_does,
    async |address| {
        let db = plans::shop(&address, (700, 2000), 30).await;
        change_some(&db).await;
        let read = async |conn: &mut Conn| {
            let everything = selection(&Parameters::parse("ordering=id")).unwrap();
            let stats = everything.stats(conn, &StatsCache::default()).await?;
            let records = everything.page(conn, &stats, (700, 0)).await?;
            assert_eq!(records.len(), 700);
            let random = Random::seeded(17);
            for _ in 0..400 {
                let filters = filters(&random);
                let what = format!(
                    "{filters}&ordering={}",
                    random_ordering(&random, ProductRecord::FIELDS)
                );
                let parameters = Parameters::parse(&what);
                let is_recent = random.below(4) == 0;
                let created = is_recent.then_some(LAST_DAYS);
                let list = selection(&parameters).unwrap().created(created);
                let order = ordering(&parameters, ProductRecord::FIELDS, BY_TITLE);
                let is_match = |product: &ProductRecord| {
                    let days = created
                        .is_none_or(|(from, until)| (from..until).contains(&product.created_at));
                    days && is_match(product, &parameters)
                };
                let expected = in_memory(&records, &order, is_match, |product| product.id);
                let stats = list.stats(conn, &StatsCache::default()).await?;
                let part = random_range(&random, expected.len());
                let list = (&list, (|product| product.id) as fn(&ProductRecord) -> i64);
                compare(conn, list, &stats, &expected, part, &what).await?;
            }
            Ok::<_, Error>(())
        };
        db.read(read).await.unwrap();
        db.close().await;
    }
);
