//! The categories and brands that an import creates by name: created with the first row that needs them, and deleted again when nothing of
//! the import is left.

use std::mem;

use db::Tx;

use super::{CHANGED, StepError, store};
use crate::{
    catalogue::named,
    rest::{Refusal, fields::FieldErrors},
    transfer::{
        NewName, Run,
        column::ReferenceKey,
        examine::{AT_ONCE, StagedRow, raw_text},
        missing::{self, kind_of},
        record,
    },
};

/// Gives a row the ids of what it calls by name, and creates what is not there yet.
pub(super) async fn create(
    tx: &mut Tx,
    run: &Run,
    id: i64,
    row: &mut StagedRow,
) -> Result<(), StepError> {
    for (field, name) in mem::take(&mut row.names) {
        let Some(kind) = kind_of(&field) else {
            continue;
        };
        let object = match *record::called(tx, ReferenceKey::Name(kind), &name).await? {
            [object] => object,
            [] => {
                let members = missing::members(&name)?;
                let created =
                    named::create_within(tx, kind, &members, &run.work.actor, run.work.now).await;
                let created = created.map_err(|refusal| StepError::of(row.line, refusal))?;
                let (name, line) = (created.name, row.line);
                let new = NewName { kind, name, line };
                store::insert_created(tx, id, &new, created.id).await?;
                created.id
            }
            // Somebody else has made two of it since the check.
            _ => {
                let errors = FieldErrors::of(kind.name(), CHANGED);
                return Err(StepError::of(row.line, errors.into()));
            }
        };
        row.members.insert(field, raw_text(&object.to_string())?);
    }
    Ok(())
}

/// Deletes some of what an import created, but for what others use by now; whether there was any.
pub(super) async fn delete_some(tx: &mut Tx, run: &Run, id: i64) -> Result<bool, StepError> {
    let most = i64::try_from(AT_ONCE).unwrap_or(i64::MAX);
    let created = store::take_created(tx, id, most).await?;
    for (kind, object) in &created {
        match named::remove(tx, *kind, *object, &run.work.actor, run.work.now).await {
            Ok(_) | Err(Refusal::Conflict(_)) => {}
            Err(refusal) => return Err(StepError::of(0, refusal)),
        }
    }
    Ok(!created.is_empty())
}
