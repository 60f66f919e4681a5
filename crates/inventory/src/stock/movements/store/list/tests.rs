//! Compares the lists of movements with lists in memory, for every access path, and checks the
//! query plans of both engines: no list scans a whole table.

use db::{Conn, Db, Tx};
use test_kit::on_both_engines;
use web::Random;

use super::*;
use crate::{
    listing::tests::{compare, in_memory, one_of, plan, plan_of, random_ordering, random_range},
    plans,
};

const FILTERS: [&str; 8] = [
    "",
    "product=7",
    "supplier=3",
    "date_from=2026-11-15",
    "date_to=2026-10-30",
    "date_from=2026-11-02&date_to=2026-11-02",
    "supplier=3&date_from=2026-11-02&date_to=2026-11-08",
    "product=7&date_from=2026-11-02",
];

fn is_full_scan(step: &str) -> bool {
    plans::is_full_scan(step, &["m", "x"], &["inflows", "outflows", "products"])
}

on_both_engines!(
    every_filter_and_order_of_movements_goes_along_an_index,
    async |address| {
        let db = plans::shop(&address, (300, 6000), 60).await;
        plans::nothing_is_scanned(db, async |conn: &mut Conn| {
            let mut scans = Vec::new();
            for movement in Movement::ALL {
                let orders = movement.fields().iter();
                for order in
                    orders.flat_map(|field| [field.name.to_owned(), format!("-{}", field.name)])
                {
                    for filter in FILTERS {
                        let parameters = Parameters::parse(&format!("{filter}&ordering={order}"));
                        let list = MovementList::parse(movement, &parameters).unwrap();
                        let mut stats = list.stats(conn).await?;
                        stats.count = stats.count.max(1);
                        let steps = plan(conn, &list.selection, &stats).await?;
                        // Reading a table by id is reading along its primary key.
                        let by_id = matches!(order.as_str(), "id" | "-id");
                        if !by_id && steps.iter().any(|step| is_full_scan(step)) {
                            scans.push(format!("{movement:?} {filter} by {order}: {steps:#?}"));
                        }
                    }
                }
            }
            Ok(scans)
        })
        .await;
    }
);

/// Gives some suppliers the same name.
async fn change_some(db: &Db) {
    let change = async |tx: &mut Tx| {
        let sql = "UPDATE suppliers SET name = 'Igual', name_folded = 'igual' WHERE id % 3 = 1";
        tx.execute(sql, &[]).await
    };
    db.write::<_, Error, _>(change).await.unwrap();
}

/// Whether a movement matches the filters of a query string.
fn is_match(record: &MovementRecord, parameters: &Parameters) -> bool {
    let id = |name| {
        parameters
            .get(name)
            .map(|text| text.parse::<i64>().unwrap())
    };
    let day = |name| {
        parameters
            .get(name)
            .map(|day| crate::rest::list::parse_day(day).unwrap())
    };
    let supplier = record.supplier.as_ref().map(|supplier| supplier.id);
    id("supplier").is_none_or(|id| supplier.is_none_or(|supplier| supplier == id))
        && id("product").is_none_or(|id| id == record.product.id)
        && day("date_from").is_none_or(|from| record.created_at >= from)
        && day("date_to").is_none_or(|to| record.created_at < to + DAY)
}

on_both_engines!(
    the_engine_lists_movements_as_a_list_in_memory_does,
    async |address| {
        let db = plans::shop(&address, (50, 3000), 60).await;
        change_some(&db).await;
        let read = async |conn: &mut Conn| {
            let random = Random::seeded(17);
            for movement in Movement::ALL {
                let everything = MovementList::newest(movement);
                let stats = everything.stats(conn).await?;
                let records = everything.selection.page(conn, &stats, (3000, 0)).await?;
                for _ in 0..250 {
                    let what = [
                        one_of(&random, &["", "", "supplier=1", "supplier=3"]),
                        one_of(&random, &["", "", "product=7", "product=1"]),
                        one_of(
                            &random,
                            &["", "", "date_from=2026-11-02", "date_from=2026-10-10"],
                        ),
                        one_of(
                            &random,
                            &["", "", "date_to=2026-11-02", "date_to=2026-11-12"],
                        ),
                    ];
                    let order = random_ordering(&random, movement.fields());
                    let what = format!("{}&ordering={order}", what.join("&"));
                    let parameters = Parameters::parse(&what);
                    let list = MovementList::parse(movement, &parameters).unwrap();
                    let order = ordering(&parameters, movement.fields(), NEWEST_FIRST);
                    let is_match = |record: &MovementRecord| is_match(record, &parameters);
                    let expected = in_memory(&records, &order, is_match, |record| record.id);
                    let stats = list.stats(conn).await?;
                    let part = random_range(&random, expected.len());
                    let what = format!("{movement:?} {what} {part:?}");
                    let list = (
                        &list.selection,
                        (|record| record.id) as fn(&MovementRecord) -> i64,
                    );
                    compare(conn, list, &stats, &expected, part, &what).await?;
                }
            }
            Ok::<_, Error>(())
        };
        db.read(read).await.unwrap();
        db.close().await;
    }
);

/// The full scans in the query plans of searches, with every combination of filters.
async fn full_scans(conn: &mut Conn, movement: Movement) -> Result<Vec<String>, Error> {
    let (search, supplier) = match movement {
        Movement::Inflow => (&SEARCH_OF_INFLOWS, "supplier=2"),
        Movement::Outflow => (&SEARCH_OF_OUTFLOWS, ""),
    };
    let mut steps = Vec::new();
    for supplier in ["", supplier] {
        for days in ["", "&date_from=2026-11-20&date_to=2026-11-20"] {
            for product in ["", "&product=7"] {
                let parameters = Parameters::parse(&format!("{supplier}{days}{product}"));
                let list = MovementList::parse(movement, &parameters).unwrap();
                let mut texts = list.selection.of_list(search.texts);
                texts.order = by_time(true);
                let stats = QueryStats::UNKNOWN;
                steps.extend(plan_of(conn, &texts, &stats, (100, 0)).await?);
                let of_three = Test::IsOneOf(vec![1, 2, 3]);
                let of_three = Condition::new("product", "product_id", of_three);
                texts.conditions.push(of_three);
                steps.extend(plan_of(conn, &texts, &stats, (100, 0)).await?);
            }
        }
    }
    steps.retain(|step| {
        let step = step.trim();
        step == "SCAN m" || step == "SCAN l" || step.contains("Seq Scan on")
    });
    Ok(steps)
}

on_both_engines!(
    movements_are_searched_along_an_index_however_they_are_narrowed,
    async |address| {
        let db = plans::shop(&address, (200, 20_000), 30).await;
        plans::nothing_is_scanned(db, async |conn: &mut Conn| {
            let mut scans = full_scans(conn, Movement::Inflow).await?;
            scans.extend(full_scans(conn, Movement::Outflow).await?);
            Ok(scans)
        })
        .await;
    }
);
