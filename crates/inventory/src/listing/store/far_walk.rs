//! A page far from the beginning of a descending order. The records of one value ascend by their
//! ids, so SQLite sorts those of each value for themselves, which takes a microsecond for each
//! record before the page. Here the index alone leads to the value of the page's first record.

use db::{Engine, Query};
use resource::Field;

use super::{PageRange, QueryStats, Selection, Walk, push_column};

/// Behind so many records a page is far.
const FAR: i64 = 200;
/// A record that is sorted with those of its value costs as much as so many entries of the index.
const SORTED: i64 = 8;

/// The walk to such a page.
pub(super) struct FarWalk<'a, T: 'static> {
    selection: &'a Selection<T>,
    stats: &'a QueryStats,
    walk: Walk,
    field: &'static Field,
    part: PageRange,
}

impl<'a, T: 'static> FarWalk<'a, T> {
    /// None where another walk is as short, or where the index does not have all that is asked for.
    pub(super) fn of(
        selection: &'a Selection<T>,
        engine: Engine,
        stats: &'a QueryStats,
        walk: Walk,
        part: PageRange,
    ) -> Option<Self> {
        let mut order = selection.order_fields();
        let (Some((field, true)), None) = (order.next(), order.next()) else {
            return None;
        };
        let conditions = selection.conditions_of(walk, stats);
        let mut conditions = conditions.iter();
        let is_far = engine == Engine::Sqlite
            && part.1 > FAR
            && field.name != "id"
            && !field.is_nullable
            && !walk.is_by_name
            && conditions.all(|condition| condition.is_bound_by(&walk.index));
        is_far.then_some(Self {
            selection,
            stats,
            walk,
            field,
            part,
        })
    }

    /// Whether it reads less than the same walk to another part.
    pub(super) const fn is_shorter_than(&self, (_, offset): PageRange) -> bool {
        self.part.1 / SORTED < offset
    }

    /// The ids, behind what the query has.
    pub(super) fn push(&self, query: &mut Query) {
        let (table, (limit, offset)) = (self.walk.table, self.part);
        push_column(query.push("SELECT "), table, table.id);
        self.push_rows(query.push(" AS id"), " <= ");
        self.push_key(query.push(" ORDER BY "));
        push_column(query.push(" DESC, "), table, table.id);
        query.push(" LIMIT ").bind(limit);
        query.push(" OFFSET ").bind(offset);
        self.push_rows(query.push(" - (SELECT count(*)"), " > ");
        query.push(")");
    }

    /// The rows whose value is as another is to that of the page's first record.
    fn push_rows(&self, query: &mut Query, comparison: &'static str) {
        let (selection, stats, walk) = (self.selection, self.stats, self.walk);
        selection.push_rows(query, Engine::Sqlite, stats, walk);
        self.push_key(query.push(" AND "));
        self.push_key(query.push(comparison).push("(SELECT "));
        selection.push_rows(query, Engine::Sqlite, stats, walk);
        self.push_key(query.push(" ORDER BY "));
        query.push(" DESC LIMIT 1 OFFSET ").bind(self.part.1);
        query.push(")");
    }

    fn push_key(&self, query: &mut Query) {
        self.selection.push_key(query, self.walk.table, self.field);
    }
}
