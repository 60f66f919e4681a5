//! One page of movements: first the ids in order, from an index wherever there is one, then the records.

use db::{Conn, Engine, Error, Query};
use resource::{Record as _, find, sql};

use super::{
    super::{
        super::model::{Movement, MovementRecord},
        Statements, record_of, statements,
    },
    Filtering, Measured, Selection,
};
use crate::{
    aggregates,
    ways::{FEW, Reach},
};

/// The way to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// From all that match, which are sorted.
    Few,
    /// Along the index that has the order.
    Along(Filtering),
    /// From value to value of the column that orders, and of each its first.
    Steps,
    /// From the first of each name of suppliers, as far as the page needs them.
    Suppliers,
}

/// From so many records on, SQLite walks all of a supplier's ids sooner than it looks each of them up.
const MOST_ON_SQLITE: u64 = 1000;

impl Selection {
    /// One page of them, of so many that are selected.
    pub(in crate::stock::movements) async fn page(
        &self,
        conn: &mut Conn,
        measured: &Measured,
        limit: i64,
        offset: i64,
    ) -> Result<Vec<MovementRecord>, Error> {
        if measured.count == 0 {
            return Ok(Vec::new());
        }
        let wanted = limit.saturating_add(offset);
        let way = self.way(conn, measured, wanted.unsigned_abs()).await?;
        let records = self.fetch(conn, measured, way, (limit, offset)).await?;
        let is_whole = records.len() as u64
            >= limit
                .unsigned_abs()
                .min(measured.count.saturating_sub(offset.unsigned_abs()));
        if way != Way::Steps || is_whole {
            return Ok(records);
        }
        // The column has more values than are worth a step each.
        let way = Way::Along(Filtering::RowByRow);
        self.fetch(conn, measured, way, (limit, offset)).await
    }

    /// All of them, one by one.
    pub(in crate::stock::movements) async fn each(
        &self,
        conn: &mut Conn,
        measured: &Measured,
        mut take: impl FnMut(&MovementRecord) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let all = i64::try_from(measured.count).unwrap_or(i64::MAX);
        // From value to value is for pages: it gives up after many values.
        let way = match self.way(conn, measured, measured.count).await? {
            Way::Steps => Way::Along(Filtering::RowByRow),
            way => way,
        };
        let query = self.statement(Query::new(""), conn.engine(), measured, way, (all, 0));
        let movement = self.movement;
        // Nothing is kept of a row.
        let each = conn.all_of(&query, |row| take(&record_of(movement, row)?));
        each.await.map(drop)
    }

    async fn fetch(
        &self,
        conn: &mut Conn,
        measured: &Measured,
        way: Way,
        part: (i64, i64),
    ) -> Result<Vec<MovementRecord>, Error> {
        let query = self.statement(Query::new(""), conn.engine(), measured, way, part);
        let movement = self.movement;
        conn.all_of(&query, |row| record_of(movement, row)).await
    }

    /// The statement that gives a page, behind what `query` begins with.
    pub(super) fn statement(
        &self,
        mut query: Query,
        engine: Engine,
        measured: &Measured,
        way: Way,
        (limit, offset): (i64, i64),
    ) -> Query {
        let wanted = limit.saturating_add(offset);
        if way == Way::Few {
            query.push("WITH few (id) AS MATERIALIZED (SELECT m.id FROM ");
            query.push(self.movement.path()).push(" AS m WHERE TRUE");
            self.push_filters(&mut query, Filtering::Planned);
            measured.push_ids(&mut query);
            query.push(") ");
        }
        match way {
            Way::Steps => self.push_steps(&mut query, measured, wanted),
            Way::Suppliers => self.push_suppliers(&mut query, measured, wanted),
            _ => {}
        }
        let Statements { columns, joins, .. } = statements(self.movement);
        query.push("SELECT ").push(columns).push(" FROM (SELECT ");
        match way {
            Way::Few => self.push_few(&mut query, engine),
            Way::Along(filtering) => self.push_along(&mut query, engine, measured, filtering),
            Way::Steps => self.push_stepped(&mut query, engine, measured, wanted),
            Way::Suppliers => self.push_of_suppliers(&mut query, engine, measured, wanted),
        }
        query
            .push(" LIMIT ")
            .bind(limit)
            .push(" OFFSET ")
            .bind(offset);
        query.push(") AS page").push(engine.join_in_order());
        query.push(self.movement.path());
        query.push(" AS m ON m.id = page.id").push(joins);
        self.push_order(&mut query);
        query
    }

    /// Decides by what each way has to look at: along an index as many rows as bring the page together, given how many of all match;
    /// else all that match.
    pub(super) async fn way(
        &self,
        conn: &mut Conn,
        measured: &Measured,
        wanted: u64,
    ) -> Result<Way, Error> {
        let (count, has_days) = (measured.count, self.has_days());
        let first = self.order.first().map_or("", |by| by.field);
        if self.goes_by_steps() {
            let is_few = (has_days || self.supplier.is_some()) && count <= FEW.max(wanted);
            return Ok(if is_few { Way::Few } else { Way::Steps });
        }
        if self.product.is_some() {
            // From supplier to supplier each would be asked for all that it delivered.
            return Ok(match first {
                "supplier" => Way::Few,
                _ => Way::Along(Filtering::Planned),
            });
        }
        let is_in_index = match first {
            "created_at" | "updated_at" => self.supplier.is_none(),
            "" | "id" => !has_days,
            _ => !has_days && self.supplier.is_none(),
        };
        let is_by_supplier = first == "supplier" && self.order.len() == 1;
        if !is_in_index {
            let all = aggregates::count_movements(conn, self.movement, None, None, None).await?;
            let reach = Reach {
                wanted,
                matches: count,
                // What is asked for by time stands together among the ids.
                all: match measured.ids {
                    Some((first_id, last_id)) if matches!(first, "" | "id") => {
                        last_id.saturating_sub(first_id).unsigned_abs().min(all)
                    }
                    _ => all,
                },
            };
            if reach.is_sorted_within(reach.along()) {
                return Ok(Way::Few);
            }
        }
        if is_by_supplier && (conn.engine() == Engine::Postgres || wanted <= MOST_ON_SQLITE) {
            return Ok(Way::Suppliers);
        }
        Ok(Way::Along(match first {
            _ if is_in_index => Filtering::Planned,
            "created_at" | "updated_at" => Filtering::Ranged,
            _ => Filtering::RowByRow,
        }))
    }

