//! Tests that, by the query plans of both engines, no list of products scans a whole table.

use db::{Conn, Error, Query, Timestamp};
use resource::Record as _;
use test_kit::on_both_engines;

use super::{
    Filtering, Measures, ProductRecord, Selection,
    page::Way::{self, Along, Entries, Few, Groups, Word},
};
use crate::{generate::made_up, plans, rest::query::Parameters};

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

/// The last five days of the shop, and what is to come.
const LAST_DAYS: (Timestamp, Timestamp) = (
    Timestamp::from_micros(UNTIL - 5 * 86_400_000_000),
    Timestamp::from_micros(UNTIL + 86_400_000_000),
);
const UNTIL: i64 = 1_795_176_000_000_000;

/// The steps of the plan for one page.
async fn plan(conn: &mut Conn, selection: &Selection) -> Result<Vec<String>, Error> {
    let measured = selection.measure(conn, &Measures::default()).await?;
    let engine = conn.engine();
    plans::steps(conn, |query| {
        selection.statement(query, engine, &measured, (10, 0))
    })
    .await
}

/// Whether a step looks at every row of a table that may be large, and not along an index.
fn looks_at_all(step: &str) -> bool {
    let step = step.trim().trim_start_matches("->").trim();
    ["p", "s", "x", "w", "q"]
        .iter()
        .any(|name| step == format!("SCAN {name}"))
        || ["products", "product_stock", "product_words"]
            .iter()
            .any(|table| {
                step.starts_with(&format!("Seq Scan on {table} "))
                    || step.contains(&format!("Parallel Seq Scan on {table} "))
            })
}

on_both_engines!(
    every_filter_and_order_of_products_goes_along_an_index,
    async |address| {
        let db = made_up(&address, (3000, 1000), 30).await;
        archive_some(&db).await;
        plans::nothing_is_scanned(db, async |conn: &mut Conn| {
            let mut looked = Vec::new();
            for filter in FILTERS {
                for order in ProductRecord::NAMES
                    .iter()
                    .flat_map(|field| [(*field).to_owned(), format!("-{field}")])
                {
                    let parameters = Parameters::parse(&format!("{filter}&ordering={order}"));
                    // Along the ids of a table is along its index.
                    let by_id = matches!(order.as_str(), "id" | "-id");
                    for created in [None, Some(LAST_DAYS)] {
                        let selection = Selection::parse(&parameters).unwrap();
                        let steps = plan(conn, &selection.created(created)).await?;
                        if !by_id && steps.iter().any(|step| looks_at_all(step)) {
                            looked.push(format!("{filter} {created:?} by {order}: {steps:#?}"));
                        }
                    }
                }
            }
            Ok(looked)
        })
        .await;
    }
);

on_both_engines!(a_stretch_of_time_is_kept_in_every_order, async |address| {
    let db = made_up(&address, (3000, 1000), 30).await;
    let read = async |conn: &mut Conn| {
        for field in ProductRecord::NAMES {
            for sign in ["", "-"] {
                let parameters = Parameters::parse(&format!("ordering={sign}{field}"));
                let selection = Selection::parse(&parameters).unwrap();
                let selection = selection.created(Some(LAST_DAYS));
                let measured = selection.measure(conn, &Measures::default()).await?;
                let found = selection.page(conn, &measured, 3000, 0).await?;
                assert_eq!(found.len() as u64, measured.count, "{sign}{field}");
                let (from, until) = LAST_DAYS;
                for product in found {
                    assert!((from..until).contains(&product.created_at), "{sign}{field}");
                }
            }
        }
        Ok::<_, Error>(())
    };
    db.read(read).await.unwrap();
    db.close().await;
});

/// The ids of a page, by one way.
async fn ids(
    conn: &mut Conn,
    parameters: &str,
    way: Way,
    part: (i64, i64),
) -> Result<Vec<i64>, Error> {
    let selection = Selection::parse(&Parameters::parse(parameters)).unwrap();
    let query = selection.by_way(Query::new(""), conn.engine(), way, part);
    let records = conn.all_of(&query, ProductRecord::from_row).await?;
    Ok(records.iter().map(|record| record.id).collect())
}

