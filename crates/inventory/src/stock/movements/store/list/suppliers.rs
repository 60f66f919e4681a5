//! Inflows in the order of their suppliers' names: name by name, until enough inflows are counted for the page, and then the first inflows
//! of those names.

use db::{Engine, Query};

use super::{Filtering, Measured, Selection};
use crate::catalogue::named::{Kind, NameSteps};

impl Selection {
    /// The names that the page needs.
    pub(super) fn push_suppliers(&self, query: &mut Query, measured: &Measured, wanted: i64) {
        let steps = NameSteps {
            kind: Kind::Supplier,
            is_descending: self.order.first().is_some_and(|by| by.descending),
        };
        steps.push(query, wanted, |query| {
            query.push("SELECT count(*) FROM (");
            self.push_of_supplier(query, measured);
            query.push(" LIMIT ").bind(wanted).push(") AS bounded");
        });
        query.push(" ");
    }

    /// The first of each name, in order.
    pub(super) fn push_of_suppliers(
        &self,
        query: &mut Query,
        engine: Engine,
        measured: &Measured,
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
        self.push_of_supplier(query, measured);
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
    fn push_of_supplier(&self, query: &mut Query, measured: &Measured) {
        query.push("SELECT m.id FROM inflows AS m WHERE m.supplier_id = g.id");
        self.push_days(query, Filtering::RowByRow);
        measured.push_ids(query);
    }
}
