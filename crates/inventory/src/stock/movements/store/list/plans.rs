//! Tests that, by the query plans of both engines, no list of movements scans a whole table.

use test_kit::on_both_engines;

use super::{
    super::record_of,
    page::Way::{self, Along, Few, Steps, Suppliers},
    *,
};
use crate::{generate::made_up, plans};

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

async fn plan(conn: &mut Conn, selection: &Selection) -> Result<Vec<String>, Error> {
    let mut measured = selection.measure(conn).await?;
    measured.count = measured.count.max(1);
    let way = selection.way(conn, &measured, 10).await?;
    let engine = conn.engine();
    plans::steps(conn, |query| {
        selection.statement(query, engine, &measured, way, (10, 0))
    })
    .await
}

fn looks_at_all(step: &str) -> bool {
    let step = step.trim().trim_start_matches("->").trim();
    ["m", "product", "x", "q"]
        .iter()
        .any(|name| step == format!("SCAN {name}"))
        || ["inflows", "outflows", "products"]
            .iter()
            .any(|table| step.contains(&format!("Seq Scan on {table} ")))
}

on_both_engines!(
    every_filter_and_order_of_movements_goes_along_an_index,
    async |address| {
        let db = made_up(&address, (300, 6000), 60).await;
        plans::nothing_is_scanned(db, async |conn: &mut Conn| {
            let mut looked = Vec::new();
            for movement in [Movement::Inflow, Movement::Outflow] {
                let orders = movement.fields().iter();
                for order in
                    orders.flat_map(|field| [field.name.to_owned(), format!("-{}", field.name)])
                {
                    for filter in FILTERS {
                        let parameters = Parameters::parse(&format!("{filter}&ordering={order}"));
                        let selection = Selection::parse(movement, &parameters).unwrap();
                        let steps = plan(conn, &selection).await?;
                        // Along the ids of a table is along its index.
                        let by_id = matches!(order.as_str(), "id" | "-id");
                        if !by_id && steps.iter().any(|step| looks_at_all(step)) {
                            looked.push(format!("{movement:?} {filter} by {order}: {steps:#?}"));
                        }
                    }
                }
            }
            Ok(looked)
        })
        .await;
    }
);

/// The ids of a page, by one way.
async fn ids(
    conn: &mut Conn,
    selection: &Selection,
    way: Way,
    part: (i64, i64),
) -> Result<Vec<i64>, Error> {
    let measured = selection.measure(conn).await?;
    let query = selection.statement(Query::new(""), conn.engine(), &measured, way, part);
    let movement = selection.movement;
    let records = conn.all_of(&query, |row| record_of(movement, row)).await?;
    Ok(records.iter().map(|record| record.id).collect())
}

on_both_engines!(every_way_leads_to_the_same_page, async |address| {
    let db = made_up(&address, (300, 6000), 60).await;
    let read = async |conn: &mut Conn| {
        for movement in [Movement::Inflow, Movement::Outflow] {
            for filter in FILTERS.iter().filter(|filter| !filter.contains("product")) {
                let by_supplier = [("supplier", Suppliers)];
                let is_free = movement == Movement::Inflow && !filter.contains("supplier");
                for (order, way) in [
                    ("id", Along(Filtering::RowByRow)),
                    ("created_at", Along(Filtering::Ranged)),
                    ("product", Along(Filtering::RowByRow)),
                    ("product", Along(Filtering::Planned)),
                    ("quantity", Steps),
                    ("description", Steps),
                ]
                .into_iter()
                .chain(by_supplier.into_iter().filter(|_| is_free))
                {
                    for sign in ["", "-"] {
                        for part in [(10, 0), (40, 25), (500, 0), (10, 1200)] {
                            let parameters = format!("{filter}&ordering={sign}{order}");
                            let selection =
                                Selection::parse(movement, &Parameters::parse(&parameters))
                                    .unwrap();
                            let expected = ids(conn, &selection, Few, part).await?;
                            let found = ids(conn, &selection, way, part).await?;
                            let what = format!("{movement:?} {parameters} {part:?}");
                            // What gives up after many values has fewer, and the page goes another way.
                            let gave_up = way == Steps && found.len() < expected.len();
                            assert!(found == expected || gave_up, "{what}");
                            assert!(expected.starts_with(&found), "{what}");
                            let measured = selection.measure(conn).await?;
                            let page = selection.page(conn, &measured, part.0, part.1).await?;
                            let page: Vec<i64> = page.iter().map(|record| record.id).collect();
                            assert_eq!(page, expected, "{what}");
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
