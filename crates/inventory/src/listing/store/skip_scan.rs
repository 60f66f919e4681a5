//! A skip scan: from value to value of the column that orders, one seek for each, until they have
//! enough records for the page; then the first ids of each value. However many records share a
//! value, they cost nothing: neither where ids ascend while values descend, an order that no index
//! has, nor where the order is by names that stand in another table.

use db::{Engine, Query};
use resource::sql;

use super::{QueryStats, Selection, Table, push_column, push_table};
use crate::listing::{Condition, SortKey};

/// After so many values another path is shorter.
const MOST_VALUES: i64 = 400;

/// What the values stand in.
struct Values {
    table: &'static str,
    column: &'static str,
    suffix: &'static str,
    /// The records' column with the id of the value's row; none where they have the value itself.
    key: Option<&'static str>,
    is_nullable: bool,
    descending: bool,
}

impl Values {
    fn of(selection: &Selection) -> Option<Self> {
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

    /// The first value, or the next one.
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

impl Selection {
    /// The ids in order, behind what the query has.
    pub(super) fn push_skip_scan(
        &self,
        query: &mut Query,
        engine: Engine,
        stats: &QueryStats,
        wanted: i64,
    ) {
        let Some(values) = Values::of(self) else {
            return;
        };
        let own = self.list.own;
        let mut conditions = self.conditions.clone();
        conditions.retain(|condition| !stats.is_idle(condition));
        conditions.extend(stats.id_range());
        let rest = |query: &mut Query| {
            self.push_conditions(query, engine, own, &conditions, |condition: &Condition| {
                condition.field == "id"
            });
        };
        let of_nothing = |query: &mut Query| {
            push_ids(query, own, &rest);
            values.push_column(query.push(" AND "), own.alias);
            query.push(" IS NULL");
        };
        let of_value = |query: &mut Query| {
            push_ids(query, own, &rest);
            match values.key {
                Some(key) => {
                    push_column(query.push(" AND "), own, key);
                    query.push("_id = g.id");
                }
                None => {
                    values.push_column(query.push(" AND "), own.alias);
                    query.push(" = step.value");
                }
            }
        };
        let nothing_first = values.is_nullable && !values.descending;
        query.push("WITH RECURSIVE steps (place, value, found) AS (SELECT CAST(1 AS BIGINT), ");
        values.push_next(query, true);
        query.push(", ");
        if nothing_first {
            push_count(query, wanted, &of_nothing);
        } else {
            query.push("CAST(0 AS BIGINT)");
        }
        query.push(" UNION ALL SELECT step.place + 1, ");
        values.push_next(query, false);
        query.push(", step.found + ");
        if values.key.is_some() {
            query.push("(SELECT CAST(COALESCE(sum(");
            push_count(query, wanted, &of_value);
            query.push("), 0) AS BIGINT) FROM ").push(values.table);
            query.push(" AS g WHERE ");
            values.push_column(query, "g");
            query.push(" = step.value)");
        } else {
            push_count(query, wanted, &of_value);
        }
        query.push(" FROM steps AS step WHERE step.value IS NOT NULL AND step.found < ");
        query
            .bind(wanted)
            .push(" AND step.place < ")
            .bind(MOST_VALUES);
        query.push(") SELECT firsts.id FROM (SELECT step.place, x.id FROM steps AS step");
        if values.key.is_some() {
            query.push(engine.join_in_order()).push(values.table);
            values.push_column(query.push(" AS g ON "), "g");
            query.push(" = step.value");
        }
        query.push(" CROSS JOIN ");
        let firsts = |query: &mut Query| {
            of_value(query);
            push_column(query.push(" ORDER BY "), own, own.id);
            query.push(" LIMIT ").bind(wanted);
        };
        match engine {
            Engine::Sqlite => {
                query.push(own.name).push(" AS x ON x.id IN (");
                firsts(query);
                query.push(")");
            }
            Engine::Postgres => {
                query.push("LATERAL (");
                firsts(query);
                query.push(") AS x");
            }
        }
        query.push(" WHERE step.found < ").bind(wanted);
        if values.is_nullable {
            query.push(if nothing_first {
                " UNION ALL SELECT CAST(0 AS BIGINT), b.id FROM ("
            } else {
                " UNION ALL SELECT 9223372036854775807, b.id FROM ("
            });
            of_nothing(query);
            if !nothing_first {
                // Only behind the last value.
                query.push(" AND EXISTS (SELECT 1 FROM steps AS last WHERE last.value IS NULL)");
            }
            push_column(query.push(" ORDER BY "), own, own.id);
            query.push(" LIMIT ").bind(wanted).push(") AS b");
        }
        query.push(") AS firsts ORDER BY firsts.place, firsts.id");
    }
}

/// The ids of the records that are asked for, to be narrowed.
fn push_ids(query: &mut Query, own: &Table, rest: impl Fn(&mut Query)) {
    push_column(query.push("SELECT "), own, own.id);
    push_table(query.push(" FROM "), own);
    rest(query);
}

/// How many there are, counted as far as the page needs them.
fn push_count(query: &mut Query, wanted: i64, of: impl Fn(&mut Query)) {
    query.push("(SELECT count(*) FROM (");
    of(query);
    query.push(" LIMIT ").bind(wanted).push(") AS counted)");
}
