//! The list engine: filters, sorts and pages the lists of all record types.
//!
//! A resource declares its tables and indexes once ([`List`]). A request is a [`Selection`]:
//! conditions and an order. `plan` chooses an [`plan::AccessPath`] by the [`QueryStats`], and
//! `store` writes the statement. Each path reads sorted ids from one table, and joins the records
//! to the ids of the page only. So the cost of a page depends on the index entries that the path
//! reads, not on the size of the table.
//!
//! To add a filter, parse it into a [`Condition`] where the resource parses its query string. To
//! add an index, declare it in the resource's [`Table`] and in both migrations. `tests` compares
//! each path with a list in memory, and checks the query plans of both engines for table scans.

mod plan;
mod store;
#[cfg(test)]
pub(crate) mod tests;
mod text_search;

use db::{Error, OwnedValue, Row, Timestamp};
use resource::{Field, Record, find, sql};

pub(crate) use plan::{COMMON, DrivingTerm, QueryStats};
pub(crate) use text_search::{Matches, SearchedText, TextQuery, TextSearch, text_of};

use crate::{
    rest::{
        list::{OrderBy, ordering, search_words},
        query::Parameters,
    },
    search::Key,
};

/// The declaration of a list.
#[derive(Debug)]
pub(crate) struct List<T> {
    /// The fields that the list can be sorted by.
    pub(crate) fields: &'static [&'static Field],
    /// The record's own table.
    pub(crate) own: &'static Table,
    /// Other tables that the list can be read from. Each of their rows belongs to one record.
    pub(crate) others: &'static [&'static Table],
    /// Fields with a separate sort column in the own table: the field, and the column.
    pub(crate) order_columns: &'static [(&'static str, &'static str)],
    /// Fields with few distinct values.
    pub(crate) shared_values: &'static [&'static str],
    /// Orders in which the matches of a filter are adjacent: all rice has one category, and titles
    /// that begin alike. So an index scan in this order may read many rows before the first match.
    pub(crate) clusters: &'static [Cluster],
    pub(crate) record: Columns,
    /// Reads a record from its columns.
    pub(crate) read: fn(&Row<'_>) -> Result<T, Error>,
}

/// The columns of a record, and the joins for them.
#[derive(Debug)]
pub(crate) enum Columns {
    /// Those of described fields. The text has further joins.
    OfFields(fn() -> &'static [&'static Field], &'static str),
    /// SQL text of the columns, and of the joins.
    Text(&'static str, &'static str),
}

/// The sort fields, and the filters whose matches are adjacent in these orders.
pub(crate) type Cluster = (&'static [&'static str], &'static [&'static str]);

/// A table that a list can be read from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// The table, or a subquery in parentheses that adds columns to a table.
    pub(crate) name: &'static str,
    pub(crate) alias: &'static str,
    /// The column with the id of the record.
    pub(crate) id: &'static str,
    /// Fields that only this table has. Empty for the own table, which has all other fields.
    pub(crate) fields: &'static [&'static str],
    /// Fields that are copies from other tables.
    pub(crate) copies: &'static [&'static str],
    pub(crate) indexes: &'static [Index],
    /// Whether each field of the table also has an index of its own, [`Index::of`].
    pub(crate) is_indexed_by_field: bool,
}