/// Every seventh product is archived.
async fn archive_some(db: &db::Db) {
    let archive = async |tx: &mut db::Tx| {
        let sql = "UPDATE product_stock SET archived_at = $1 WHERE product_id % 7 = 0";
        tx.execute(sql, &[&LAST_DAYS.0]).await
    };
    db.write::<_, Error, _>(archive).await.unwrap();
}

on_both_engines!(every_way_leads_to_the_same_page, async |address| {
    let db = made_up(&address, (3000, 1000), 30).await;
    archive_some(&db).await;
    let read = async |conn: &mut Conn| {
        for filter in [
            "",
            "min_price=20",
            "max_price=5",
            "min_price=5&max_price=5.50",
            "archived=false",
            "archived=false&min_price=20",
        ] {
            for order in [
                "title",
                "description",
                "cost_price",
                "selling_price",
                "category",
                "brand",
            ] {
                let ways: &[Way] = match order {
                    "category" | "brand" => &[
                        Groups(Filtering::Planned),
                        Groups(Filtering::RowByRow),
                        Along(Filtering::RowByRow),
                    ],
                    _ => &[
                        Along(Filtering::Planned),
                        Along(Filtering::Ranged),
                        Along(Filtering::RowByRow),
                    ],
                };
                for sign in ["", "-"] {
                    for part in [(10, 0), (20, 35), (7, 180)] {
                        let parameters = format!("{filter}&ordering={sign}{order}");
                        let expected = ids(conn, &parameters, Few, part).await?;
                        assert!(!expected.is_empty() || part.1 > 0, "{parameters}");
                        for way in ways {
                            let found = ids(conn, &parameters, *way, part).await?;
                            assert_eq!(found, expected, "{parameters} {part:?} {way:?}");
                        }
                    }
                }
            }
        }
        Ok::<_, Error>(())
    };
    db.read(read).await.unwrap();
    db.close().await;
});

on_both_engines!(
    every_way_of_a_search_leads_to_the_same_page,
    async |address| {
        let db = made_up(&address, (3000, 1000), 30).await;
        archive_some(&db).await;
        let read = async |conn: &mut Conn| {
            for filter in [
                "search=cafe&archived=false",
                "search=ca&category=2&archived=true",
                "search=cafe",
                "search=ca",
                "search=integral+kg&max_price=90",
                "search=marca&category=2&min_price=3",
                "search=edicao&brand=3",
            ] {
                let selection = Selection::parse(&Parameters::parse(filter)).unwrap();
                let measured = selection.measure(conn, &Measures::default()).await?;
                let Some(lead) = measured.lead else {
                    continue;
                };
                for field in ProductRecord::NAMES {
                    for sign in ["", "-"] {
                        let parameters = format!("{filter}&ordering={sign}{field}");
                        let all = (3000, 0);
                        let expected =
                            ids(conn, &parameters, Along(Filtering::RowByRow), all).await?;
                        assert_eq!(expected.len() as u64, measured.count, "{parameters}");
                        let found = ids(conn, &parameters, Word(lead), all).await?;
                        assert_eq!(found, expected, "{parameters}");
                        let asked = Parameters::parse(&parameters);
                        let asked = Selection::parse(&asked).unwrap();
                        if !asked.is_of_entries() {
                            continue;
                        }
                        for part in [all, (7, 0), (10, 13)] {
                            let from = usize::try_from(part.1).unwrap().min(expected.len());
                            let until = usize::try_from(part.0 + part.1).unwrap();
                            let expected = &expected[from..until.min(expected.len()).max(from)];
                            let found = ids(conn, &parameters, Entries(lead), part).await?;
                            assert_eq!(found, expected, "{parameters} {part:?}");
                        }
                    }
                }
            }
            Ok::<_, Error>(())
        };
        db.read(read).await.unwrap();
        db.close().await;
    }
);
