//! Products in the order of the names of their categories or brands: name by name, until enough products are counted for the page,
//! and then the first products of those names.

use db::{Engine, Query};

use super::{Filtering, Selection, measure::Measured};
use crate::catalogue::named::{Kind, NameSteps};

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
        let is_free = self.filter.is_none() || self.filter.is_price_alone();
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
        named.steps().push(query, wanted, |query| {
            self.push_own(query, named, wanted);
        });
        query.push(", parts (place, id, own) AS MATERIALIZED (SELECT one.place, g.id, ");
        if self.filter.has_price() {
            query.push("(");
            self.push_own(query, named, FEW_OF_A_NAME.max(wanted));
            query.push(")");
        } else {
            query.push("0");
        }
        query
            .push(" FROM names AS one JOIN ")
            .push(named.steps().table())
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
    const fn steps(self) -> NameSteps {
        NameSteps {
            kind: if self.is_category {
                Kind::Category
            } else {
                Kind::Brand
            },
            is_descending: self.descending,
        }
    }

    const fn reference(self) -> &'static str {
        reference(self.is_category)
    }
}
