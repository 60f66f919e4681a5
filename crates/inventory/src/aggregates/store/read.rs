//! SQL that reads the aggregates. Each statement reads the aggregates together with the deltas, so
//! that a compaction in between can neither hide a change nor count it twice.

use std::collections::BTreeMap;

use db::{Conn, Error, Query, Timestamp};

use super::{day_aggregate_of, delta_columns, delta_of, stock_aggregate_of};
use crate::{
    aggregates::model::{
        ALL_SUPPLIERS, Aggregates, DayAggregate, DayKey, Dimension, IdRange, MovementRange,
        StockAggregate, StockKey,
    },
    movement::Movement,
};

/// The number of products: all, or those of one category or brand.
pub(crate) async fn count_products(conn: &mut Conn, of: Option<StockKey>) -> Result<u64, Error> {
    let mut query = Query::new(
        "SELECT CAST(COALESCE(sum(products), 0) AS BIGINT) FROM (SELECT products FROM stock_aggregates WHERE dimension = ",
    );
    let dimension = of.map_or(Dimension::Category, |(dimension, _)| dimension);
    query.bind(dimension.name());
    if let Some((_, record)) = of {
        query.push(" AND record_id = ").bind(record);
    }
    query.push(" UNION ALL SELECT products FROM aggregate_deltas WHERE products <> 0");
    if let Some((_, record)) = of {
        query
            .push(match dimension {
                Dimension::Category => " AND category_id = ",
                Dimension::Brand => " AND brand_id = ",
            })
            .bind(record);
    }
    query.push(") AS counted");
    let count = conn.one_of(&query, |row| row.get::<i64>(0)).await?;
    Ok(count.unsigned_abs())
}

