//! Products in the order of the names of their categories or brands: from name to name, until as many are counted as a page needs, and of
//! each of these names the first. None of the others comes before them.

use db::{Engine, Query};

use super::{Filter, Filtering, Selection, measure::Measured};

/// So few of a category or brand are sorted; of more, the first that fit are met soon on the way along their ids.
const FEW_OF_A_NAME: i64 = 2000;
/// So few in all are sorted sooner than names are asked for theirs.
const FEW: u64 = 1000;
/// From so many records on, SQLite walks all of a name's ids sooner than it looks each of them up.
const MOST_ON_SQLITE: u64 = 1000;

/// What has the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Named {
    is_category: bool,
    descending: bool,
}

impl Selection {
    /// Whether names are the way to a page: the order is by them alone, and nothing but prices is asked for.
    pub(super) fn goes_by_names(&self, engine: Engine, measured: &Measured, wanted: u64) -> bool {
        let is_free = self.filter == Filter::none() || self.filter.is_price_alone();
        let is_few = self.filter.has_price() && measured.count <= FEW;
        let is_far = engine == Engine::Sqlite && wanted > MOST_ON_SQLITE;
        is_free && !is_few && !is_far && self.named().is_some()
    }

    fn named(&self) -> Option<Named> {
        let [by] = self.order.as_slice() else {
            return None;
        };
        let is_category = match by.field {
            "category" => true,
            "brand" => false,
            _ => return None,
        };
        Some(Named {
            is_category,
            descending: by.descending,
        })
    }

    /// The names that the page needs, and whose they are with how many of their own, as far as it matters.
    pub(super) fn push_names(&self, query: &mut Query, wanted: i64) {
        let Some(named) = self.named() else {
            return;
        };
        query.push("WITH RECURSIVE names (place, name, found) AS (SELECT CAST(1 AS BIGINT), ");
        named.push_next(query, None);
        query.push(", CAST(0 AS BIGINT) UNION ALL SELECT one.place + 1, ");
        named.push_next(query, Some("one.name"));
        // Counted for each category or brand by itself: joined with them, PostgreSQL would go through all prices.
        query.push(", one.found + (SELECT CAST(COALESCE(sum((");
        self.push_own(query, named, wanted);
        query
            .push(")), 0) AS BIGINT) FROM ")
            .push(named.table())
            .push(" AS g WHERE g.name_folded = one.name) FROM names AS one WHERE one.name IS NOT NULL AND one.found < ")
            .bind(wanted)
            .push("), parts (place, id, own) AS MATERIALIZED (SELECT one.place, g.id, ");
        if self.filter.has_price() {
            query.push("(");
            self.push_own(query, named, FEW_OF_A_NAME.max(wanted));
            query.push(")");
        } else {
            query.push("0");
        }
        query
            .push(" FROM names AS one JOIN ")
            .push(named.table())
            .push(" AS g ON g.name_folded = one.name WHERE one.found < ")
            .bind(wanted)
            .push(") ");
    }

    /// How many a category or brand has, as far as it matters: their prices are in its index.
    fn push_own(&self, query: &mut Query, named: Named, most: i64) {
        query
            .push("SELECT count(*) FROM (SELECT 1 FROM products AS p WHERE ")
            .push(named.reference());
        self.filter.push_ranges(query, Filtering::Planned);
        query
            .push(" ORDER BY p.selling_price LIMIT ")
            .bind(most)
            .push(") AS bounded");
    }

    /// The first of each name, in order.
    pub(super) fn push_of_names(&self, query: &mut Query, engine: Engine, wanted: i64) {
        let Some(named) = self.named() else {
            return;
        };
        let few = FEW_OF_A_NAME.max(wanted);
        query.push("firsts.id FROM (");
        self.push_firsts(query, engine, named, Filtering::RowByRow, wanted);
        if self.filter.has_price() {
            query.push(" WHERE g.own >= ").bind(few).push(" UNION ALL ");
            self.push_firsts(query, engine, named, Filtering::Planned, wanted);
            query.push(" WHERE g.own < ").bind(few);
        }
        query.push(") AS firsts ORDER BY firsts.place, firsts.id");
    }

    /// Of each part: along its ids, or sorted from its prices.
    fn push_firsts(
        &self,
        query: &mut Query,
        engine: Engine,
        named: Named,
        filtering: Filtering,
        wanted: i64,
    ) {
        query
            .push("SELECT g.place, x.id FROM parts AS g CROSS JOIN ")
            .push(match engine {
                Engine::Sqlite => "products AS x ON x.id IN (",
                Engine::Postgres => "LATERAL (",
            })
            .push(PRODUCTS_OF)
            .push(named.reference());
        self.filter.push_ranges(query, filtering);
        query.push(match filtering {
            Filtering::RowByRow => " ORDER BY p.id LIMIT ",
            Filtering::Planned => " ORDER BY p.id + 0 LIMIT ",
        });
        query.bind(wanted).push(match engine {
            Engine::Sqlite => ")",
            Engine::Postgres => ") AS x",
        });
    }
}

/// Products that refer to a category or brand: what they refer by follows.
pub(super) const PRODUCTS_OF: &str = "SELECT p.id FROM products AS p WHERE ";

/// What `products AS p` have of a category or brand `AS g`.
pub(super) const fn reference(is_category: bool) -> &'static str {
    if is_category {
        "p.category_id = g.id"
    } else {
        "p.brand_id = g.id"
    }
}

impl Named {
    const fn table(self) -> &'static str {
        if self.is_category {
            "categories"
        } else {
            "brands"
        }
    }

    const fn reference(self) -> &'static str {
        reference(self.is_category)
    }

    /// The first name, or the next one.
    fn push_next(self, query: &mut Query, after: Option<&'static str>) {
        query
            .push("(SELECT g.name_folded FROM ")
            .push(self.table())
            .push(" AS g");
        if let Some(name) = after {
            query
                .push(if self.descending {
                    " WHERE g.name_folded < "
                } else {
                    " WHERE g.name_folded > "
                })
                .push(name);
        }
        query.push(if self.descending {
            " ORDER BY g.name_folded DESC LIMIT 1)"
        } else {
            " ORDER BY g.name_folded LIMIT 1)"
        });
    }
}
