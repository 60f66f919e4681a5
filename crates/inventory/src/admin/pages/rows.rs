//! Writes the rows of a form or of a list in one transaction. If anything is refused, nothing is
//! written, and all errors are reported at once.

use db::{Error, Tx};

use super::versions;
use crate::{
    admin::{
        about::{Write, WriteTarget, Writer},
        registry::RegisteredModel,
    },
    page::{edit_conflict::FormEdit, posts::set_text},
    rest::{
        Refusal,
        fields::{FieldErrors, Members},
    },
    work::{Work, WriteError},
};

/// Refusals with the index of the row. `None` is the record of the form.
pub(super) type Refused = Vec<(Option<usize>, Refusal)>;

/// A row to write.
#[derive(Clone)]
pub(super) struct RowWrite {
    pub(super) model: &'static RegisteredModel,
    pub(super) id: Option<i64>,
    /// The field of a new record that refers to the record of the form.
    pub(super) key: &'static str,
    pub(super) is_deleted: bool,
    pub(super) members: Members,
    pub(super) edit: FormEdit,
}

impl RowWrite {
    /// Locks the record, and returns its conflicts with changes by others since the page was
    /// opened. `None` if there is no record to compare.
    pub(super) async fn compare(&self, tx: &mut Tx) -> Result<Option<FieldErrors>, Refusal> {
        let locked = match self.id {
            Some(id) if !self.is_deleted => self.model.find_locked(tx, id).await?,
            _ => None,
        };
        Ok(locked.map(|record| {
            let stored = versions::snapshots(&self.model.about, &record);
            self.edit.conflicts(&stored)
        }))
    }

    /// Writes the record. `parent` is the id of the form's record.
    pub(super) async fn write(
        &self,
        work: &mut Work<'_>,
        by: &Writer,
        parent: Option<i64>,
    ) -> Result<(), Refusal> {
        let mut members = self.members.clone();
        for unchanged in self.edit.unchanged() {
            members.remove(unchanged);
        }
        let target = match self.id {
            Some(id) if self.is_deleted => {
                return self.model.delete(work, &by.caller, id).await.map(drop);
            }
            Some(id) => WriteTarget::Part(id),
            None => {
                let parent = parent.unwrap_or_default().to_string();
                set_text(&mut members, self.key, &parent);
                WriteTarget::New
            }
        };
        let write = Write {
            by,
            target,
            members: &members,
        };
        self.model.write(work, &write).await.map(drop)
    }
}

/// Why nothing was written.
pub(super) enum WriteFailure {
    /// Errors that the form can show, by row.
    Refused(Refused),
    /// A refusal that the form cannot show, or a failure of the database.
    Other(Refusal),
}

impl<E: Into<Refusal>> From<E> for WriteFailure {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

impl WriteError for WriteFailure {
    fn database(&self) -> Option<&Error> {
        match self {
            Self::Other(Refusal::Database(error)) => Some(error),
            _ => None,
        }
    }

    fn is_invalid(&self) -> bool {
        matches!(self, Self::Refused(_))
    }
}

/// Returns a refusal that a form can show, so that further errors can be collected. Any other ends
/// the write.
pub(super) fn showable(refusal: Refusal) -> Result<Refusal, WriteFailure> {
    match refusal {
        Refusal::Fields(_) | Refusal::Conflict(_) => Ok(refusal),
        other => Err(other.into()),
    }
}

/// Separates refusals that a form can show, which become the inner error.
///
/// # Errors
///
/// Refusals that a form cannot show, and failures of the database.
pub(super) fn refused<T>(written: Result<T, WriteFailure>) -> Result<Result<T, Refused>, Refusal> {
    match written {
        Ok(written) => Ok(Ok(written)),
        Err(WriteFailure::Refused(refused)) => Ok(Err(refused)),
        Err(WriteFailure::Other(refusal)) => Err(refusal),
    }
}
