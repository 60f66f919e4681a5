//! Rows that are found by their keys, one at a time wherever they are asked for.

use crate::{Error, Row};

/// How a row is found by its key, an integer: by one statement for one row, and on PostgreSQL by one for all rows that are asked for at
/// the same time. Made by [`by_key!`](crate::by_key!) as a `static`, for [`Conn::by_key`](crate::Conn::by_key).
pub struct ByKey<T> {
    /// Answers the row whose key is `$1`; the key is its first column.
    pub one: &'static str,
    /// Answers the rows whose keys stand in the text `$1` with commas between them. PostgreSQL only.
    pub many: &'static str,
    /// What is made of a row.
    pub row: fn(&Row<'_>) -> Result<T, Error>,
}

impl<T> ByKey<T> {
    /// That of a statement that is put together once, when it is first needed: it ends with the key's name behind `WHERE`.
    pub fn of(select: &str, row: fn(&Row<'_>) -> Result<T, Error>) -> Self {
        Self {
            one: format!("{select} = $1").leak(),
            many: format!("{select} = ANY (CAST(string_to_array($1, ',') AS BIGINT[]))").leak(),
            row,
        }
    }
}

/// A [`ByKey`] of what makes a row and of the pieces of a statement that selects the key as its first column and ends with the key's name
/// behind `WHERE`.
///
/// ```
/// use db::{ByKey, Row, by_key};
///
/// static TITLE: ByKey<String> = by_key!(|row: &Row<'_>| row.get(1); "SELECT id, title FROM product WHERE id");
/// assert_eq!(TITLE.one, "SELECT id, title FROM product WHERE id = $1");
/// ```
#[macro_export]
macro_rules! by_key {
    ($row:expr; $($text:expr),+ $(,)?) => {
        $crate::ByKey {
            one: concat!($($text),+, " = $1"),
            many: concat!($($text),+, " = ANY (CAST(string_to_array($1, ',') AS BIGINT[]))"),
            row: $row,
        }
    };
}
