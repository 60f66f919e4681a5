//! What can go wrong in a database, reported the same way for both engines.
//!
//! The text of an [`Error`] is for logs: it names statements and constraints, never stored values.
//! What a caller may be told is decided at the HTTP edge, not here.

use std::fmt;

/// What kind of failure an [`Error`] is: all that a caller may decide by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A unique constraint or unique index refused the row. The name is the same on both engines:
    /// that of the `CREATE UNIQUE INDEX`, or `table_column_key` (`table_first_second_key`) for
    /// `UNIQUE` in a table, or `table_pkey` for a primary key.
    Unique(String),
    /// A foreign key refused the row. PostgreSQL names the constraint; SQLite does not say which
    /// one it was, so the name is empty there and nothing should be decided by it.
    ForeignKey(String),
    /// A `CONSTRAINT name CHECK (…)` refused the row. Give every check its name in the migrations
    /// of both engines.
    Check(String),
    /// Another transaction held a row that the job needs for longer than the job may wait.
    Locked,
    /// The database asked for the transaction to be run again, and repeating it did not help within
    /// bounds.
    Retry,
    /// The database cannot be reached, is too busy, was too slow, or the handle is closed. When a
    /// connection is lost during the commit itself, the outcome of the transaction is not known.
    Unavailable,
    /// Anything else: a fault of this program or of the database.
    Other,
}

/// A failure of the database.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.0.text)]
pub struct Error(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    kind: ErrorKind,
    text: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            kind,
            text: text.into(),
        }))
    }

    /// A fault without a more exact kind; `cause` is for logs.
    pub fn other(cause: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Other, cause.to_string())
    }

    /// A race that was lost more often than it was worth running again: a later attempt may win it.
    pub fn retry(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Retry, text)
    }

    pub(crate) fn unavailable(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, text)
    }

    /// What kind of failure this is.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Whether the unique constraint or index of this name refused the row.
    pub fn is_unique(&self, constraint: &str) -> bool {
        matches!(self.kind(), ErrorKind::Unique(name) if name == constraint)
    }

    /// Whether the check of this name refused the row.
    pub fn is_check(&self, constraint: &str) -> bool {
        matches!(self.kind(), ErrorKind::Check(name) if name == constraint)
    }

    /// Whether a foreign key refused the row.
    pub fn is_foreign_key(&self) -> bool {
        matches!(self.kind(), ErrorKind::ForeignKey(_))
    }

    /// Whether a rule of the database refused the row.
    pub fn is_conflict(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::Unique(_) | ErrorKind::ForeignKey(_) | ErrorKind::Check(_)
        )
    }

    /// Whether the database could not be used for now, so that a later attempt may succeed.
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::Unavailable | ErrorKind::Retry | ErrorKind::Locked
        )
    }

    /// The same failure with words before it that say what was being done.
    pub(crate) fn context(mut self, what: &str) -> Self {
        self.0.text = format!("{what}: {}", self.0.text);
        self
    }
}
