//! Lists in the order of the names of related brands, categories or suppliers: these need only the first few names, and the first few records
//! of each of them, which is what these statements find.

use db::Query;

use super::super::Kind;

/// The names of a kind, in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameSteps {
    /// What has the names.
    pub(crate) kind: Kind,
    /// From the last one on.
    pub(crate) is_descending: bool,
}

impl NameSteps {
    /// Begins a statement with the names that `wanted` records need: `names (place, name, found)`, where `found` is how many those before it
    /// have. Behind the last name comes one that is NULL. `push_count` asks how many one of the kind, `AS g`, has.
    pub(crate) fn push(self, query: &mut Query, wanted: i64, push_count: impl FnOnce(&mut Query)) {
        query.push("WITH RECURSIVE names (place, name, found) AS (SELECT CAST(1 AS BIGINT), ");
        self.push_next(query, None);
        query.push(", CAST(0 AS BIGINT) UNION ALL SELECT one.place + 1, ");
        self.push_next(query, Some("one.name"));
        // Counted for each of the kind by itself: joined with them, PostgreSQL would go through all that is counted.
        query.push(", one.found + (SELECT CAST(COALESCE(sum((");
        push_count(query);
        query
            .push(")), 0) AS BIGINT) FROM ")
            .push(self.table())
            .push(" AS g WHERE g.name_folded = one.name) FROM names AS one WHERE one.name IS NOT NULL AND one.found < ")
            .bind(wanted)
            .push(")");
    }

    /// The table of the kind.
    pub(crate) const fn table(self) -> &'static str {
        self.kind.path()
    }

    /// The first name, or the next one.
    fn push_next(self, query: &mut Query, after: Option<&'static str>) {
        query
            .push("(SELECT n.name_folded FROM ")
            .push(self.table())
            .push(" AS n");
        if let Some(name) = after {
            query
                .push(if self.is_descending {
                    " WHERE n.name_folded < "
                } else {
                    " WHERE n.name_folded > "
                })
                .push(name);
        }
        query.push(if self.is_descending {
            " ORDER BY n.name_folded DESC LIMIT 1)"
        } else {
            " ORDER BY n.name_folded LIMIT 1)"
        });
    }
}
