//! A skip scan: one index seek per distinct value of the sort column, until the values have enough
//! records for the page. Then it reads the first ids of each value on the page. It is for orders
//! that no index has: ids ascend while values descend, or the names are in another table. Sorting
//! would read all records that share a value.

use db::{Engine, Query};
use resource::sql;

use super::{PageRange, QueryStats, Selection, push_column, push_table};
use crate::listing::{Condition, SortKey};

/// The scan stops after this many values, because another path is cheaper then.
const MOST_VALUES: i64 = 400;

/// The column with the values.
struct Values {
    table: &'static str,
    column: &'static str,
    suffix: &'static str,
    /// The foreign key from the records to the table of values. `None` if the records have the
    /// value.
    key: Option<&'static str>,
    is_nullable: bool,
    descending: bool,
}

impl Values {
    fn of<T: 'static>(selection: &Selection<T>) -> Option<Self> {
        let (field, descending) = selection.order_fields().next()?;
        let (table, column, suffix, key) = match selection.list.sort_key(field) {
            SortKey::Column(table, column, suffix) => (table.name, column, suffix, None),
            SortKey::Name(path, name) => (path, name, "_folded", Some(field.name)),
        };
        Some(Self {
            table,
            column,
            suffix,
            is_nullable: field.is_nullable && key.is_none(),
            key,
            descending,
        })
    }

    fn push_column(&self, query: &mut Query, alias: &'static str) {
        query.push(alias).push(".");
        query.push(self.column).push(self.suffix);
    }

    /// Selects the first or the next value.
    fn push_next(&self, query: &mut Query, is_first: bool) {
        self.push_column(query.push("(SELECT "), "g");
        query.push(" FROM ").push(self.table).push(" AS g WHERE ");
        self.push_column(query, "g");
        query.push(match (is_first, self.descending) {
            (true, _) => " IS NOT NULL",
            (false, false) => " > step.value",
            (false, true) => " < step.value",
        });
        self.push_column(query.push(" ORDER BY "), "g");
        query.push(sql::direction(self.is_nullable, self.descending));
        query.push(" LIMIT 1)");
    }
}

struct SkipScan<'a, T: 'static> {
    selection: &'a Selection<T>,
    values: Values,
    conditions: Vec<Condition>,
    engine: Engine,
    /// The number of records on the page.
    limit: i64,
    /// The number of records before the page.
    offset: i64,
    /// The number of records up to the end of the page.
    rows_needed: i64,
}

impl<T: 'static> Selection<T> {
    /// Appends a query for the ids of a page, in order.
    pub(super) fn push_skip_scan(
        &self,
        query: &mut Query,
        engine: Engine,
        stats: &QueryStats,
        (limit, offset): PageRange,
    ) {
        let Some(values) = Values::of(self) else {
            return;
        };
        let mut conditions = self.conditions.clone();
        conditions.retain(|condition| !stats.is_idle(condition));
        conditions.extend(stats.id_range());
        let scan = SkipScan {
            selection: self,
            values,
            conditions,
            engine,
            limit,
            offset,
            rows_needed: limit.saturating_add(offset),
        };
        scan.push_steps(query);
        scan.push_parts(query);
        query.push(" SELECT firsts.id FROM (");
        scan.push_firsts(query);
        if scan.values.is_nullable {
            scan.push_without_value(query);
        }
        query.push(") AS firsts ORDER BY firsts.place, firsts.id LIMIT ");
        query.bind(limit);
        if scan.values.key.is_some() {
            scan.push_offset(query, "(SELECT min(found) FROM parts)");
        }
    }
}

impl<T: 'static> SkipScan<'_, T> {
    /// The CTE `steps`: values in order, each with the number of records before it. The last step
    /// has the value NULL.
    fn push_steps(&self, query: &mut Query) {
        let values = &self.values;
        query.push("WITH RECURSIVE steps (place, value, found) AS (SELECT CAST(1 AS BIGINT), ");
        values.push_next(query, true);
        query.push(", ");
        if self.is_nothing_first() {
            self.push_count(query, Self::push_of_nothing);
        } else {
            query.push("CAST(0 AS BIGINT)");
        }
        query.push(" UNION ALL SELECT step.place + 1, ");
        values.push_next(query, false);
        query.push(", step.found + ");
        if values.key.is_some() {
            // A subquery per referenced record. With a join, PostgreSQL would ignore the limit of
            // the count and read all rows.
            query.push("(SELECT CAST(COALESCE(sum(");
            self.push_count(query, Self::push_of_value);
            query.push("), 0) AS BIGINT) FROM ").push(values.table);
            values.push_column(query.push(" AS g WHERE "), "g");
            query.push(" = step.value)");
        } else {
            self.push_count(query, Self::push_of_value);
        }
        query.push(" FROM steps AS step WHERE step.value IS NOT NULL AND step.found < ");
        query.bind(self.rows_needed).push(" AND step.place < ");
        query.bind(MOST_VALUES).push(")");
    }

