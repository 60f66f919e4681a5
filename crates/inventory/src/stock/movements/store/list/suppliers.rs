//! Inflows in the order of their suppliers' names: from name to name, until as many are counted as a page needs, and of each of these
//! names the first. None of the others comes before them.

use db::{Engine, Query};

use super::{Filtering, Measured, Selection};

impl Selection {
    /// The names that the page needs: a name, its place, and how many those before it have. Behind the last name comes one that is NULL.
    pub(super) fn push_suppliers(
        &self,
        query: &mut Query,
        measured: &Measured,
        filtering: Filtering,
        wanted: i64,
    ) {
        let is_descending = self.order.first().is_some_and(|by| by.descending);
        query.push("WITH RECURSIVE names (place, name, found) AS (SELECT CAST(1 AS BIGINT), ");
        push_next(query, is_descending, None);
        query.push(", CAST(0 AS BIGINT) UNION ALL SELECT one.place + 1, ");
        push_next(query, is_descending, Some("one.name"));
        query.push(", one.found + (SELECT CAST(COALESCE(sum((SELECT count(*) FROM (");
        self.push_of_supplier(query, measured, filtering);
        query
            .push(" LIMIT ")
            .bind(wanted)
            .push(
                ") AS bounded)), 0) AS BIGINT) FROM suppliers AS g WHERE g.name_folded = one.name) FROM names AS one
                 WHERE one.name IS NOT NULL AND one.found < ",
            )
            .bind(wanted)
            .push(") ");
    }

    /// The first of each name, in order.
    pub(super) fn push_of_suppliers(
        &self,
        query: &mut Query,
        engine: Engine,
        measured: &Measured,
        filtering: Filtering,
        wanted: i64,
    ) {
        query
            .push("x.id FROM names AS one")
            .push(engine.join_in_order())
            .push("suppliers AS g ON g.name_folded = one.name CROSS JOIN ")
            .push(match engine {
                Engine::Sqlite => "inflows AS x ON x.id IN (",
                Engine::Postgres => "LATERAL (",
            });
        self.push_of_supplier(query, measured, filtering);
        query.push(" ORDER BY m.id LIMIT ").bind(wanted);
        query
            .push(match engine {
                Engine::Sqlite => ")",
                Engine::Postgres => ") AS x",
            })
            .push(" WHERE one.found < ")
            .bind(wanted)
            .push(" ORDER BY one.place, x.id");
    }

    /// The inflows of a supplier that are asked for.
    fn push_of_supplier(&self, query: &mut Query, measured: &Measured, filtering: Filtering) {
        query.push("SELECT m.id FROM inflows AS m WHERE m.supplier_id = g.id");
        self.push_filters(query, filtering);
        measured.push_ids(query);
    }
}

/// The first name, or the next one.
fn push_next(query: &mut Query, is_descending: bool, after: Option<&'static str>) {
    query.push("(SELECT n.name_folded FROM suppliers AS n");
    if let Some(name) = after {
        query
            .push(if is_descending {
                " WHERE n.name_folded < "
            } else {
                " WHERE n.name_folded > "
            })
            .push(name);
    }
    query.push(if is_descending {
        " ORDER BY n.name_folded DESC LIMIT 1)"
    } else {
        " ORDER BY n.name_folded LIMIT 1)"
    });
}
