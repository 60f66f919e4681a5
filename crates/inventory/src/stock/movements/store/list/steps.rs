//! Movements from value to value of the column that orders them: a seek for each value, and the first ids of each value. So however many
//! movements share a value, they cost nothing: neither where ids ascend while values descend, an order that no index has, nor where the
//! page begins far behind.

use db::{Engine, Query};

use super::{Filtering, Measured, Selection};

/// From so many movements on, it is seen early whether values have enough of them.
const MANY: i64 = 1000;

/// A column that orders and has few values, or many that are shared.
struct Column {
    name: &'static str,
    is_nullable: bool,
    descending: bool,
}

impl Selection {
    /// Whether the order is by such a column alone, and the index that has the order is not the whole answer.
    pub(super) fn goes_by_steps(&self) -> bool {
        let helps = self.has_days() || self.order.first().is_some_and(|by| by.descending);
        helps && self.product.is_none() && self.column().is_some()
    }

    fn column(&self) -> Option<Column> {
        let [by] = self.order.as_slice() else {
            return None;
        };
        let (name, is_nullable) = match by.field {
            "quantity" => ("m.quantity", false),
            "description" => ("m.description_key", true),
            _ => return None,
        };
        Some(Column {
            name,
            is_nullable,
            descending: by.descending,
        })
    }

    /// The values in their order until they have as many movements as are wanted, and no more than are worth it: a value, its place, and
    /// what those before it have. Behind the last value comes one that is NULL. Movements without a value are `bare`.
    pub(super) fn push_steps(&self, query: &mut Query, measured: &Measured, wanted: i64) {
        let Some(column) = self.column() else {
            return;
        };
        query.push("WITH RECURSIVE ");
        if column.is_nullable && !column.descending {
            query.push("bare (id) AS MATERIALIZED (");
            self.push_bare(query, measured);
            query.push(" ORDER BY m.id LIMIT ").bind(wanted).push("), ");
        }
        query.push("steps (place, value, found) AS (SELECT CAST(1 AS BIGINT), ");
        self.push_next(query, &column, None);
        query.push(if column.is_nullable && !column.descending {
            ", (SELECT count(*) FROM bare)"
        } else {
            ", CAST(0 AS BIGINT)"
        });
        query.push(" UNION ALL SELECT one.place + 1, ");
        self.push_next(query, &column, Some("one.value"));
        query.push(", one.found + (SELECT count(*) FROM (");
        self.push_of_value(query, &column, measured, "one.value");
        query.push(" LIMIT ").bind(wanted);
        // More values than this and another way is shorter.
        query
            .push(") AS bounded) FROM steps AS one WHERE one.value IS NOT NULL AND one.place < 400 AND one.found < ")
            .bind(wanted);
        if wanted > MANY {
            // Nor does it help to go on when at this pace so many values would not be enough.
            query
                .push(" AND (one.place < 20 OR one.found * 400 >= one.place * CAST(")
                .bind(wanted)
                .push(" AS BIGINT))");
        }
        query.push(") ");
    }

    /// The first movements of each of these values, in order.
    pub(super) fn push_stepped(
        &self,
        query: &mut Query,
        engine: Engine,
        measured: &Measured,
        wanted: i64,
    ) {
        let Some(column) = self.column() else {
            return;
        };
        query.push("firsts.id FROM (");
        self.push_firsts(query, engine, &column, measured, wanted);
        if column.is_nullable && column.descending {
            query.push(" UNION ALL SELECT 9223372036854775807 AS place, bare.id FROM (");
            self.push_bare(query, measured);
            // Only behind the last value.
            query
                .push(" ORDER BY m.id LIMIT CASE WHEN EXISTS (SELECT 1 FROM steps WHERE value IS NULL) THEN CAST(")
                .bind(wanted)
                .push(" AS BIGINT) ELSE 0 END) AS bare");
        } else if column.is_nullable {
            query.push(" UNION ALL SELECT 0 AS place, bare.id FROM bare");
        }
        query.push(") AS firsts ORDER BY firsts.place, firsts.id");
    }