    /// Those of the statement's `few`, in order.
    fn push_few(&self, query: &mut Query, engine: Engine) {
        let table = self.movement.path();
        query.push("few.id FROM few CROSS JOIN ");
        match engine {
            Engine::Sqlite => query.push(table).push(" AS m ON m.id = few.id"),
            Engine::Postgres => query
                .push("LATERAL (SELECT * FROM ")
                .push(table)
                .push(" AS q WHERE q.id = few.id OFFSET 0) AS m"),
        };
        if self.needs_products() {
            query.push(match engine {
                Engine::Sqlite => " CROSS JOIN products AS product ON product.id = m.product_id",
                Engine::Postgres => {
                    " CROSS JOIN LATERAL (SELECT * FROM products AS q WHERE q.id = m.product_id OFFSET 0) AS product"
                }
            });
        }
        if self.needs("supplier") {
            query.push(" JOIN suppliers AS supplier ON supplier.id = m.supplier_id");
        }
        self.push_order(query);
    }

    /// The movements of a product, sorted: its index by time has all that they are sorted by. `OFFSET 0` keeps PostgreSQL from looking for
    /// them among those of all products, in the order that is asked for.
    fn push_of_product(&self, query: &mut Query, engine: Engine) {
        query.push("m.id FROM (SELECT m.id, m.created_at, m.quantity, m.description_key FROM ");
        query.push(self.movement.path()).push(" AS m WHERE TRUE");
        self.push_filters(query, Filtering::Planned);
        query.push(match engine {
            Engine::Sqlite => ") AS m",
            Engine::Postgres => " OFFSET 0) AS m",
        });
        self.push_order(query);
    }

    /// The movements along the index that has the order.
    fn push_along(
        &self,
        query: &mut Query,
        engine: Engine,
        measured: &Measured,
        filtering: Filtering,
    ) {
        let lead = self.order.first().map_or("", |by| by.field);
        if self.product.is_some()
            && !self.needs("supplier")
            && matches!(lead, "quantity" | "description" | "" | "id")
        {
            return self.push_of_product(query, engine);
        }
        // The table whose index gives the order goes first, and stays first on both engines.
        query.push("m.id FROM ").push(match (self.movement, lead) {
            (Movement::Inflow, "supplier") => "suppliers AS supplier CROSS JOIN inflows AS m",
            (Movement::Inflow, _) => "inflows AS m",
            (Movement::Outflow, "product") => "products AS product CROSS JOIN outflows AS m",
            (Movement::Outflow, _) => "outflows AS m",
        });
        // SQLite would rather sort the whole table than fetch rows along an index, and does not know how few will do.
        if engine == Engine::Sqlite && filtering == Filtering::RowByRow {
            query.push(match (self.movement, lead) {
                (Movement::Inflow, "quantity") => " INDEXED BY inflows_quantity",
                (Movement::Inflow, "product") => " INDEXED BY inflows_title",
                (Movement::Inflow, "description") => " INDEXED BY inflows_description",
                (Movement::Outflow, "quantity") => " INDEXED BY outflows_quantity",
                (Movement::Outflow, "description") => " INDEXED BY outflows_description",
                _ => "",
            });
        }
        if lead != "product" && self.needs_products() {
            query.push(" JOIN products AS product ON product.id = m.product_id");
        }
        if lead != "supplier" && self.needs("supplier") {
            query.push(" JOIN suppliers AS supplier ON supplier.id = m.supplier_id");
        }
        let is_by_products = lead == "product" && self.needs_products();
        query.push(match lead {
            _ if is_by_products => " WHERE m.product_id = product.id",
            "supplier" => " WHERE m.supplier_id = supplier.id",
            _ => " WHERE TRUE",
        });
        // A product's own index goes by time.
        let filtering = if is_by_products {
            Filtering::Planned
        } else {
            filtering
        };
        self.push_filters(query, filtering);
        if matches!(lead, "" | "id") && filtering == Filtering::RowByRow {
            measured.push_ids(query);
        }
        self.push_order(query);
    }

    fn needs(&self, field: &str) -> bool {
        self.order.iter().any(|by| by.field == field)
    }

    /// Whether the order takes a look at products: inflows have the titles of theirs.
    fn needs_products(&self) -> bool {
        self.movement == Movement::Outflow && self.needs("product")
    }

    /// Inflows have their products' titles beside them.
    fn push_order(&self, query: &mut Query) {
        query.push(" ORDER BY ");
        for by in &self.order {
            if by.field == "product" && self.movement == Movement::Inflow {
                query.push("m.title_folded");
                query.push(if by.descending { " DESC, " } else { ", " });
            } else if let Some(field) = find(MovementRecord::FIELDS, by.field) {
                sql::push_order(query, "m", field, by.descending);
            }
        }
        query.push("m.id");
    }
}