/// An index on `within`, if any, then on `order`, then on the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) name: IndexName,
    pub(crate) within: Option<&'static str>,
    pub(crate) order: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexName {
    PrimaryKey,
    Named(&'static str),
    /// The table and the field in `order`, such as `products_title`.
    OfOrder,
    /// Unknown: each condition has an index, and the database chooses one.
    Any,
}

impl Table {
    /// The defaults of an own table.
    pub(crate) const OWN: Self = Self {
        name: "",
        alias: "",
        id: "id",
        fields: &[],
        copies: &[],
        indexes: &[Index::primary(None, "id")],
        is_indexed_by_field: false,
    };
}

impl<T> List<T> {
    /// A list of one table. Struct update syntax sets the other fields.
    pub(crate) const fn of(
        own: &'static Table,
        fields: &'static [&'static Field],
        record: Columns,
        read: fn(&Row<'_>) -> Result<T, Error>,
    ) -> Self {
        Self {
            fields,
            own,
            others: &[],
            order_columns: &[],
            shared_values: &[],
            clusters: &[],
            record,
            read,
        }
    }
}

impl<T: Record> List<T> {
    /// A list of one table with all fields of a described record.
    pub(crate) const fn described(own: &'static Table) -> Self {
        let record = Columns::OfFields(|| T::FIELDS, "");
        Self::of(own, T::FIELDS, record, T::from_row)
    }
}

impl Index {
    /// The primary key, sorted by a field.
    pub(crate) const fn primary(within: Option<&'static str>, order: &'static str) -> Self {
        Self {
            name: IndexName::PrimaryKey,
            within,
            order,
        }
    }

    /// An index on a field, named by table and field.
    pub(crate) const fn of(order: &'static str) -> Self {
        Self {
            name: IndexName::OfOrder,
            within: None,
            order,
        }
    }

    /// An index on a field, chosen by the database.
    pub(crate) const fn any(order: &'static str) -> Self {
        Self {
            name: IndexName::Any,
            ..Self::of(order)
        }
    }

    /// An index on two fields.
    pub(crate) const fn within(
        within: &'static str,
        order: &'static str,
        name: &'static str,
    ) -> Self {
        Self {
            name: IndexName::Named(name),
            within: Some(within),
            order,
        }
    }
}

/// Limit and offset.
pub(crate) type PageRange = (i64, i64);

/// A query of a list: conditions and order.
#[derive(Debug)]
pub(crate) struct Selection<T: 'static> {
    pub(crate) list: &'static List<T>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) order: Vec<OrderBy>,
}

/// A condition that records must satisfy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Condition {
    pub(crate) field: &'static str,
    pub(crate) column: &'static str,
    pub(crate) test: Test,
}

/// The comparison of a condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Test {
    Is(OwnedValue),
    IsOneOf(Vec<i64>),
    /// Is in the result of a subquery. The query ends with a comparison, to which the id is
    /// appended.
    IsAmong(&'static str, i64),
    Begins(String),
    AtLeast(OwnedValue),
    AtMost(OwnedValue),
    Above(OwnedValue),
    Below(OwnedValue),
    /// The folded text contains a word.
    Contains(String),
    IsNull(bool),
    /// Is an entry of the search index that matches a key.
    Matches(Key),
}

impl Test {
    pub(crate) fn is(value: impl Into<OwnedValue>) -> Self {
        Self::Is(value.into())
    }
}

/// Conditions on `created_at`: start, inclusive, and end, exclusive.
pub(crate) fn between(bounds: Option<(Timestamp, Timestamp)>) -> impl Iterator<Item = Condition> {
    let tests = bounds.map(|(from, until)| [Test::AtLeast(from.into()), Test::Below(until.into())]);
    let tests = tests.into_iter().flatten();
    tests.map(|test| Condition::new("created_at", "created_at", test))
}

impl Condition {
    pub(crate) const fn new(field: &'static str, column: &'static str, test: Test) -> Self {
        Self {
            field,
            column,
            test,
        }
    }

    const fn is_of_one_value(&self) -> bool {
        matches!(self.test, Test::Is(_))
    }

    /// Whether the condition excludes many rows of an index scan. `IS NULL` does not: it excludes
    /// archived products, which are rare.
    fn is_selective(&self) -> bool {
        self.test != Test::IsNull(true)
    }

    /// Whether a scan of the index reads only rows that satisfy the condition.
    fn is_bound_by(&self, index: &Index) -> bool {
        if index.name == IndexName::Any {
            return true;
        }
        match self.test {
            Test::Is(_) => index.within == Some(self.field) || index.order == self.field,
            Test::AtLeast(_)
            | Test::AtMost(_)
            | Test::Above(_)
            | Test::Below(_)
            | Test::Begins(_) => index.order == self.field,
            _ => false,
        }
    }
}

