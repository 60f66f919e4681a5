//! The categories and brands that an import creates by name. Each is created with the first row
//! that needs it, and deleted when the import is rolled back or undone.

use std::mem;

use super::{CHANGED, RECORDS_AT_ONCE, StepError, store};
use crate::{
    api::resource::ApiResource as _,
    rest::{
        Refusal,
        fields::{Draft, FieldErrors, Mode},
    },
    transfer::{
        NewName,
        cell::raw_text,
        column::ReferenceKey,
        missing::{self, kind_of},
        record::StagedRow,
    },
    work::Work,
};

/// Replaces the names in a row by ids, and creates the records that do not exist.
pub(super) async fn create(
    work: &mut Work<'_>,
    id: i64,
    row: &mut StagedRow,
) -> Result<(), StepError> {
    for (field, name) in mem::take(&mut row.names) {
        let Some(kind) = kind_of(&field) else {
            continue;
        };
        let object = match *missing::ids_of(work.tx, ReferenceKey::Name(kind), &name).await? {
            [object] => object,
            [] => {
                let draft = Draft::read(&missing::members(&name)?, Mode::Whole);
                let created = kind.create(work, &draft).await;
                let created = created.map_err(|refusal| StepError::of(row.line, refusal))?;
                let (name, line) = (created.name, row.line);
                let new = NewName { kind, name, line };
                store::insert_created(work.tx, id, &new, created.id).await?;
                created.id
            }
            // Since the check, two records with this name have been created.
            _ => {
                let errors = FieldErrors::of(kind.name(), CHANGED);
                return Err(StepError::of(row.line, errors.into()));
            }
        };
        row.members.insert(field, raw_text(&object.to_string())?);
    }
    Ok(())
}

/// Deletes some of the records that an import created and nobody uses. False if none were left.
pub(super) async fn delete_some(work: &mut Work<'_>, id: i64) -> Result<bool, StepError> {
    let created = store::take_created(work.tx, id, RECORDS_AT_ONCE).await?;
    for (kind, object) in &created {
        match kind.delete(work, *object).await {
            Ok(_) | Err(Refusal::Conflict(_)) => {}
            Err(refusal) => return Err(StepError::of(0, refusal)),
        }
    }
    Ok(!created.is_empty())
}
