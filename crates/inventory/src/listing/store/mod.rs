//! The SQL statements of a list. Each path reads one table, and gets columns of other tables by
//! scalar subqueries, so the query planner has no join order to choose. Conditions that must not
//! use an index are written as expressions.

mod far_walk;
mod reading;
mod skip_scan;

use db::{Engine, OwnedValue, Query};
use resource::{Field, sql};

use super::{
    Columns, Condition, DrivingTerm, IndexName, List, PageRange, Selection, SortKey, Table, Test,
    plan::{AccessPath, QueryStats, Walk},
};
use crate::search;
use far_walk::FarWalk;

/// The column aliases of sort keys.
const KEYS: [&str; 12] = [
    "key_1", "key_2", "key_3", "key_4", "key_5", "key_6", "key_7", "key_8", "key_9", "key_10",
    "key_11", "key_12",
];

/// The aliases of joined tables with names.
const NAMES: [&str; 12] = [
    "name_1", "name_2", "name_3", "name_4", "name_5", "name_6", "name_7", "name_8", "name_9",
    "name_10", "name_11", "name_12",
];

impl<T: 'static> Selection<T> {
    /// Appends the statement that reads a page by an access path. All paths return the same page.
    pub(super) fn statement(
        &self,
        mut query: Query,
        engine: Engine,
        stats: &QueryStats,
        path: AccessPath,
        range: PageRange,
    ) -> Query {
        let own = self.list.own;
        let (far, from_end) = match path {
            AccessPath::Walk(walk) => {
                let far = FarWalk::of(self, engine, stats, walk, range);
                (far, stats.range_from_end(range))
            }
            _ => (None, None),
        };
        let far = far.filter(|far| from_end.is_none_or(|other| far.is_shorter_than(other)));
        let (limit, offset) = from_end.unwrap_or(range);
        let rows_needed = limit.saturating_add(offset);
        self.list.push_columns(query.push("SELECT "));
        query.push(" FROM (");
        match (path, &far) {
            (AccessPath::Walk(_), Some(far)) => far.push(&mut query),
            (AccessPath::Walk(walk), None) => {
                self.push_walk(&mut query, engine, stats, walk, (from_end.is_some(), false));
            }
            (AccessPath::Merge, _) => self.push_merge(&mut query, engine, stats, rows_needed),
            (AccessPath::Sort, _) => self.push_sort(&mut query, engine, stats, rows_needed),
            (AccessPath::SkipScan, _) => self.push_skip_scan(&mut query, engine, stats, range),
        }
        if path != AccessPath::SkipScan && far.is_none() {
            query
                .push(" LIMIT ")
                .bind(limit)
                .push(" OFFSET ")
                .bind(offset);
        }
        query.push(") AS page");
        query.push(engine.join_in_order());
        push_table(&mut query, own);
        push_column(query.push(" ON "), own, own.id);
        self.list.push_joins(query.push(" = page.id"));
        query.push(" ORDER BY ");
        for (field, descending) in self.order_fields() {
            self.push_key(&mut query, own, field);
            query
                .push(self.list.direction(field, descending))
                .push(", ");
        }
        push_column(&mut query, own, own.id);
        query
    }

    /// The table to read matches from, and the conditions.
    fn source(&self, driving: Option<&DrivingTerm>) -> (&'static Table, Vec<Condition>) {
        match driving {
            Some(driving) => (driving.table, self.conditions_beside(driving)),
            None => (self.list.own, self.conditions.clone()),
        }
    }

    fn order_fields(&self) -> impl Iterator<Item = (&'static Field, bool)> {
        let order = self.order.iter();
        order.filter_map(|by| Some((self.list.field(by.field)?, by.descending)))
    }

    /// Selects ids, and optionally sort keys, in the order of an index or in reverse. Conditions
    /// that the index does not cover are hidden from the query planner.
    fn push_walk(
        &self,
        query: &mut Query,
        engine: Engine,
        stats: &QueryStats,
        walk: Walk,
        (is_reversed, has_keys): (bool, bool),
    ) {
        let (table, names) = (walk.table, self.names_of(walk));
        push_column(query.push("SELECT "), table, table.id);
        query.push(" AS id");
        for ((field, _), key) in self.order_fields().zip(KEYS).filter(|_| has_keys) {
            self.push_key(query.push(", "), table, field);
            query.push(" AS ").push(key);
        }
        self.push_rows(query, engine, stats, walk);
        query.push(" ORDER BY ");
        for (at, (field, descending)) in self.order_fields().enumerate() {
            match (names, field.target) {
                (Some(_), Some(target)) if at == 0 => {
                    query.push("n.").push(target.name).push("_folded");
                }
                _ => self.push_key(query, table, field),
            }
            query
                .push(self.list.direction(field, descending != is_reversed))
                .push(", ");
        }
        push_column(query, table, table.id);
        query.push(if is_reversed { " DESC" } else { "" });
    }

    /// The reference field of a walk by name.
    fn names_of(&self, walk: Walk) -> Option<&'static Field> {
        let (field, _) = self.order_fields().next()?;
        walk.is_by_name.then_some(field)
    }

    /// Appends table, index and conditions of a walk.
    fn push_rows(&self, query: &mut Query, engine: Engine, stats: &QueryStats, walk: Walk) {
        let Walk { table, index, .. } = walk;
        let mut conditions = self.conditions_of(walk, stats);
        if self.first_field() == "id" {
            conditions.extend(stats.id_range());
        }
        query.push(" FROM ");
        let names = self.names_of(walk);
        if let Some(target) = names.and_then(|field| field.target) {
            query.push(target.path).push(" AS n CROSS JOIN ");
        }
        push_table(query, table);
        // Without the hint, SQLite would rather sort the table than look rows up by the index.
        if engine == Engine::Sqlite {
            match index.name {
                IndexName::PrimaryKey => query.push(" NOT INDEXED"),
                IndexName::Named(name) => query.push(" INDEXED BY ").push(name),
                IndexName::OfOrder => query
                    .push(" INDEXED BY ")
                    .push(table.name)
                    .push("_")
                    .push(index.order),
                IndexName::Any => query,
            };
        }
        self.push_conditions(query, engine, table, &conditions, |condition| {
            condition.is_bound_by(&index)
        });
        if let Some(field) = names {
            push_column(query.push(" AND "), table, field.name);
            query.push("_id = n.id");
        }
    }

    /// Selects the first ids of each value, and merges them.
    fn push_merge(&self, query: &mut Query, engine: Engine, stats: &QueryStats, rows_needed: i64) {
        query.push("SELECT id FROM (");
        for (at, selection) in self.of_each_value().enumerate() {
            query.push(if at == 0 { "" } else { " UNION ALL " });
            query.push("SELECT * FROM (");
            if let Some(walk) = selection.walk(stats) {
                selection.push_walk(query, engine, stats, walk, (false, true));
            }
            query
                .push(" LIMIT ")
                .bind(rows_needed)
                .push(") AS of_value");
        }
        query.push(") AS d ORDER BY ");
        self.push_order_by_keys(query);
    }

    /// One selection for each value of the condition with several values.
    fn of_each_value(&self) -> impl Iterator<Item = Self> {
        let several = self.several().into_iter();
        several.flat_map(move |(at, _, values)| {
            values.iter().map(move |value| {
                let mut selection = self.clone();
                if let Some(condition) = selection.conditions.get_mut(at) {
                    condition.test = Test::is(*value);
                }
                selection
            })
        })
    }

    /// Appends the sort keys of the subquery `d`.
    fn push_order_by_keys(&self, query: &mut Query) {
        for ((field, descending), key) in self.order_fields().zip(KEYS) {
            query.push("d.").push(key);
            query.push(self.list.direction(field, descending));
            query.push(", ");
        }
        query.push("d.id");
    }

    /// Sorts all matches. If the driving term has several entries per record, they have equal sort
    /// keys, so a multiple of the page size is enough.
    fn push_sort(&self, query: &mut Query, engine: Engine, stats: &QueryStats, rows_needed: i64) {
        let driving = stats.driving.as_ref();
        let times = driving.map_or(1, |driving| driving.entries_of_one);
        if times == 1 {
            return self.push_sorted(query, engine, stats);
        }
        query.push("SELECT d.id FROM (");
        self.push_sorted(query, engine, stats);
        query
            .push(" LIMIT ")
            .bind(rows_needed.saturating_mul(times));
        query.push(") AS d GROUP BY d.id");
        for (_, key) in self.order_fields().zip(KEYS) {
            query.push(", d.").push(key);
        }
        self.push_order_by_keys(query.push(" ORDER BY "));
    }

    /// Selects ids and sort keys of all matches, sorted. The limit in the subquery prevents a scan
    /// in the order of an index, where matches may be far apart. Names are joined outside of the
    /// subquery and wrapped in `COALESCE`, so that PostgreSQL does not scan the index of names.
    fn push_sorted(&self, query: &mut Query, engine: Engine, stats: &QueryStats) {
        let (table, mut conditions) = self.source(stats.driving.as_ref());
        conditions.retain(|condition| !stats.is_idle(condition));
        conditions.extend(stats.id_range());
        let keys = || self.order_fields().zip(KEYS.into_iter().zip(NAMES));
        let name_of = |field: &Field| match self.list.sort_key(field) {
            SortKey::Name(path, name) => Some((path, name)),
            SortKey::Column(..) => None,
        };
        query.push("SELECT u.id");
        for ((field, _), (key, names)) in keys() {
            match name_of(field) {
                Some((_, name)) => query.push(", COALESCE(").push(names).push(".").push(name),
                None => query.push(", u.").push(key),
            };
            query.push(name_of(field).map_or("", |_| "_folded, '')"));
            query.push(" AS ").push(key);
        }
        push_column(query.push(" FROM (SELECT "), table, table.id);
        query.push(" AS id");
        for ((field, _), (key, _)) in keys() {
            match name_of(field) {
                Some(_) => self.push_reference(query.push(", "), table, field),
                None => self.push_key(query.push(", "), table, field),
            }
            query.push(" AS ").push(key);
        }
        push_table(query.push(" FROM "), table);
        self.push_conditions(query, engine, table, &conditions, |_| true);
        query.push(match engine {
            Engine::Sqlite => " LIMIT -1) AS u",
            Engine::Postgres => " OFFSET 0) AS u",
        });
        for ((field, _), (key, names)) in keys() {
            if let Some((path, _)) = name_of(field) {
                query.push(engine.join_in_order()).push(path);
                query.push(" AS ").push(names).push(" ON ").push(names);
                query.push(".id = u.").push(key);
            }
        }
        query.push(" ORDER BY ");
        for ((field, descending), key) in self.order_fields().zip(KEYS) {
            query.push(key).push(self.list.direction(field, descending));
            query.push(", ");
        }
        query.push("u.id");
    }

    /// Appends the sort key of a field: a column, or a scalar subquery on another table.
    fn push_key(&self, query: &mut Query, table: &Table, field: &Field) {
        match self.list.sort_key(field) {
            SortKey::Column(home, column, suffix) => {
                let is_here = self.list.has(table, field.name);
                Self::push_looked_up(query, table, home, is_here, [column, suffix]);
            }
            SortKey::Name(path, name) => {
                query.push("(SELECT n.").push(name).push("_folded FROM ");
                query.push(path).push(" AS n WHERE n.id = ");
                self.push_reference(query, table, field);
                query.push(")");
            }
        }
    }

    /// Appends the foreign key of a reference.
    fn push_reference(&self, query: &mut Query, table: &Table, field: &Field) {
        let is_here = self.list.has(table, field.name);
        let column = [field.name, "_id"];
        Self::push_looked_up(query, table, self.list.own, is_here, column);
    }

    fn push_looked_up(
        query: &mut Query,
        table: &Table,
        home: &Table,
        is_here: bool,
        [column, suffix]: [&'static str; 2],
    ) {
        if is_here {
            push_column(query, table, column);
            query.push(suffix);
            return;
        }
        query.push("(SELECT q.").push(column).push(suffix);
        query.push(" FROM ").push(home.name).push(" AS q WHERE q.");
        push_column(query.push(home.id).push(" = "), table, table.id);
        query.push(")");
    }

    /// Appends the conditions on the rows of a table. Conditions on another table become one
    /// boolean subquery. PostgreSQL estimates that it is true for half of the rows, so it keeps the
    /// index scan.
    fn push_conditions(
        &self,
        query: &mut Query,
        engine: Engine,
        table: &Table,
        conditions: &[Condition],
        is_planned: impl Fn(&Condition) -> bool,
    ) {
        query.push(" WHERE TRUE");
        let is_here = |condition: &&Condition| self.list.has(table, condition.field);
        for condition in conditions.iter().filter(is_here) {
            condition.push(
                query.push(" AND "),
                engine,
                table.alias,
                is_planned(condition),
            );
        }
        for home in self.list.tables() {
            let is_of_home = |condition: &&Condition| self.list.home(condition.field) == home;
            let mut others = conditions
                .iter()
                .filter(|condition| !is_here(condition))
                .filter(is_of_home)
                .peekable();
            if others.peek().is_none() {
                continue;
            }
            for (at, condition) in others.enumerate() {
                query.push(if at == 0 {
                    " AND COALESCE((SELECT "
                } else {
                    " AND "
                });
                condition.push(query, engine, "q", true);
            }
            query.push(" FROM ").push(home.name).push(" AS q WHERE q.");
            push_column(query.push(home.id).push(" = "), table, table.id);
            query.push("), FALSE)");
        }
    }
}

