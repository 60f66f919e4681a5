//! The lists of inflows and outflows: their filters, their orders, and the statement that each combination becomes.
//! The ids of a page come in order from an index; the records are joined afterwards.

use std::time::Duration;

use db::{Conn, Error, Query, Timestamp};

use super::{
    super::model::{Movement, MovementRecord},
    record_of,
};
use crate::rest::{
    fields::FieldErrors,
    list::{Filters, OrderBy, ordering},
    query::Parameters,
};
use crate::tallies;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

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

impl Selection {
    /// All movements, the newest first.
    pub(in crate::stock::movements) fn newest(movement: Movement) -> Self {
        Self {
            movement,
            supplier: None,
            product: None,
            from: None,
            until: None,
            order: vec![OrderBy {
                field: "created_at",
                descending: true,
            }],
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
        let selection = Self {
            movement,
            supplier: if movement == Movement::Inflow {
                filters.id("supplier")
            } else {
                None
            },
            product: filters.id("product"),
            from: filters.day_start("date_from"),
            until: filters.day_start("date_to").map(|day| day + DAY),
            order: ordering(
                parameters,
                movement.fields(),
                OrderBy {
                    field: "created_at",
                    descending: true,
                },
            ),
        };
        let errors = filters.finish();
        if errors.is_empty() {
            Ok(selection)
        } else {
            Err(errors)
        }
    }

    /// How many movements are selected: those of a product are counted in its index, any others are tallied by day.
    pub(in crate::stock::movements) async fn count(&self, conn: &mut Conn) -> Result<u64, Error> {
        if self.product.is_none() {
            return tallies::count_movements(
                conn,
                self.movement,
                self.supplier,
                self.from,
                self.until,
            )
            .await;
        }
        let mut query = Query::new(match self.movement {
            Movement::Inflow => "SELECT count(*) FROM inflows AS m WHERE TRUE",
            Movement::Outflow => "SELECT count(*) FROM outflows AS m WHERE TRUE",
        });
        self.push_filters(&mut query);
        conn.one_of(&query, |row| row.get::<i64>(0))
            .await
            .map(i64::unsigned_abs)
    }

    /// One page of them.
    pub(in crate::stock::movements) async fn page(
        &self,
        conn: &mut Conn,
        limit: i64,
        offset: i64,
    ) -> Result<Vec<MovementRecord>, Error> {
        let lead = self.order.first().map_or("", |by| by.field);
        let mut query = Query::new(
            "SELECT m.id, m.product_id, p.title, m.quantity, m.description, m.created_at",
        );
        query.push(match self.movement {
            Movement::Inflow => ", m.supplier_id, s.name FROM (SELECT m.id FROM ",
            Movement::Outflow => " FROM (SELECT m.id FROM ",
        });
        // The table whose index gives the order goes first, and stays first on both engines.
        query.push(match (self.movement, lead) {
            (Movement::Inflow, "product") => "products AS p CROSS JOIN inflows AS m",
            (Movement::Inflow, "supplier") => "suppliers AS s CROSS JOIN inflows AS m",
            (Movement::Inflow, _) => "inflows AS m",
            (Movement::Outflow, "product") => "products AS p CROSS JOIN outflows AS m",
            (Movement::Outflow, _) => "outflows AS m",
        });
        if lead != "product" && self.order.iter().any(|by| by.field == "product") {
            query.push(" JOIN products AS p ON p.id = m.product_id");
        }
        if lead != "supplier" && self.order.iter().any(|by| by.field == "supplier") {
            query.push(" JOIN suppliers AS s ON s.id = m.supplier_id");
        }
        query.push(match lead {
            "product" => " WHERE m.product_id = p.id",
            "supplier" => " WHERE m.supplier_id = s.id",
            _ => " WHERE TRUE",
        });
        self.push_filters(&mut query);
        self.push_order(&mut query);
        query
            .push(" LIMIT ")
            .bind(limit)
            .push(" OFFSET ")
            .bind(offset);
        query.push(match self.movement {
            Movement::Inflow => {
                ") AS page JOIN inflows AS m ON m.id = page.id JOIN products AS p ON p.id = m.product_id
                 JOIN suppliers AS s ON s.id = m.supplier_id"
            }
            Movement::Outflow => ") AS page JOIN outflows AS m ON m.id = page.id JOIN products AS p ON p.id = m.product_id",
        });
        self.push_order(&mut query);
        let movement = self.movement;
        conn.all_of(&query, |row| record_of(movement, row)).await
    }

    fn push_filters(&self, query: &mut Query) {
        if let Some(supplier) = self.supplier {
            query.push(" AND m.supplier_id = ").bind(supplier);
        }
        if let Some(product) = self.product {
            query.push(" AND m.product_id = ").bind(product);
        }
        if let Some(from) = self.from {
            query.push(" AND m.created_at >= ").bind(from);
        }
        if let Some(until) = self.until {
            query.push(" AND m.created_at < ").bind(until);
        }
    }

    fn push_order(&self, query: &mut Query) {
        query.push(" ORDER BY ");
        for by in &self.order {
            query.push(match (by.field, by.descending) {
                ("supplier", false) => "s.name_folded, ",
                ("supplier", true) => "s.name_folded DESC, ",
                ("product", false) => "p.title_folded, ",
                ("product", true) => "p.title_folded DESC, ",
                ("quantity", false) => "m.quantity, ",
                ("quantity", true) => "m.quantity DESC, ",
                ("description", false) => "m.description_key NULLS FIRST, ",
                ("description", true) => "m.description_key DESC NULLS LAST, ",
                ("created_at" | "updated_at", false) => "m.created_at, ",
                ("created_at" | "updated_at", true) => "m.created_at DESC, ",
                (_, false) => "m.id, ",
                (_, true) => "m.id DESC, ",
            });
        }
        query.push("m.id");
    }
}
