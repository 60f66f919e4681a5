//! The lists of inflows and outflows: their filters, their orders, and how many records they select.
//!
//! A page of ten million movements must come within some milliseconds, and a sale must stay cheap:
//!
//! - The ids of a page are read in order from an index, and the records are joined afterwards (`page`).
//! - Counts come from the exact totals of `aggregates`: of the whole list, of a supplier, of a range of days.
//! - A range of days in another order than by time starts at the first id of its first day, which
//!   `day_spans` keeps. Ids follow time unless an old file was imported; then the range of ids is wider,
//!   and the list still exact. A further index would be written by every sale.
//! - Each inflow stores its product's folded title for the order by it. Outflows do not, because a sale
//!   must stay cheap: they are found product by product in the order of titles.
//! - The order by quantity or description goes from value to value (`steps`), so millions of equal
//!   values cost nothing. The order by supplier goes from name to name (`suppliers`).
//! - The movements of one product are sorted from its index by time, a supplier's few from its own.
//!
//! `plans` proves by the query plans of both engines that no combination scans the table.

mod page;
#[cfg(test)]
mod plans;
mod steps;
mod suppliers;

use std::time::Duration;

use db::{Conn, Error, Query, Timestamp};
use resource::sql;

use super::super::model::Movement;
use crate::aggregates;
use crate::rest::{
    fields::FieldErrors,
    list::{FilterKind, Filters, OrderBy, QueryFilter, ordering},
    query::Parameters,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const FROM: QueryFilter = QueryFilter {
    name: "date_from",
    kind: FilterKind::Day,
    about: "From this day on, in UTC.",
};
const TO: QueryFilter = QueryFilter {
    name: "date_to",
    kind: FilterKind::Day,
    about: "To the end of this day, in UTC.",
};
/// What a list may be filtered by beside its fields.
pub(in crate::stock::movements) const DAYS: &[QueryFilter] = &[FROM, TO];

/// The order of a list that is asked for none.
pub(in crate::stock::movements) const NEWEST_FIRST: OrderBy = OrderBy {
    field: "created_at",
    descending: true,
};

/// Which movements are asked for, and in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::stock::movements) struct Selection {
    movement: Movement,
    supplier: Option<i64>,
    product: Option<i64>,
    from: Option<Timestamp>,
    /// The first moment after the last day.
    until: Option<Timestamp>,
    order: Vec<OrderBy>,
}

/// Whether filters stand as the engine's planner may use them, or so that no index is chosen for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filtering {
    Planned,
    /// Days as the planner may use them where time orders, all else row by row.
    Ranged,
    RowByRow,
}

/// What a selection amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stock::movements) struct Measured {
    /// How many movements.
    pub(in crate::stock::movements) count: u64,
    /// Of a stretch of days: the first and the last id that any of them may have.
    ids: Option<(i64, i64)>,
}

impl Measured {
    /// So many, wherever they are.
    pub(in crate::stock::movements) const fn of(count: u64) -> Self {
        Self { count, ids: None }
    }

    /// The bounds of the ids, of `inflows` or `outflows AS m`.
    fn push_ids(&self, query: &mut Query) {
        if let Some((first, last)) = self.ids {
            query
                .push(" AND m.id >= ")
                .bind(first)
                .push(" AND m.id <= ")
                .bind(last);
        }
    }
}

impl Selection {
    /// All movements, the newest first.
    pub(in crate::stock::movements) fn newest(movement: Movement) -> Self {
        Self {
            movement,
            supplier: None,
            product: None,
            from: None,
            until: None,
            order: vec![NEWEST_FIRST],
        }
    }

    /// Reads the query string.
    ///
    /// # Errors
    ///
    /// The messages of all filters that cannot be read.
    pub(in crate::stock::movements) fn parse(
        movement: Movement,
        parameters: &Parameters,
    ) -> Result<Self, FieldErrors> {
        let mut filters = Filters::new(parameters);
        let names: Vec<_> = movement.fields().iter().map(|field| field.name).collect();
        let mut selection = Self {
            movement,
            supplier: if movement == Movement::Inflow {
                filters.id("supplier")
            } else {
                None
            },
            product: filters.id("product"),
            from: filters.day_start(FROM.name),
            until: filters.day_start(TO.name).map(|day| day + DAY),
            order: ordering(parameters, &names, NEWEST_FIRST),
        };
        // All movements of one product have the same product.
        let (supplier, product) = (selection.supplier.is_some(), selection.product.is_some());
        selection.order.retain(|by| match by.field {
            "supplier" => !supplier,
            "product" => !product,
            _ => true,
        });
        let errors = filters.finish();
        if errors.is_empty() {
            Ok(selection)
        } else {
            Err(errors)
        }
    }

    /// How many movements are selected: those of a product are counted in its index, any others are aggregated by day.
    pub(in crate::stock::movements) async fn measure(
        &self,
        conn: &mut Conn,
    ) -> Result<Measured, Error> {
        let (movement, supplier) = (self.movement, self.supplier);
        if self.product.is_none() && self.has_days() {
            let stretch =
                aggregates::measure_movements(conn, movement, supplier, self.from, self.until)
                    .await?;
            return Ok(Measured {
                count: stretch.count,
                ids: Some(stretch.ids),
            });
        }
        if self.product.is_none() {
            let count = aggregates::count_movements(conn, movement, supplier, None, None).await?;
            return Ok(Measured::of(count));
        }
        let mut query = sql::count(movement.path());
        query.push(" AS m WHERE TRUE");
        self.push_filters(&mut query, Filtering::Planned);
        let count: i64 = conn.one_of(&query, |row| row.get(0)).await?;
        Ok(Measured::of(count.unsigned_abs()))
    }

    const fn has_days(&self) -> bool {
        self.from.is_some() || self.until.is_some()
    }

    /// The filters. A sign before a column keeps its index out of the plan, on both engines.
    fn push_filters(&self, query: &mut Query, filtering: Filtering) {
        let is_planned = filtering == Filtering::Planned;
        if let Some(supplier) = self.supplier {
            query
                .push(if is_planned {
                    " AND m.supplier_id = "
                } else {
                    " AND +m.supplier_id = "
                })
                .bind(supplier);
        }
        if let Some(product) = self.product {
            query.push(" AND m.product_id = ").bind(product);
        }
        self.push_days(query, filtering);
    }

    fn push_days(&self, query: &mut Query, filtering: Filtering) {
        let is_planned = filtering != Filtering::RowByRow;
        if let Some(from) = self.from {
            query
                .push(if is_planned {
                    " AND m.created_at >= "
                } else {
                    " AND COALESCE(m.created_at, m.created_at) >= "
                })
                .bind(from);
        }
        if let Some(until) = self.until {
            query
                .push(if is_planned {
                    " AND m.created_at < "
                } else {
                    " AND COALESCE(m.created_at, m.created_at) < "
                })
                .bind(until);
        }
    }
}
