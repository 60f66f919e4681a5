//! Rows that wait to be inserted in bulk.

use crate::{Kind, OwnedValue};

/// Rows of one table that are to be inserted. [`Tx::insert_rows`](crate::Tx::insert_rows) empties
/// them, so that one buffer serves a whole load.
#[derive(Debug)]
pub struct Rows {
    pub(crate) table: &'static str,
    pub(crate) columns: &'static [(&'static str, Kind)],
    pub(crate) values: Vec<OwnedValue>,
}

impl Rows {
    /// No rows yet of these columns, each with the kind that its values have.
    pub const fn new(table: &'static str, columns: &'static [(&'static str, Kind)]) -> Self {
        Self {
            table,
            columns,
            values: Vec::new(),
        }
    }

    /// Adds a row: one value for each column, in their order.
    pub fn push<const N: usize>(&mut self, row: [OwnedValue; N]) {
        debug_assert_eq!(N, self.columns.len(), "{}", self.table);
        self.values.extend(row);
    }

    /// How many rows wait.
    pub fn len(&self) -> usize {
        self.values
            .len()
            .checked_div(self.columns.len())
            .unwrap_or(0)
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|(name, _)| *name).collect()
    }

    /// The statement that inserts one row, for SQLite.
    pub(crate) fn insertion(&self) -> String {
        insert_statement(self.table, &self.names())
    }

    /// The statement that copies all rows, for PostgreSQL.
    pub(crate) fn copying(&self) -> String {
        let (table, names) = (self.table, self.names().join(", "));
        format!("COPY {table} ({names}) FROM STDIN (FORMAT binary)")
    }
}

/// `INSERT INTO table (a, b) VALUES ($1, $2)`
pub fn insert_statement(table: &str, columns: &[&str]) -> String {
    let values: Vec<_> = (1..=columns.len())
        .map(|number| format!("${number}"))
        .collect();
    let (columns, values) = (columns.join(", "), values.join(", "));
    format!("INSERT INTO {table} ({columns}) VALUES ({values})")
}
