//! The engines' own word that no list of movements looks at a whole table.

use test_kit::on_both_engines;

use super::*;
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
    let count = selection.count(conn).await?.max(1);
    let way = selection.way(conn, count, 10).await?;
    let engine = conn.engine();
    plans::steps(conn, |query| {
        selection.statement(query, engine, way, (10, 0))
    })
    .await
}

fn looks_at_all(step: &str) -> bool {
    let step = step.trim().trim_start_matches("->").trim();
    ["m", "p", "x", "q"]
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
        let looked = db
            .read(async |conn: &mut Conn| {
                plans::forbid_scans(conn).await?;
                let mut looked = Vec::new();
                for movement in [Movement::Inflow, Movement::Outflow] {
                    let orders = movement.fields().iter();
                    for order in orders.flat_map(|field| [(*field).to_owned(), format!("-{field}")])
                    {
                        for filter in FILTERS {
                            let parameters =
                                Parameters::parse(&format!("{filter}&ordering={order}"));
                            let selection = Selection::parse(movement, &parameters).unwrap();
                            let steps = plan(conn, &selection).await?;
                            // Along the ids of a table is along its index.
                            let by_id = matches!(order.as_str(), "id" | "-id");
                            if !by_id && steps.iter().any(|step| looks_at_all(step)) {
                                looked
                                    .push(format!("{movement:?} {filter} by {order}: {steps:#?}"));
                            }
                        }
                    }
                }
                plans::allow_scans(conn).await?;
                Ok::<_, Error>(looked)
            })
            .await
            .unwrap();
        assert!(looked.is_empty(), "{}", looked.join("\n"));
        db.close().await;
    }
);