/// The number of movements in a range of whole days, of one supplier or of all, and the range of
/// their ids. `from` is the start of the first day, `until` the start of the day after the last.
pub(crate) async fn movement_range(
    conn: &mut Conn,
    movement: Movement,
    supplier: Option<i64>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<MovementRange, Error> {
    // Ids begin at 1; 0 stands for all suppliers in the table.
    if supplier.is_some_and(|supplier| supplier < 1) {
        return Ok(MovementRange {
            count: 0,
            ids: (1, 0),
        });
    }
    let mut query = Query::new(
        "SELECT CAST(COALESCE(sum(movements), 0) AS BIGINT), COALESCE(min(first_id), 1), COALESCE(max(last_id), 0)
         FROM (SELECT movements, CAST(NULL AS BIGINT) AS first_id, CAST(NULL AS BIGINT) AS last_id FROM daily_aggregates",
    );
    let stored = supplier.or(Some(ALL_SUPPLIERS));
    push_selection(&mut query, movement, stored, from, until);
    query.push(" UNION ALL SELECT 0, first_id, last_id FROM daily_id_ranges");
    push_selection(&mut query, movement, None, from, until);
    query.push(" UNION ALL SELECT movements, movement_id, movement_id FROM aggregate_deltas");
    push_selection(&mut query, movement, supplier, from, until);
    query.push(") AS counted");
    conn.one_of(&query, |row| {
        Ok(MovementRange {
            count: row.get::<i64>(0)?.unsigned_abs(),
            ids: (row.get(1)?, row.get(2)?),
        })
    })
    .await
}

fn push_selection(
    query: &mut Query,
    movement: Movement,
    supplier: Option<i64>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
) {
    query.push(" WHERE movement = ").bind(movement.name());
    if let Some(supplier) = supplier {
        query.push(" AND supplier_id = ").bind(supplier);
    }
    if let Some(from) = from {
        query.push(" AND day >= ").bind(from);
    }
    if let Some(until) = until {
        query.push(" AND day < ").bind(until);
    }
}

/// The aggregates of each UTC day that has movements, from the day `from` up to but excluding the
/// day `until`.
pub async fn days(
    conn: &mut Conn,
    movement: Movement,
    from: Timestamp,
    until: Timestamp,
) -> Result<BTreeMap<Timestamp, DayAggregate>, Error> {
    let mut aggregates = Aggregates::default();
    conn.all(
        concat!(
            "SELECT day, movements, units, cost, value, present_cost, present_value,
                    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
             FROM daily_aggregates WHERE movement = $1 AND supplier_id = 0 AND day >= $2 AND day < $3
             UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, ",
            delta_columns!(),
            " FROM aggregate_deltas WHERE movement = $1 AND day >= $2 AND day < $3"
        ),
        &[&movement.name(), &from, &until],
        |row| {
            if let Some(day) = row.get::<Option<Timestamp>>(0)? {
                let key = DayKey {
                    movement,
                    supplier: ALL_SUPPLIERS,
                    day,
                };
                aggregates
                    .days
                    .entry(key)
                    .or_default()
                    .add(&day_aggregate_of(row, 1)?);
            } else {
                aggregates.add(&delta_of(row, 7)?);
            }
            Ok(())
        },
    )
    .await?;
    let all_suppliers = aggregates
        .days
        .into_iter()
        .filter(|(key, _)| key.supplier == ALL_SUPPLIERS);
    Ok(all_suppliers
        .map(|(key, aggregate)| (key.day, aggregate))
        .collect())
}

/// The stock by category and by brand, with the record's id.
pub async fn stock(conn: &mut Conn) -> Result<BTreeMap<(Dimension, i64), StockAggregate>, Error> {
    let mut aggregates = Aggregates::default();
    conn.all(
        concat!(
            "SELECT dimension, record_id, products, units, cost, value,
                    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
             FROM stock_aggregates
             UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, ",
            delta_columns!(),
            " FROM aggregate_deltas WHERE products <> 0 OR units <> 0"
        ),
        &[],
        |row| {
            if let Some(dimension) = row.get::<Option<Dimension>>(0)? {
                let key = (dimension, row.get(1)?);
                aggregates
                    .stock
                    .entry(key)
                    .or_default()
                    .add(&stock_aggregate_of(row, 2)?);
            } else {
                aggregates.add(&delta_of(row, 6)?);
            }
            Ok(())
        },
    )
    .await?;
    Ok(aggregates.stock)
}

/// All aggregates with the deltas added. The caller must read from one snapshot.
pub(in crate::aggregates) async fn stored(conn: &mut Conn) -> Result<Aggregates, Error> {
    let mut aggregates = Aggregates {
        stock: stock(conn).await?,
        ..Aggregates::default()
    };
    conn.all(
        "SELECT movement, supplier_id, day, movements, units, cost, value, present_cost, present_value FROM daily_aggregates",
        &[],
        |row| {
            let key = DayKey {
                movement: row.get(0)?,
                supplier: row.get(1)?,
                day: row.get(2)?,
            };
            aggregates.days.insert(key, day_aggregate_of(row, 3)?);
            Ok(())
        },
    )
    .await?;
    conn.all(
        "SELECT movement, day, first_id, last_id FROM daily_id_ranges",
        &[],
        |row| {
            let range = IdRange {
                first: row.get(2)?,
                last: row.get(3)?,
            };
            let key = (row.get(0)?, row.get(1)?);
            aggregates.id_ranges.insert(key, range);
            Ok(())
        },
    )
    .await?;
    conn.all(
        concat!("SELECT ", delta_columns!(), " FROM aggregate_deltas"),
        &[],
        |row| {
            let mut change = delta_of(row, 0)?;
            // `stock` has added these already.
            (change.products, change.units) = (0, 0);
            aggregates.add(&change);
            Ok(())
        },
    )
    .await?;
    Ok(aggregates)
}

/// The id of the newest ledger entry. It grows with every change of stock, in any process.
pub(crate) async fn ledger_end(conn: &mut Conn) -> Result<i64, Error> {
    conn.one(
        "SELECT COALESCE(max(id), 0) FROM ledger_entries",
        &[],
        |row| row.get(0),
    )
    .await
}