    /// Of each value its first. PostgreSQL takes as many of each as are still wanted; SQLite is quicker with all of each but the last, which
    /// do not suffice, and as many of the last.
    fn push_firsts(
        &self,
        query: &mut Query,
        engine: Engine,
        column: &Column,
        measured: &Measured,
        wanted: i64,
    ) {
        if engine == Engine::Postgres {
            query.push("SELECT step.place, x.id FROM steps AS step CROSS JOIN LATERAL (");
            self.push_of_value(query, column, measured, "step.value");
            query
                .push(" ORDER BY m.id LIMIT ")
                .bind(wanted)
                .push(" - step.found) AS x WHERE step.found < ")
                .bind(wanted);
            return;
        }
        query
            .push("SELECT step.place, m.id FROM steps AS step CROSS JOIN ")
            .push(self.movement.path())
            .push(" AS m WHERE step.place < ");
        push_last(query, "place", wanted);
        query.push(" AND ").push(column.name).push(" = step.value");
        self.push_rest(query, measured);
        query.push(" UNION ALL SELECT ");
        push_last(query, "place", wanted);
        query.push(" AS place, last.id FROM (SELECT m.id");
        self.push_from(query);
        query.push(column.name).push(" = ");
        push_last(query, "value", wanted);
        self.push_rest(query, measured);
        query
            .push(" ORDER BY m.id LIMIT ")
            .bind(wanted)
            .push(") AS last");
    }

    fn push_from(&self, query: &mut Query) {
        query.push(" FROM ").push(self.movement.path());
        query.push(" AS m WHERE ");
    }

    /// The least value, or the least beyond another: the greatest in a descending order.
    fn push_next(&self, query: &mut Query, column: &Column, beyond: Option<&'static str>) {
        query.push("(SELECT ").push(column.name);
        self.push_from(query);
        match beyond {
            Some(value) => {
                query
                    .push(column.name)
                    .push(if column.descending { " < " } else { " > " })
                    .push(value);
            }
            None => {
                query.push(column.name).push(" IS NOT NULL");
            }
        }
        if let Some(supplier) = self.supplier {
            query.push(" AND +m.supplier_id = ").bind(supplier);
        }
        query.push(" ORDER BY ").push(column.name);
        query.push(match (column.descending, column.is_nullable) {
            (false, false) => "",
            (false, true) => " NULLS FIRST",
            (true, false) => " DESC",
            (true, true) => " DESC NULLS LAST",
        });
        query.push(" LIMIT 1)");
    }

    fn push_of_value(
        &self,
        query: &mut Query,
        column: &Column,
        measured: &Measured,
        value: &'static str,
    ) {
        self.push_ids_of(query, measured, &[column.name, " = ", value]);
    }

    fn push_bare(&self, query: &mut Query, measured: &Measured) {
        self.push_ids_of(query, measured, &["m.description_key IS NULL"]);
    }

    /// The movements of one value of the column.
    fn push_ids_of(&self, query: &mut Query, measured: &Measured, condition: &[&'static str]) {
        query.push("SELECT m.id");
        self.push_from(query);
        for part in condition {
            query.push(part);
        }
        self.push_rest(query, measured);
    }

    /// What is asked for beside the column, of movements that its index leads to.
    fn push_rest(&self, query: &mut Query, measured: &Measured) {
        if let Some(supplier) = self.supplier {
            query.push(" AND +m.supplier_id = ").bind(supplier);
        }
        self.push_days(query, Filtering::RowByRow);
        measured.push_ids(query);
    }
}

/// Of the last value that the page needs: how far the others come is known, and that they do not suffice.
fn push_last(query: &mut Query, what: &'static str, wanted: i64) {
    query
        .push("(SELECT ")
        .push(what)
        .push(" FROM steps WHERE value IS NOT NULL AND found < ")
        .bind(wanted)
        .push(" ORDER BY place DESC LIMIT 1)");
}
