//! A row of the audit log.

use db::Timestamp;
use resource::choice;

use crate::accounts::Model;

/// What is done to a record, with the names of the fields that it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'a> {
    /// It was made.
    Added,
    /// These of its fields were changed.
    Changed(&'a [&'a str]),
    /// It is gone.
    Deleted,
    /// Many came at once.
    Imported,
    /// Checkout is asked for a change of its record. What came of it is a row of its own.
    Asked,
    /// Checkout did not do what it was asked for.
    Refused,
    /// An order can no longer be paid.
    Canceled,
    /// Money was given back.
    Refunded,
}

choice! {
    /// What was done to a record.
    pub enum Done {
        /// It was made.
        Added = "added", ("Adicionado", "Added");
        /// Fields of it were changed.
        Changed = "changed", ("Alterado", "Changed");
        /// It is gone.
        Deleted = "deleted", ("Excluído", "Deleted");
        /// Many came at once.
        Imported = "imported", ("Importado", "Imported");
        /// Checkout was asked for a change of its record.
        Asked = "asked", ("Solicitado", "Asked for");
        /// Checkout did not do it.
        Refused = "refused", ("Recusado", "Refused");
        /// An order can no longer be paid.
        Canceled = "canceled", ("Cancelado", "Canceled");
        /// Money was given back.
        Refunded = "refunded", ("Devolvido", "Refunded");
    }
}

/// One row of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The row's id; later rows have larger ones.
    pub id: i64,
    /// Who did it; `None` is the program itself.
    pub user: Option<(i64, String)>,
    /// What was done.
    pub done: Done,
    /// To what kind of record, by its code name: the model may be gone from the program.
    pub model: String,
    /// Which record; none when there were many, or when another service keeps it under an id that is no number.
    pub object: Option<i64>,
    /// What people call it, as it was then.
    pub text: String,
    /// The names of the changed fields.
    pub fields: Vec<String>,
    /// When.
    pub created_at: Timestamp,
}

/// A stretch of the log.
#[derive(Debug)]
pub struct Found {
    /// How many rows there are in all, of which no more than was asked for were counted.
    pub count: u64,
    /// Those of the stretch.
    pub entries: Vec<Entry>,
    /// Whether the log goes on behind the rows that a search looked at.
    pub is_cut: bool,
}

/// Which rows of the log are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// What one user did.
    pub user: Option<i64>,
    /// What was done in one way.
    pub done: Option<Done>,
    /// What was done to records of one kind, by its code name.
    pub model: Option<String>,
    /// From this moment on, and before this one.
    pub between: Option<(Timestamp, Timestamp)>,
    /// What was done to records whose text has each of these folded words, or by somebody whose name has.
    pub words: Vec<String>,
    /// The oldest first.
    pub is_oldest_first: bool,
}

impl Action<'_> {
    /// What was done, without the fields.
    pub const fn done(self) -> Done {
        match self {
            Self::Added => Done::Added,
            Self::Changed(_) => Done::Changed,
            Self::Deleted => Done::Deleted,
            Self::Imported => Done::Imported,
            Self::Asked => Done::Asked,
            Self::Refused => Done::Refused,
            Self::Canceled => Done::Canceled,
            Self::Refunded => Done::Refunded,
        }
    }

    /// The changed fields, as they are stored.
    pub(super) fn fields(self) -> String {
        match self {
            Self::Changed(fields) => fields.join(","),
            _ => String::new(),
        }
    }
}

impl Entry {
    /// The model, while the program knows it.
    pub fn known_model(&self) -> Option<Model> {
        Model::parse(&self.model)
    }
}

/// The names of those fields whose values differ: what [`Action::Changed`] takes.
pub(crate) fn changed<const N: usize>(fields: [(&'static str, bool); N]) -> Vec<&'static str> {
    fields
        .into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
        .collect()
}
