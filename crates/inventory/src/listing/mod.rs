//! One engine for the lists of products, of movements, of brands, categories and suppliers, of the
//! ledger, of thresholds, of the audit log, of analyses, and of users, groups and sessions.
//!
//! A resource declares its tables and their indexes once ([`List`]). A request is a [`Selection`]:
//! conditions and an order. `plan` chooses an [`plan::AccessPath`] from the declaration and the
//! [`QueryStats`]; `store` writes the statement. Each path reads ids from one table, in order; the
//! records are joined to the ids of the page alone. So the cost of a page follows from the index
//! entries that the path reads, and not from the size of the table.
//!
//! To add a filter, read it into a [`Condition`] where the resource parses its query string. To add
//! an index, declare it in the resource's [`Table`] and in both migrations. `tests` compares every
//! path with a list in memory, and proves by the query plans of both engines that none scans a table.

mod plan;
mod store;
#[cfg(test)]
pub(crate) mod tests;
mod text_search;

use db::{Error, Money, OwnedValue, Row, Timestamp};
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

/// What a list is read from.
#[derive(Debug)]
pub(crate) struct List<T> {
    /// The fields that order it.
    pub(crate) fields: &'static [&'static Field],
    /// The record's own table.
    pub(crate) own: &'static Table,
    /// Other tables that a list may be read from, as their rows belong to one record each.
    pub(crate) others: &'static [&'static Table],
    /// Fields that another column of the own table orders by: the field, and the column.
    pub(crate) order_columns: &'static [(&'static str, &'static str)],
    /// Fields with few values, or values that many records share.
    pub(crate) shared_values: &'static [&'static str],
    /// Orders, and the filters whose matches stand together in them: all rice has one category and
    /// titles that begin alike. A walk along the order may meet none of them for long.
    pub(crate) clusters: &'static [Cluster],
    pub(crate) record: Columns,
    /// Reads a record from its columns.
    pub(crate) read: fn(&Row<'_>) -> Result<T, Error>,
}

/// The columns of a record, and the joins that they need.
#[derive(Debug)]
pub(crate) enum Columns {
    /// The columns of described fields.
    Fields(&'static [&'static Field]),
    /// Both as they stand in statements.
    Text(fn() -> (&'static str, &'static str)),
}

/// Orders, and filters whose matches stand together in them.
pub(crate) type Cluster = (&'static [&'static str], &'static [&'static str]);

/// A table that a list may be read from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// Or a query in brackets, which adds columns to those of a table. It has no indexes.
    pub(crate) name: &'static str,
    /// Its name in statements.
    pub(crate) alias: &'static str,
    /// The column with the record's id.
    pub(crate) id: &'static str,
    /// Fields that only this table has; of the own table none is named, it has all others.
    pub(crate) fields: &'static [&'static str],
    /// Fields of other tables that it has copies of.
    pub(crate) copies: &'static [&'static str],
    pub(crate) indexes: &'static [Index],
    /// Whether each field that stands in it has an index of its own too, [`Index::of`].
    pub(crate) is_indexed_by_field: bool,
}

/// An index: of the rows with one value of `within`, or of all, those in the order of a field and
/// then of their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) name: IndexName,
    pub(crate) within: Option<&'static str>,
    pub(crate) order: &'static str,
}

/// What an index is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexName {
    PrimaryKey,
    Named(&'static str),
    /// The name of the table and of the field that orders: `products_title`.
    OfOrder,
    /// The database chooses one by the conditions: each of them has one.
    Any,
}

impl Table {
    /// A record's own table, to be completed.
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
    /// A list of one table, to be completed.
    pub(crate) const fn of(
        own: &'static Table,
        fields: &'static [&'static Field],
        record: fn() -> (&'static str, &'static str),
        read: fn(&Row<'_>) -> Result<T, Error>,
    ) -> Self {
        Self {
            fields,
            own,
            others: &[],
            order_columns: &[],
            shared_values: &[],
            clusters: &[],
            record: Columns::Text(record),
            read,
        }
    }
}

impl<T: Record> List<T> {
    /// A list of one table that has all fields of a described record, to be completed.
    pub(crate) const fn described(own: &'static Table) -> Self {
        let mut list = Self::of(own, T::FIELDS, || ("", ""), T::from_row);
        list.record = Columns::Fields(T::FIELDS);
        list
    }
}

impl Index {
    /// The primary key, in the order of a field.
    pub(crate) const fn primary(within: Option<&'static str>, order: &'static str) -> Self {
        Self {
            name: IndexName::PrimaryKey,
            within,
            order,
        }
    }

    /// The rows in the order of a field, in the index that has its name.
    pub(crate) const fn of(order: &'static str) -> Self {
        Self {
            name: IndexName::OfOrder,
            within: None,
            order,
        }
    }

    /// The rows in the order of a field, in an index that the database chooses.
    pub(crate) const fn any(order: &'static str) -> Self {
        Self {
            name: IndexName::Any,
            ..Self::of(order)
        }
    }

    /// Of the rows with one value of a field, those in the order of another.
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

/// A part of a list: at most so many records, behind so many.
pub(crate) type PageRange = (i64, i64);

/// Which records are asked for, and in which order.
#[derive(Debug)]
pub(crate) struct Selection<T: 'static> {
    pub(crate) list: &'static List<T>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) order: Vec<OrderBy>,
}

/// What a record must fulfil.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Condition {
    pub(crate) field: &'static str,
    pub(crate) column: &'static str,
    pub(crate) test: Test,
}

