//! One row of a result, from either engine.

use super::{Column, Value, postgres, sqlite};
use crate::{Error, Timestamp};

/// A row, lent to the function that turns it into a value of the caller.
pub struct Row<'a>(Source<'a>);

enum Source<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl<'a> Row<'a> {
    pub(crate) fn sqlite(row: &'a rusqlite::Row<'a>) -> Self {
        Self(Source::Sqlite(row))
    }

    pub(crate) fn postgres(row: &'a tokio_postgres::Row) -> Self {
        Self(Source::Postgres(row))
    }

    /// The value of the column at `index`, counted from 0 in the order of the statement.
    ///
    /// # Errors
    /// When there is no such column or its value is of another kind (see [`Column`]).
    pub fn get<T: Column>(&self, index: usize) -> Result<T, Error> {
        self.value(index)
            .and_then(T::from_value)
            .map_err(|error| error.context(&format!("column {index}")))
    }

    fn value(&self, index: usize) -> Result<Value<'_>, Error> {
        match self.0 {
            Source::Sqlite(row) => sqlite::read(row, index),
            Source::Postgres(row) => postgres::read(row, index),
        }
    }
}

/// The first and the last moment that a statement found, its two columns; none when it found
/// nothing.
///
/// # Errors
/// As of [`Row::get`].
pub fn span_of(row: &Row<'_>) -> Result<Option<(Timestamp, Timestamp)>, Error> {
    let (first, last): (Option<Timestamp>, Option<Timestamp>) = (row.get(0)?, row.get(1)?);
    Ok(first.zip(last))
}