enum SortKey {
    /// A column: table, name and suffix.
    Column(&'static Table, &'static str, &'static str),
    /// The name of the referenced record: table, and column without `_folded`.
    Name(&'static str, &'static str),
}

impl<T: 'static> List<T> {
    /// Selects records by conditions, and by the words and the order of a request. The words must
    /// occur in the folded column `searched` of the own table. The default order is by name.
    pub(crate) fn select(
        &'static self,
        parameters: &Parameters,
        searched: &'static str,
        conditions: impl IntoIterator<Item = Condition>,
    ) -> Selection<T> {
        let words = search_words(parameters).into_iter();
        let words = words.map(|word| Condition::new(searched, searched, Test::Contains(word)));
        let name = self.fields.iter().find(|field| field.is_name);
        let by_name = OrderBy {
            field: name.map_or("id", |field| field.name),
            descending: false,
        };
        Selection {
            list: self,
            conditions: conditions.into_iter().chain(words).collect(),
            order: ordering(parameters, self.fields, by_name),
        }
    }
}

impl<T> List<T> {
    /// The table that has a field.
    fn home(&self, field: &str) -> &'static Table {
        let mut others = self.others.iter();
        let home = others.find(|table| table.fields.contains(&field));
        home.copied().unwrap_or(self.own)
    }

    fn tables(&self) -> impl Iterator<Item = &'static Table> + Clone {
        [self.own].into_iter().chain(self.others.iter().copied())
    }

    fn has(&self, table: &Table, field: &str) -> bool {
        table == self.home(field) || table.copies.contains(&field)
    }

    fn field(&self, name: &str) -> Option<&'static Field> {
        find(self.fields, name)
    }

    fn sort_key(&self, field: &Field) -> SortKey {
        let mut columns = self.order_columns.iter();
        if let Some((_, column)) = columns.find(|(name, _)| *name == field.name) {
            return SortKey::Column(self.own, column, "");
        }
        if let Some(target) = field.target {
            return SortKey::Name(target.path, target.name);
        }
        match field.source.and_then(|source| source.split_once('.')) {
            Some((_, column)) => SortKey::Column(self.home(field.name), column, ""),
            None => SortKey::Column(self.own, field.name, sql::suffix(field)),
        }
    }

    /// The SQL direction of a sort key. Names of referenced records are never NULL.
    fn direction(&self, field: &Field, is_descending: bool) -> &'static str {
        let is_name = matches!(self.sort_key(field), SortKey::Name(..));
        sql::direction(field.is_nullable && !is_name, is_descending)
    }

    /// Whether a field sorts by the names of referenced records.
    fn is_by_name(&self, field: &str) -> bool {
        self.field(field)
            .is_some_and(|field| matches!(self.sort_key(field), SortKey::Name(..)))
    }

    /// Whether the matches of a condition may be adjacent in an order.
    fn is_clustered(&self, order: &str, condition: &Condition) -> bool {
        self.clusters
            .iter()
            .any(|(orders, filters)| orders.contains(&order) && filters.contains(&condition.field))
    }
}

pub(crate) fn by_id(descending: bool) -> Vec<OrderBy> {
    let field = "id";
    vec![OrderBy { field, descending }]
}

/// The order by time, and then by id.
pub(crate) fn by_time(descending: bool) -> Vec<OrderBy> {
    let field = "created_at";
    let mut order = vec![OrderBy { field, descending }];
    order.extend(by_id(descending));
    order
}

impl<T: 'static> Clone for Selection<T> {
    fn clone(&self) -> Self {
        self.of_list(self.list)
    }
}

impl<T: 'static> Selection<T> {
    /// The same conditions and order for another list.
    pub(crate) fn of_list<U: 'static>(&self, list: &'static List<U>) -> Selection<U> {
        Selection {
            list,
            conditions: self.conditions.clone(),
            order: self.order.clone(),
        }
    }

    /// The index, the field and the values of the condition with several values.
    fn several(&self) -> Option<(usize, &'static str, &[i64])> {
        let mut conditions = self.conditions.iter().enumerate();
        conditions.find_map(|(at, condition)| match &condition.test {
            Test::IsOneOf(values) => Some((at, condition.field, values.as_slice())),
            _ => None,
        })
    }

    /// Removes sort keys that have the same value in all matches.
    pub(crate) fn drop_constant_orders(&mut self) {
        let conditions = &self.conditions;
        let is_constant = |by: &OrderBy| {
            conditions
                .iter()
                .any(|condition| condition.field == by.field && condition.is_of_one_value())
        };
        self.order.retain(|by| !is_constant(by));
    }

    fn first_field(&self) -> &'static str {
        self.order.first().map_or("id", |by| by.field)
    }
}
