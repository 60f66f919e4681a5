//! SQL that reads the aggregates. Each statement reads the aggregates together with the deltas, so
//! that a compaction in between can neither hide a change nor count it twice.

use std::collections::BTreeMap;

use db::{Conn, Error, Query, Row, Timestamp};

use super::{day_aggregate_of, delta_columns, delta_of, movement_of, stock_aggregate_of};
use crate::{
    aggregates::model::{
        ALL_SUPPLIERS, Aggregates, DayAggregate, DayKey, Dimension, IdRange, IdRangeKey,
        StockAggregate, StockKey,
    },
    movement::Movement,
};

/// The number of products: all, or those of one category or brand.
pub(in crate::aggregates) async fn count_products(
    conn: &mut Conn,
    of: Option<StockKey>,
) -> Result<i64, Error> {
    let mut query = Query::new(
        "SELECT CAST(COALESCE(sum(products), 0) AS BIGINT) FROM (SELECT products FROM stock_aggregates WHERE dimension = ",
    );
    let dimension = of.map_or(Dimension::Category, |key| key.dimension);
    query.bind(dimension.name());
    if let Some(key) = of {
        query.push(" AND record_id = ").bind(key.record);
    }
    query.push(" UNION ALL SELECT products FROM aggregate_deltas WHERE products <> 0");
    if let Some(key) = of {
        query
            .push(match dimension {
                Dimension::Category => " AND category_id = ",
                Dimension::Brand => " AND brand_id = ",
            })
            .bind(key.record);
    }
    query.push(") AS counted");
    conn.one_of(&query, |row| row.get(0)).await
}

/// The number of movements in a range of whole days (end exclusive), of one supplier or of all.
pub(in crate::aggregates) async fn count_movements(
    conn: &mut Conn,
    movement: Movement,
    supplier: Option<i64>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<i64, Error> {
    let mut query = Query::new(
        "SELECT CAST(COALESCE(sum(movements), 0) AS BIGINT) FROM (SELECT movements FROM daily_aggregates WHERE movement = ",
    );
    query
        .bind(movement.name())
        .push(" AND supplier_id = ")
        .bind(supplier.unwrap_or(ALL_SUPPLIERS));
    push_days(&mut query, from, until);
    query
        .push(" UNION ALL SELECT movements FROM aggregate_deltas WHERE movement = ")
        .bind(movement.name());
    if let Some(supplier) = supplier {
        query.push(" AND supplier_id = ").bind(supplier);
    }
    push_days(&mut query, from, until);
    query.push(") AS counted");
    conn.one_of(&query, |row| row.get(0)).await
}

/// Same as [`count_movements`], with the smallest and largest id that any can have.
pub(in crate::aggregates) async fn movement_range(
    conn: &mut Conn,
    movement: Movement,
    supplier: Option<i64>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<(i64, (i64, i64)), Error> {
    let mut query = Query::new(
        "SELECT CAST(COALESCE(sum(movements), 0) AS BIGINT), COALESCE(min(first_id), 1), COALESCE(max(last_id), 0)
         FROM (SELECT movements, CAST(NULL AS BIGINT) AS first_id, CAST(NULL AS BIGINT) AS last_id FROM daily_aggregates WHERE movement = ",
    );
    query
        .bind(movement.name())
        .push(" AND supplier_id = ")
        .bind(supplier.unwrap_or(ALL_SUPPLIERS));
    push_days(&mut query, from, until);
    query
        .push(" UNION ALL SELECT 0, first_id, last_id FROM daily_id_ranges WHERE movement = ")
        .bind(movement.name());
    push_days(&mut query, from, until);
    query.push(
        " UNION ALL SELECT movements, CASE WHEN movements > 0 THEN COALESCE(movement_id, 1) END,
                           CASE WHEN movements > 0 THEN COALESCE(movement_id, 9223372036854775807) END
          FROM aggregate_deltas WHERE movement = ",
    );
    query.bind(movement.name());
    if let Some(supplier) = supplier {
        query.push(" AND supplier_id = ").bind(supplier);
    }
    push_days(&mut query, from, until);
    query.push(") AS counted");
    conn.one_of(&query, |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))
        .await
}

fn push_days(query: &mut Query, from: Option<Timestamp>, until: Option<Timestamp>) {
    if let Some(from) = from {
        query.push(" AND day >= ").bind(from);
    }
    if let Some(until) = until {
        query.push(" AND day < ").bind(until);
    }
}

/// The aggregates of each day in a range that has movements. `until` is exclusive.
pub(in crate::aggregates) async fn days(
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
                aggregates.take(&delta_of(row, 7)?);
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

pub(in crate::aggregates) async fn stock(
    conn: &mut Conn,
) -> Result<BTreeMap<StockKey, StockAggregate>, Error> {
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
            if let Some(dimension) = row.get::<Option<String>>(0)? {
                let key = StockKey {
                    dimension: dimension_of(&dimension),
                    record: row.get(1)?,
                };
                aggregates
                    .stock
                    .entry(key)
                    .or_default()
                    .add(&stock_aggregate_of(row, 2)?);
            } else {
                aggregates.take(&delta_of(row, 6)?);
            }
            Ok(())
        },
    )
    .await?;
    Ok(aggregates.stock)
}

/// The movement in the first column.
fn movement_in(row: &Row<'_>) -> Result<Movement, Error> {
    let name: String = row.get(0)?;
    movement_of(&name).ok_or_else(|| Error::other("an unknown movement"))
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
            let movement = movement_in(row)?;
            let key = DayKey {
                movement,
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
            let movement = movement_in(row)?;
            let key = IdRangeKey {
                movement,
                day: row.get(1)?,
            };
            let range = IdRange {
                first: row.get(2)?,
                last: row.get(3)?,
            };
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
            aggregates.take(&change);
            Ok(())
        },
    )
    .await?;
    Ok(aggregates)
}

fn dimension_of(name: &str) -> Dimension {
    if name == Dimension::Brand.name() {
        Dimension::Brand
    } else {
        Dimension::Category
    }
}

/// The id of the newest ledger entry.
pub(in crate::aggregates) async fn ledger_end(conn: &mut Conn) -> Result<i64, Error> {
    conn.one(
        "SELECT COALESCE(max(id), 0) FROM ledger_entries",
        &[],
        |row| row.get(0),
    )
    .await
}
