//! Writes a record and the inline rows of its form in one transaction. If anything is refused,
//! nothing is written, and all errors are reported at once.

use std::sync::Arc;

use db::Tx;

use super::SubmittedRow;
use crate::{
    admin::{
        about::{SavedRecord, Write, WriteTarget, Writer},
        pages::{
            rows::{self, RowWrite, WriteFailure, showable},
            versions,
        },
        registry::RegisteredModel,
        site::AdminFrame,
    },
    audit::{self, FieldChange},
    events::endpoints::digest_of,
    page::{Form, edit_conflict::FormEdit, form_token::FormToken},
    rest::{Refusal, fields::Members},
    work::{Work, write_once},
};

struct FormWrite {
    model: &'static RegisteredModel,
    target: WriteTarget,
    members: Members,
    edit: FormEdit,
    rows: Vec<RowWrite>,
    by: Writer,
}

impl FormWrite {
    /// The result of the first submission of the same form.
    async fn repeat_response(
        &self,
        work: &mut Work<'_>,
        mut written: SavedRecord,
    ) -> Result<SavedRecord, Refusal> {
        let secret = self.model.secret_of(work, &self.by, written.id).await?;
        // One that was changed since is shown to whoever changed it.
        let shown = secret.filter(|secret| digest_of(secret) == written.secret_digest);
        written.secret = shown.map(|secret| secret.reveal());
        Ok(written)
    }

    async fn write(&self, work: &mut Work<'_>) -> Result<SavedRecord, WriteFailure> {
        let (model, by) = (self.model, &self.by);
        let members = self.lock_and_compare(work.tx).await?;
        let mut refused = Vec::new();
        let write = Write {
            by,
            target: self.target,
            members: &members,
        };
        let written = match model.write(work, &write).await {
            Ok(written) => Some(written),
            Err(refusal) => {
                refused.push((None, showable(refusal)?));
                None
            }
        };
        let mut changed = Vec::new();
        let parent = written.as_ref().map(|written| written.id);
        // Without a record, its new rows cannot be checked further.
        for (place, row) in self.rows.iter().enumerate() {
            let Some(parent) = parent.or(self.target.id()) else {
                break;
            };
            let about = &row.model.about;
            if let Err(refusal) = row.write(work, by, Some(parent)).await {
                refused.push((Some(place), showable(refusal)?));
            } else if about.model != model.about.model && !changed.contains(&about.path) {
                // Rows with the same model in the audit log, such as thresholds, write the entry
                // themselves.
                changed.push(about.path);
            }
        }
        let Some(written) = written.filter(|_| refused.is_empty()) else {
            return Err(WriteFailure::Refused(refused));
        };
        let (fields, of) = (FieldChange::all_named(&changed), model.about.model);
        audit::record_changes(work, &fields, of, written.id, &written.text).await?;
        Ok(written)
    }

    /// Locks the record and its rows. Refuses the form if another user has changed a field that the
    /// form or a row changes. Returns the members to write.
    async fn lock_and_compare(&self, tx: &mut Tx) -> Result<Members, WriteFailure> {
        let mut members = self.members.clone();
        let Some(id) = self.target.id() else {
            return Ok(members);
        };
        let record = self.model.find_locked(tx, id).await?;
        let record = record.ok_or(WriteFailure::Other(Refusal::NotFound))?;
        let stored = versions::snapshots(&self.model.about, &record);
        let mut refused = vec![(None, self.edit.conflicts(&stored))];
        for (place, row) in self.rows.iter().enumerate() {
            let errors = row.compare(tx).await?;
            refused.push((Some(place), errors.unwrap_or_default()));
        }
        refused.retain(|(_, errors)| !errors.is_empty());
        if !refused.is_empty() {
            let refused = refused.into_iter();
            let refused = refused.map(|(place, errors)| (place, errors.into()));
            return Err(WriteFailure::Refused(refused.collect()));
        }
        versions::keep(&self.edit, &self.model.about, &record, &mut members);
        Ok(members)
    }
}

/// Writes a record with its rows, deletions first. Returns `None` if anything was refused: nothing
/// is written, and the form and the rows have the errors.
///
/// # Errors
///
/// Refusals that a form cannot show, and failures of the database.
pub(in crate::admin::pages) async fn write(
    site: &AdminFrame,
    (model, target, members, edit): (&'static RegisteredModel, WriteTarget, Members, FormEdit),
    form_token: Option<FormToken>,
    form: &mut Form,
    submitted: &mut [SubmittedRow],
) -> Result<Option<SavedRecord>, Refusal> {
    submitted.sort_by_key(|row| !row.write.is_deleted);
    let is_once = model.makes_something(target, &members)
        || submitted.iter().any(|row| row.write.id.is_none());
    let (user, path) = (site.caller.id, model.about.path);
    let mut by = Writer::new(&site.state, &site.caller);
    if target == WriteTarget::New {
        match model.prepare(&site.state, &members).await {
            Ok(account) => by.account = account,
            Err(refusal) => {
                form.take(refusal, site.locale)?;
                return Ok(None);
            }
        }
    }
    let form_write = Arc::new(FormWrite {
        model,
        target,
        members,
        edit,
        rows: submitted.iter().map(|row| row.write.clone()).collect(),
        by,
    });
    let key = form_token
        .filter(|_| is_once)
        .map(|token| token.by(user, path));
    let replayed = Arc::clone(&form_write);
    let job = async move |work: &mut Work<'_>| {
        let written = form_write.write(work).await?;
        Ok((written.clone(), written))
    };
    let replay = async move |work: &mut Work<'_>, written| {
        Ok(replayed.repeat_response(work, written).await?)
    };
    let written = write_once(&site.state, &site.caller, key, job, replay).await;
    let written = match rows::refused(written) {
        // A form whose token was used with other values says so above its fields.
        Err(refusal @ Refusal::KeyReused) => Err(vec![(None, refusal)]),
        written => written?,
    };
    match written {
        Ok(written) => Ok(Some(written)),
        Err(refused) => {
            for (place, refusal) in refused {
                let row = place.and_then(|place: usize| submitted.get_mut(place));
                let target_form = row.map_or(&mut *form, |row| &mut row.form);
                target_form.take(refusal, site.locale)?;
            }
            for row in submitted {
                row.refresh(site).await?;
            }
            Ok(None)
        }
    }
}
