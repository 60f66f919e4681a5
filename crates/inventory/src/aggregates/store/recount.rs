//! SQL that reads everything that the aggregates count, in batches by id.

use db::{Conn, Error, Money};

use super::snapshot_of;
use crate::{
    aggregates::{Delta, ProductSnapshot, day_of},
    movement::Movement,
};

/// A ledger entry of an outflow or of its reversal.
pub(in crate::aggregates) struct Sold {
    pub(in crate::aggregates) entry: i64,
    /// Whether the entry reverses the outflow.
    pub(in crate::aggregates) is_reversal: bool,
    pub(in crate::aggregates) outflow: Option<i64>,
    pub(in crate::aggregates) change: Delta,
}

/// The next products after an id, each as a delta that adds it, with its id.
pub(in crate::aggregates) async fn products_after(
    conn: &mut Conn,
    id: i64,
    limit: i64,
) -> Result<Vec<(i64, Delta)>, Error> {
    conn.all(
        "SELECT p.id, p.category_id, p.brand_id, p.cost_price, p.selling_price, s.quantity
         FROM products AS p JOIN product_stock AS s ON s.product_id = p.id
         WHERE p.id > $1 ORDER BY p.id LIMIT $2",
        &[&id, &limit],
        |row| {
            let change = Delta {
                product: snapshot_of(row, 1)?,
                products: 1,
                units: row.get(5)?,
                ..Delta::default()
            };
            Ok((row.get(0)?, change))
        },
    )
    .await
}

/// The next inflows after an id, each as a delta, with its id.
pub(in crate::aggregates) async fn inflows_after(
    conn: &mut Conn,
    id: i64,
    limit: i64,
) -> Result<Vec<(i64, Delta)>, Error> {
    conn.all(
        "SELECT id, supplier_id, quantity, created_at FROM inflows WHERE id > $1 ORDER BY id LIMIT $2",
        &[&id, &limit],
        |row| {
            let change = Delta {
                moved: Some((Movement::Inflow, day_of(row.get(3)?))),
                supplier: row.get(1)?,
                movements: 1,
                moved_units: row.get(2)?,
                movement_id: row.get(0)?,
                ..Delta::default()
            };
            Ok((row.get(0)?, change))
        },
    )
    .await
}

/// The next ledger entries of outflows and reversals before an entry, newest first. An outflow
/// counts on the day of its own time. That of a reversed one does not matter.
pub(in crate::aggregates) async fn outflows_before(
    conn: &mut Conn,
    entry: i64,
    limit: i64,
) -> Result<Vec<Sold>, Error> {
    conn.all(
        "SELECT l.id, l.kind, l.change, l.cost_price, l.selling_price, l.reference_id, COALESCE(o.created_at, l.created_at), p.cost_price, p.selling_price
         FROM ledger_entries AS l LEFT JOIN products AS p ON p.id = l.product_id LEFT JOIN outflows AS o ON o.id = l.reference_id
         WHERE l.id < $1 AND l.kind IN ('outflow', 'outflow_reversed') ORDER BY l.id DESC LIMIT $2",
        &[&entry, &limit],
        |row| {
            let kind: String = row.get(1)?;
            let units: i64 = row.get(2)?;
            // All sales of a deleted product are reversed, so its price does not matter.
            let present = |price: Option<Money>| price.unwrap_or_default();
            let product = ProductSnapshot {
                cost_price: present(row.get(7)?),
                selling_price: present(row.get(8)?),
                ..ProductSnapshot::default()
            };
            Ok(Sold {
                entry: row.get(0)?,
                is_reversal: kind != Movement::Outflow.name(),
                outflow: row.get(5)?,
                change: Delta {
                    moved: Some((Movement::Outflow, day_of(row.get(6)?))),
                    movements: 1,
                    moved_units: -units,
                    booked_prices: (row.get(3)?, row.get(4)?),
                    present: -units,
                    movement_id: row.get(5)?,
                    product,
                    ..Delta::default()
                },
            })
        },
    )
    .await
}
