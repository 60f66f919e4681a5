//! The lists of inflows and outflows: their filters, their orders, and the statement that each combination becomes.
//! The ids of a page come in order from an index; the records are joined afterwards.

#[cfg(test)]
mod plans;

use std::time::Duration;

use db::{Conn, Engine, Error, Query, Timestamp};

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

/// The way to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From all that match, which are sorted.
    Few,
    /// Along the index that has the order.
    Along(Filtering),
    /// From the first of each supplier, in the order of their names.
    Suppliers(Filtering),
}

/// Whether filters stand as the engine's planner may use them, or so that no index is chosen for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filtering {
    Planned,
    RowByRow,
}

/// So many times longer than chance has it the way along an index may be, when what is asked for stands together in it.
const CLUSTERED: u64 = 256;
/// From so many records on, the first of each supplier are too many.
const MOST_OF_A_SUPPLIER: u64 = 1000;

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
        let mut selection = Self {
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
        self.push_filters(&mut query, Filtering::Planned);
        conn.one_of(&query, |row| row.get::<i64>(0))
            .await
            .map(i64::unsigned_abs)
    }

    /// One page of them, of so many that are selected.
    pub(in crate::stock::movements) async fn page(
        &self,
        conn: &mut Conn,
        count: u64,
        limit: i64,
        offset: i64,
    ) -> Result<Vec<MovementRecord>, Error> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let wanted = limit.saturating_add(offset);
        let way = self.way(conn, count, wanted.unsigned_abs()).await?;
        let query = self.statement(Query::new(""), conn.engine(), way, (limit, offset));
        let movement = self.movement;
        conn.all_of(&query, |row| record_of(movement, row)).await
    }

    /// The statement that gives a page, behind what `query` begins with.
    fn statement(
        &self,
        mut query: Query,
        engine: Engine,
        way: Way,
        (limit, offset): (i64, i64),
    ) -> Query {
        let wanted = limit.saturating_add(offset);
        if way == Way::Few {
            query.push(match self.movement {
                Movement::Inflow => {
                    "WITH few (id) AS MATERIALIZED (SELECT m.id FROM inflows AS m WHERE TRUE"
                }
                Movement::Outflow => {
                    "WITH few (id) AS MATERIALIZED (SELECT m.id FROM outflows AS m WHERE TRUE"
                }
            });
            self.push_filters(&mut query, Filtering::Planned);
            query.push(") ");
        }
        query.push("SELECT m.id, m.product_id, p.title, m.quantity, m.description, m.created_at");
        query.push(match self.movement {
            Movement::Inflow => ", m.supplier_id, s.name FROM (SELECT ",
            Movement::Outflow => " FROM (SELECT ",
        });
        match way {
            Way::Few => self.push_few(&mut query, engine),
            Way::Along(filtering) => self.push_along(&mut query, engine, filtering),
            Way::Suppliers(filtering) => self.push_suppliers(&mut query, engine, filtering, wanted),
        }
        query
            .push(" LIMIT ")
            .bind(limit)
            .push(" OFFSET ")
            .bind(offset);
        query.push(") AS page").push(engine.join_in_order());
        query.push(match self.movement {
            Movement::Inflow => {
                "inflows AS m ON m.id = page.id JOIN products AS p ON p.id = m.product_id
                 JOIN suppliers AS s ON s.id = m.supplier_id"
            }
            Movement::Outflow => {
                "outflows AS m ON m.id = page.id JOIN products AS p ON p.id = m.product_id"
            }
        });
        self.push_order(&mut query);
        query
    }

    /// Decides by what each way has to look at: along an index as many rows as bring the page together, given how many of all match;
    /// else all that match.
    async fn way(&self, conn: &mut Conn, count: u64, wanted: u64) -> Result<Way, Error> {
        let first = self.order.first().map_or("", |by| by.field);
        let has_days = self.from.is_some() || self.until.is_some();
        let is_in_index = match first {
            _ if self.product.is_some() => true,
            "created_at" | "updated_at" => true,
            "product" => self.supplier.is_none() && !has_days,
            _ => !has_days,
        };
        let filtering = if is_in_index {
            Filtering::Planned
        } else {
            let all = tallies::count_movements(conn, self.movement, None, None, None).await?;
            // Ids follow time, so what is asked for by time stands together wherever ids decide; and a supplier's products
            // are of one kind, so they stand together among the titles.
            let factor = match first {
                "" | "id" | "quantity" if has_days => CLUSTERED,
                "product" if self.supplier.is_some() => CLUSTERED,
                _ => 1,
            };
            let chance = wanted
                .saturating_mul(all / count.max(1))
                .saturating_mul(factor);
            let others = all.saturating_sub(count).saturating_add(wanted);
            if count <= chance.min(others) {
                return Ok(Way::Few);
            }
            // Of a supplier's few the index by time is the shorter way, of its many the one by id.
            if first == "supplier" && count < all / 4 {
                Filtering::Planned
            } else {
                Filtering::RowByRow
            }
        };
        let is_by_supplier = first == "supplier" && self.order.len() == 1 && self.product.is_none();
        if is_by_supplier && wanted <= MOST_OF_A_SUPPLIER {
            return Ok(Way::Suppliers(filtering));
        }
        Ok(Way::Along(filtering))
    }

    /// Those of the statement's `few`, in order.
    fn push_few(&self, query: &mut Query, engine: Engine) {
        query.push("few.id FROM few");
        query.push(match (engine, self.movement) {
            (Engine::Sqlite, Movement::Inflow) => " CROSS JOIN inflows AS m ON m.id = few.id",
            (Engine::Sqlite, Movement::Outflow) => " CROSS JOIN outflows AS m ON m.id = few.id",
            (Engine::Postgres, Movement::Inflow) => {
                " CROSS JOIN LATERAL (SELECT * FROM inflows AS q WHERE q.id = few.id OFFSET 0) AS m"
            }
            (Engine::Postgres, Movement::Outflow) => {
                " CROSS JOIN LATERAL (SELECT * FROM outflows AS q WHERE q.id = few.id OFFSET 0) AS m"
            }
        });
        if self.needs("product") {
            query.push(match engine {
                Engine::Sqlite => " CROSS JOIN products AS p ON p.id = m.product_id",
                Engine::Postgres => {
                    " CROSS JOIN LATERAL (SELECT * FROM products AS q WHERE q.id = m.product_id OFFSET 0) AS p"
                }
            });
        }
        if self.needs("supplier") {
            query.push(" JOIN suppliers AS s ON s.id = m.supplier_id");
        }
        self.push_order(query);
    }

    /// The movements along the index that has the order.
    fn push_along(&self, query: &mut Query, engine: Engine, filtering: Filtering) {
        let lead = self.order.first().map_or("", |by| by.field);
        // The table whose index gives the order goes first, and stays first on both engines.
        query.push("m.id FROM ").push(match (self.movement, lead) {
            (Movement::Inflow, "product") => "products AS p CROSS JOIN inflows AS m",
            (Movement::Inflow, "supplier") => "suppliers AS s CROSS JOIN inflows AS m",
            (Movement::Inflow, _) => "inflows AS m",
            (Movement::Outflow, "product") => "products AS p CROSS JOIN outflows AS m",
            (Movement::Outflow, _) => "outflows AS m",
        });
        // SQLite would rather sort the whole table than fetch rows along an index, and does not know how few will do.
        if engine == Engine::Sqlite && filtering == Filtering::RowByRow {
            query.push(match (self.movement, lead) {
                (Movement::Inflow, "quantity") => " INDEXED BY inflows_quantity",
                (Movement::Inflow, "description") => " INDEXED BY inflows_description",
                (Movement::Outflow, "quantity") => " INDEXED BY outflows_quantity",
                (Movement::Outflow, "description") => " INDEXED BY outflows_description",
                _ => "",
            });
        }
        if lead != "product" && self.needs("product") {
            query.push(" JOIN products AS p ON p.id = m.product_id");
        }
        if lead != "supplier" && self.needs("supplier") {
            query.push(" JOIN suppliers AS s ON s.id = m.supplier_id");
        }
        query.push(match lead {
            "product" => " WHERE m.product_id = p.id",
            "supplier" => " WHERE m.supplier_id = s.id",
            _ => " WHERE TRUE",
        });
        // A product's own index goes by time.
        let filtering = if lead == "product" {
            Filtering::Planned
        } else {
            filtering
        };
        self.push_filters(query, filtering);
        self.push_order(query);
    }

    /// As many of each supplier as the page may need: sorted by name, none of the others comes before them.
    fn push_suppliers(&self, query: &mut Query, engine: Engine, filtering: Filtering, most: i64) {
        query.push(match engine {
            Engine::Sqlite => "x.id FROM suppliers AS g CROSS JOIN inflows AS x ON x.id IN (",
            Engine::Postgres => "x.id FROM suppliers AS g CROSS JOIN LATERAL (",
        });
        query.push("SELECT m.id FROM inflows AS m WHERE m.supplier_id = g.id");
        self.push_filters(query, filtering);
        query.push(" ORDER BY m.id LIMIT ").bind(most);
        query.push(match engine {
            Engine::Sqlite => ")",
            Engine::Postgres => ") AS x",
        });
        query.push(if self.order.first().is_some_and(|by| by.descending) {
            " ORDER BY g.name_folded DESC, x.id"
        } else {
            " ORDER BY g.name_folded, x.id"
        });
    }

    fn needs(&self, field: &str) -> bool {
        self.order.iter().any(|by| by.field == field)
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
