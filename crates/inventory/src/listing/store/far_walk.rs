//! Pages with a large offset in a descending order on SQLite. Records with equal values ascend by
//! id, so SQLite sorts the records of each value, which takes a microsecond per record before the
//! page. A far walk finds the value of the page's first record by the index alone.

use db::{Engine, Query};
use resource::Field;

use super::{PageRange, QueryStats, Selection, Walk, push_column};

/// The offset above which a far walk is used.
const FAR: i64 = 200;
/// The cost of sorting one record, in index entries.
const SORTED: i64 = 8;

pub(super) struct FarWalk<'a, T: 'static> {
    selection: &'a Selection<T>,
    stats: &'a QueryStats,
    walk: Walk,
    field: &'static Field,
    range: PageRange,
}

impl<'a, T: 'static> FarWalk<'a, T> {
    /// `None` if a plain walk is as fast, or if the index does not cover all conditions.
    pub(super) fn of(
        selection: &'a Selection<T>,
        engine: Engine,
        stats: &'a QueryStats,
        walk: Walk,
        range: PageRange,
    ) -> Option<Self> {
        let mut order = selection.order_fields();
        let (Some((field, true)), None) = (order.next(), order.next()) else {
            return None;
        };
        let conditions = selection.conditions_of(walk, stats);
        let mut conditions = conditions.iter();
        let is_far = engine == Engine::Sqlite
            && range.1 > FAR
            && field.name != "id"
            && !field.is_nullable
            && !walk.is_by_name
            && conditions.all(|condition| condition.is_bound_by(&walk.index));
        is_far.then_some(Self {
            selection,
            stats,
            walk,
            field,
            range,
        })
    }

    /// Whether a far walk is cheaper than a plain walk to another range.
    pub(super) const fn is_shorter_than(&self, (_, offset): PageRange) -> bool {
        self.range.1 / SORTED < offset
    }

    /// Appends a query for the ids of the page.
    pub(super) fn push(&self, query: &mut Query) {
        let (table, (limit, offset)) = (self.walk.table, self.range);
        push_column(query.push("SELECT "), table, table.id);
        self.push_rows(query.push(" AS id"), " <= ");
        self.push_key(query.push(" ORDER BY "));
        push_column(query.push(" DESC, "), table, table.id);
        query.push(" LIMIT ").bind(limit);
        query.push(" OFFSET ").bind(offset);
        self.push_rows(query.push(" - (SELECT count(*)"), " > ");
        query.push(")");
    }

    /// Appends the rows whose value compares to the value of the page's first record.
    fn push_rows(&self, query: &mut Query, comparison: &'static str) {
        let (selection, stats, walk) = (self.selection, self.stats, self.walk);
        selection.push_rows(query, Engine::Sqlite, stats, walk);
        self.push_key(query.push(" AND "));
        self.push_key(query.push(comparison).push("(SELECT "));
        selection.push_rows(query, Engine::Sqlite, stats, walk);
        self.push_key(query.push(" ORDER BY "));
        query.push(" DESC LIMIT 1 OFFSET ").bind(self.range.1);
        query.push(")");
    }

    fn push_key(&self, query: &mut Query) {
        self.selection.push_key(query, self.walk.table, self.field);
    }
}