impl<T> List<T> {
    fn push_columns(&self, query: &mut Query) {
        match self.record {
            Columns::OfFields(fields, _) => sql::push_columns(query, fields(), self.own.alias),
            Columns::Text(columns, _) => _ = query.push(columns),
        }
    }

    fn push_joins(&self, query: &mut Query) {
        match self.record {
            Columns::OfFields(fields, further) => {
                sql::push_joins(query.push(further), fields(), self.own.alias);
            }
            Columns::Text(_, joins) => _ = query.push(joins),
        }
    }
}

impl Condition {
    /// Appends the comparison. If not `is_planned`, a unary plus or a function prevents the use of
    /// an index.
    fn push(&self, query: &mut Query, engine: Engine, alias: &'static str, is_planned: bool) {
        let is_number = !matches!(
            self.test,
            Test::AtLeast(OwnedValue::Timestamp(_))
                | Test::Above(OwnedValue::Timestamp(_))
                | Test::Below(OwnedValue::Timestamp(_))
                | Test::Is(OwnedValue::Boolean(_) | OwnedValue::Text(_))
                | Test::Begins(_)
        );
        let column = [alias, ".", self.column];
        let mut push_column = |before: &'static str, after: &'static str| {
            query.push(before);
            for part in column {
                query.push(part);
            }
            query.push(after);
        };
        match &self.test {
            Test::Contains(_) => push_column("COALESCE(", ""),
            Test::IsNull(_) | Test::Matches(_) => push_column("", ""),
            _ if is_planned => push_column("", ""),
            _ if is_number => push_column("+", ""),
            _ => {
                push_column("COALESCE(", "");
                push_column(", ", ")");
            }
        }
        match &self.test {
            Test::Is(value) => query.push(" = ").bind(value.clone()),
            Test::IsOneOf(ids) => query.any_of(ids.iter().copied()),
            Test::IsAmong(found, id) => query.push(" IN (").push(found).bind(*id).push(")"),
            Test::Begins(text) => {
                query.push(" >= ").bind(text.as_str());
                match search::successor(text) {
                    Some(beyond) => {
                        query.push(" AND ").push(alias).push(".").push(self.column);
                        query.push(" < ").bind(beyond)
                    }
                    None => query,
                }
            }
            Test::AtLeast(bound) => query.push(" >= ").bind(bound.clone()),
            Test::AtMost(bound) => query.push(" <= ").bind(bound.clone()),
            Test::Above(bound) => query.push(" > ").bind(bound.clone()),
            Test::Below(bound) => query.push(" < ").bind(bound.clone()),
            Test::Contains(word) => {
                query.push(" LIKE ").bind(search::pattern(word));
                query.push(" ESCAPE '\\', FALSE)")
            }
            Test::IsNull(true) => query.push(" IS NULL"),
            Test::IsNull(false) => query.push(" IS NOT NULL"),
            Test::Matches(key) => {
                search::push_word_ids(query, engine, key);
                query
            }
        };
    }
}

fn push_table(query: &mut Query, table: &Table) {
    query.push(table.name).push(" AS ").push(table.alias);
}

fn push_column(query: &mut Query, table: &Table, column: &'static str) {
    query.push(table.alias).push(".").push(column);
}