    /// The CTE `parts`: the values with records on the page.
    fn push_parts(&self, query: &mut Query) {
        query.push(", ends (place, value, found, until) AS (SELECT place, value, found,");
        query.push(" lead(found, 1, 9223372036854775807) OVER (ORDER BY place) FROM steps),");
        query.push(" parts (place, value, found) AS (SELECT place, value, found FROM ends");
        query.push(" WHERE found < ").bind(self.rows_needed);
        query.push(" AND until > ").bind(self.offset).push(")");
    }

    /// The offset of the page, counted from a record with `found` records before it. 0 if that
    /// record is on the page.
    fn push_offset(&self, query: &mut Query, found: &'static str) {
        query
            .push(" OFFSET COALESCE((SELECT CAST(")
            .bind(self.offset);
        query
            .push(" AS BIGINT) - part.found FROM (SELECT ")
            .push(found);
        query.push(" AS found) AS part WHERE part.found < ");
        query.bind(self.offset).push("), 0)");
    }

    /// The ids of each value in `parts` that the page may show. Those of the first value begin where
    /// the page begins. If several referenced records can have one value, they begin earlier, and
    /// the caller skips what is before the page.
    fn push_firsts(&self, query: &mut Query) {
        if self.values.key.is_some() {
            self.push_ids_of_parts(query, self.rows_needed, false);
            return;
        }
        self.push_ids_of_parts(query, self.limit, true);
        query.push(" WHERE step.place = (SELECT min(place) FROM parts) UNION ALL ");
        self.push_ids_of_parts(query, self.limit, false);
        query.push(" WHERE step.place > (SELECT min(place) FROM parts)");
    }

    /// The first ids of each value in `parts`; of the first value those where the page begins, if
    /// `begins_with_page`.
    fn push_ids_of_parts(&self, query: &mut Query, most: i64, begins_with_page: bool) {
        let (values, own) = (&self.values, self.selection.list.own);
        query.push("SELECT step.place, x.id FROM parts AS step");
        if values.key.is_some() {
            query.push(self.engine.join_in_order()).push(values.table);
            values.push_column(query.push(" AS g ON "), "g");
            query.push(" = step.value");
        }
        query.push(" CROSS JOIN ");
        match self.engine {
            Engine::Sqlite => query.push(own.name).push(" AS x ON x.id IN ("),
            Engine::Postgres => query.push("LATERAL ("),
        };
        self.push_of_value(query);
        push_column(query.push(" ORDER BY "), own, own.id);
        query.push(" LIMIT ").bind(most);
        if begins_with_page {
            self.push_offset(query, "(SELECT min(found) FROM parts)");
        }
        query.push(match self.engine {
            Engine::Sqlite => ")",
            Engine::Postgres => ") AS x",
        });
    }

    /// The records without a value, at the beginning or at the end.
    fn push_without_value(&self, query: &mut Query) {
        let (own, is_first) = (self.selection.list.own, self.is_nothing_first());
        query.push(if is_first {
            " UNION ALL SELECT CAST(0 AS BIGINT), b.id FROM ("
        } else {
            " UNION ALL SELECT 9223372036854775807, b.id FROM ("
        });
        self.push_of_nothing(query);
        push_column(query.push(" ORDER BY "), own, own.id);
        // In the limit, because SQLite would evaluate a condition for each row.
        query.push(" LIMIT CASE WHEN ");
        if is_first {
            query.push("(SELECT found FROM steps WHERE place = 1) > ");
            query.bind(self.offset);
        } else {
            query.push("EXISTS (SELECT 1 FROM parts AS last WHERE last.value IS NULL)");
        }
        query.push(" THEN CAST(").bind(self.limit);
        query.push(" AS BIGINT) ELSE 0 END");
        let found = "(SELECT last.found FROM parts AS last WHERE last.value IS NULL)";
        self.push_offset(query, if is_first { "0" } else { found });
        query.push(") AS b");
    }

    fn is_nothing_first(&self) -> bool {
        self.values.is_nullable && !self.values.descending
    }

    /// The ids of all matches. The caller appends a condition.
    fn push_ids(&self, query: &mut Query) {
        let own = self.selection.list.own;
        push_column(query.push("SELECT "), own, own.id);
        push_table(query.push(" FROM "), own);
        let is_planned = |condition: &Condition| condition.field == "id";
        let conditions = &self.conditions;
        self.selection
            .push_conditions(query, self.engine, own, conditions, is_planned);
    }

    fn push_of_nothing(&self, query: &mut Query) {
        self.push_ids(query);
        let own = self.selection.list.own;
        self.values.push_column(query.push(" AND "), own.alias);
        query.push(" IS NULL");
    }

    fn push_of_value(&self, query: &mut Query) {
        self.push_ids(query);
        let own = self.selection.list.own;
        query.push(" AND ");
        if let Some(key) = self.values.key {
            push_column(query, own, key);
            query.push("_id = g.id");
        } else {
            self.values.push_column(query, own.alias);
            query.push(" = step.value");
        }
    }

    /// Counts ids, up to the end of the page.
    fn push_count(&self, query: &mut Query, push_ids: impl Fn(&Self, &mut Query)) {
        query.push("(SELECT count(*) FROM (");
        push_ids(self, query);
        query.push(" LIMIT ").bind(self.rows_needed);
        query.push(") AS counted)");
    }
}