/// What a column's value is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Test {
    Is(i64),
    IsTrue(bool),
    IsOneOf(Vec<i64>),
    /// One of the ids that a query finds. The query ends with a comparison, and the id follows.
    IsAmong(&'static str, i64),
    IsText(String),
    /// Whether the text begins with another.
    Begins(String),
    AtLeast(Bound),
    AtMost(Bound),
    Above(Bound),
    Below(Bound),
    /// Whether a word stands in the folded text.
    Contains(String),
    IsNull(bool),
    /// One of the words of the search index that a key finds.
    Matches(Key),
}

/// The bound of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bound {
    Id(i64),
    Amount(Money),
    Moment(Timestamp),
}

impl From<Bound> for OwnedValue {
    fn from(bound: Bound) -> Self {
        match bound {
            Bound::Id(id) => id.into(),
            Bound::Amount(amount) => amount.into(),
            Bound::Moment(moment) => moment.into(),
        }
    }
}

/// From one moment on, and before another.
pub(crate) fn between(bounds: Option<(Timestamp, Timestamp)>) -> impl Iterator<Item = Condition> {
    let tests = bounds.map(|(from, until)| {
        let (from, until) = (Bound::Moment(from), Bound::Moment(until));
        [Test::AtLeast(from), Test::Below(until)]
    });
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
        matches!(self.test, Test::Is(_) | Test::IsText(_))
    }

    /// Whether it leaves records out that a walk along an index would meet often. Nearly no record
    /// is archived.
    fn is_selective(&self) -> bool {
        self.test != Test::IsNull(true)
    }

    /// Whether an index reads only rows that fulfil it.
    fn is_bound_by(&self, index: &Index) -> bool {
        if index.name == IndexName::Any {
            return true;
        }
        match self.test {
            Test::Is(_) | Test::IsText(_) => {
                index.within == Some(self.field) || index.order == self.field
            }
            Test::AtLeast(_)
            | Test::AtMost(_)
            | Test::Above(_)
            | Test::Below(_)
            | Test::Begins(_) => index.order == self.field,
            _ => false,
        }
    }
}

/// What a field orders by.
enum SortKey {
    /// A column: its table, its name and what it has behind it.
    Column(&'static Table, &'static str, &'static str),
    /// The name of the record that the field refers to: its table, and the column without
    /// `_folded`.
    Name(&'static str, &'static str),
}

impl<T: 'static> List<T> {
    /// What a request selects: the records that fulfil conditions and have its words in a folded
    /// column of the own table. They come in its order, or else by their names.
    pub(crate) fn select(
        &'static self,
        parameters: &Parameters,
        searched: &'static str,
        conditions: impl IntoIterator<Item = Condition>,
    ) -> Selection<T> {
        let words = search_words(parameters).into_iter();
        let words = words.map(|word| Condition::new(searched, searched, Test::Contains(word)));
        let names: Vec<_> = self.fields.iter().map(|field| field.name).collect();
        let name = self.fields.iter().find(|field| field.is_name);
        let by_name = OrderBy {
            field: name.map_or("id", |field| field.name),
            descending: false,
        };
        Selection {
            list: self,
            conditions: conditions.into_iter().chain(words).collect(),
            order: ordering(parameters, &names, by_name),
        }
    }
}

impl<T> List<T> {
    /// The table where a field stands.
    fn home(&self, field: &str) -> &'static Table {
        let mut others = self.others.iter();
        let home = others.find(|table| table.fields.contains(&field));
        home.copied().unwrap_or(self.own)
    }

    fn tables(&self) -> impl Iterator<Item = &'static Table> + Clone {
        [self.own].into_iter().chain(self.others.iter().copied())
    }

    /// Whether a table has a field.
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

    /// What stands behind a place of an order. A reference always refers to a record with a name.
    fn direction(&self, field: &Field, is_descending: bool) -> &'static str {
        let is_name = matches!(self.sort_key(field), SortKey::Name(..));
        sql::direction(field.is_nullable && !is_name, is_descending)
    }

    /// Whether an order is by the names of records in another table.
    fn is_by_name(&self, field: &str) -> bool {
        self.field(field)
            .is_some_and(|field| matches!(self.sort_key(field), SortKey::Name(..)))
    }

    /// Whether the matches of a condition may stand together in an order.
    fn is_clustered(&self, order: &str, condition: &Condition) -> bool {
        self.clusters
            .iter()
            .any(|(orders, filters)| orders.contains(&order) && filters.contains(&condition.field))
    }
}

/// The order by id.
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
    /// The same of another list.
    pub(crate) fn of_list<U: 'static>(&self, list: &'static List<U>) -> Selection<U> {
        Selection {
            list,
            conditions: self.conditions.clone(),
            order: self.order.clone(),
        }
    }

    /// The values of the condition that has several, and where it stands.
    fn several(&self) -> Option<(usize, &'static str, &[i64])> {
        let mut conditions = self.conditions.iter().enumerate();
        conditions.find_map(|(at, condition)| match &condition.test {
            Test::IsOneOf(values) => Some((at, condition.field, values.as_slice())),
            _ => None,
        })
    }

    /// Leaves out of the order what all of the matches have the same value of.
    pub(crate) fn drop_constant_orders(&mut self) {
        let conditions = &self.conditions;
        let is_constant = |by: &OrderBy| {
            conditions
                .iter()
                .any(|condition| condition.field == by.field && condition.is_of_one_value())
        };
        self.order.retain(|by| !is_constant(by));
    }

    /// The field that orders first.
    fn first_field(&self) -> &'static str {
        self.order.first().map_or("id", |by| by.field)
    }
}
