//! Rows that are found by their keys. Callers ask for one at a time; on PostgreSQL one statement
//! finds those of several callers.

use crate::{Error, Row};

/// Finds a row by its key, an integer: by one statement for one row, and on PostgreSQL by one for
/// all rows that are asked for at the same time. Made by [`batch_loader!`](crate::batch_loader!) as
/// a `static`, for [`Conn::find_by_key`](crate::Conn::find_by_key).
pub struct BatchLoader<T> {
    /// Answers the row whose key is `$1`; the key is its first column.
    pub one: &'static str,
    /// Answers the rows whose keys stand in the text `$1` with commas between them. PostgreSQL
    /// only.
    pub many: &'static str,
    /// Turns a row into a value.
    pub row: fn(&Row<'_>) -> Result<T, Error>,
}

impl<T> BatchLoader<T> {
    /// One for a statement that is assembled at run time, once: it ends with the key's name behind
    /// `WHERE`.
    pub fn of(select: &str, row: fn(&Row<'_>) -> Result<T, Error>) -> Self {
        Self {
            one: format!("{select} = $1").leak(),
            many: format!("{select} = ANY (CAST(string_to_array($1, ',') AS BIGINT[]))").leak(),
            row,
        }
    }
}

/// A [`BatchLoader`] of a function that reads a row, and of the pieces of a statement. The
/// statement selects the key as its first column and ends with the key's name behind `WHERE`.
///
/// ```
/// use db::{BatchLoader, Row, batch_loader};
///
/// static TITLE: BatchLoader<String> = batch_loader!(|row: &Row<'_>| row.get(1); "SELECT id, title FROM product WHERE id");
/// assert_eq!(TITLE.one, "SELECT id, title FROM product WHERE id = $1");
/// ```
#[macro_export]
macro_rules! batch_loader {
    ($row:expr; $($text:expr),+ $(,)?) => {
        $crate::BatchLoader {
            one: concat!($($text),+, " = $1"),
            many: concat!($($text),+, " = ANY (CAST(string_to_array($1, ',') AS BIGINT[]))"),
            row: $row,
        }
    };
}
