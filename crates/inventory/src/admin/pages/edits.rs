//! Editing cells in a list. `cell:{id}:{field}` is a value, `cell:{id}:version` the version of the
//! record when the list was shown. Changed cells are written in one transaction, after all records
//! were locked and their versions compared. If one is refused, none is written.

use axum::response::Response;
use resource::Field;
use web::locale::Locale;

use super::{
    inlines::rows_of,
    rows::{self, RowWrite, WriteFailure, showable},
    versions,
};
use crate::{
    access::Verb,
    admin::{
        about::{ModelDescription, ModelRecord, WriteTarget, Writer},
        listing::ListParameters,
        messages,
        registry::RegisteredModel,
        site::AdminFrame,
    },
    page::{
        Form,
        edit_conflict::{FormEdit, version},
        flash, posts, see_other,
    },
    rest::{Refusal, fields::Members},
    work::{self, Work},
};

/// The submitted rows of a list, each with its cells and their errors.
#[derive(Default)]
pub(super) struct ListEdits(Vec<(RowWrite, Form)>);

impl ListEdits {
    /// The submitted cells of a record.
    pub(super) fn of(&self, id: i64) -> Option<&Form> {
        let mut rows = self.0.iter();
        rows.find(|(row, _)| row.id == Some(id))
            .map(|(_, form)| form)
    }

    /// Updates the forms for displaying them again next to the stored values.
    pub(super) fn refresh(
        &mut self,
        about: &'static ModelDescription,
        records: &[ModelRecord],
        locale: Locale,
    ) {
        for (row, form) in &mut self.0 {
            let mut records = records.iter();
            if let Some(record) = records.find(|record| row.id == Some(record.id)) {
                let stored = versions::snapshots(about, record);
                row.edit.refresh(form, &stored, locale);
            }
        }
    }

    fn forms(&self) -> impl Iterator<Item = &Form> {
        self.0.iter().map(|(_, form)| form)
    }

    pub(super) fn is_refused(&self) -> bool {
        self.forms().any(Form::is_refused)
    }

    /// The number of errors.
    pub(super) fn problems(&self) -> usize {
        self.forms()
            .map(|form| form.errors().len() + usize::from(!form.problem.is_empty()))
            .sum()
    }

    /// The errors that belong to no field.
    pub(super) fn sentences(&self) -> impl Iterator<Item = &str> {
        let problems = self.forms().map(|form| form.problem.as_str());
        problems.filter(|problem| !problem.is_empty())
    }
}

/// The fields that the user may edit in the list.
pub(super) fn fields(site: &AdminFrame, about: &'static ModelDescription) -> Vec<&'static Field> {
    if !site.changes(about) {
        return Vec::new();
    }
    let columns = about.columns.iter().filter(|column| column.is_edited);
    columns
        .filter_map(|column| about.field(column.name))
        .collect()
}

/// The version of a row: a fingerprint of the editable fields as displayed.
pub(super) fn version_of(fields: &[&'static Field], record: &ModelRecord) -> String {
    version(&versions::of(fields.iter().copied(), record), true)
}

/// Reads the cells of a row, and removes unchanged cells from `members`.
fn read_cells(
    fields: &[&'static Field],
    members: &mut Members,
    locale: Locale,
) -> (Form, FormEdit) {
    let mut form = Form::of(members);
    members.retain(|name, _| fields.iter().any(|field| field.name == *name));
    let entered = fields.iter().copied();
    let entered: Vec<_> = entered
        .filter(|field| members.contains_key(field.name))
        .collect();
    posts::read_fields(&mut form, members, entered.iter().copied(), locale);
    let edit = FormEdit::of_cells(&form, members, &entered);
    for unchanged in edit.unchanged() {
        members.remove(unchanged);
    }
    (form, edit)
}

/// Saves the changed cells of a list, or returns them with the errors.
pub(super) async fn save(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    query: &ListParameters,
    submitted: &Members,
) -> Result<Result<Response, ListEdits>, Refusal> {
    let about = &model.about;
    site.demand(about, Verb::Change)?;
    let fields = fields(site, about);
    let mut edits = ListEdits::default();
    for (id, mut members) in rows_of("cell", submitted) {
        let Ok(id) = id.parse() else {
            continue;
        };
        let (mut form, edit) = read_cells(&fields, &mut members, site.locale);
        if members.is_empty() && !form.is_refused() {
            continue;
        }
        form.absorb(
            &model.problems(WriteTarget::Part(id), &members),
            site.locale,
        );
        let row = RowWrite {
            model,
            id: Some(id),
            key: "",
            is_deleted: false,
            members,
            edit,
        };
        edits.0.push((row, form));
    }
    edits.0.sort_by_key(|(row, _)| row.id);
    let rows: Vec<_> = edits.0.iter().map(|(row, _)| row.clone()).collect();
    let (is_refused, by) = (edits.is_refused(), Writer::new(&site.state, &site.caller));
    let job = async move |work: &mut Work<'_>| write(work, &by, &rows, is_refused).await;
    let written = work::write(&site.state, &site.caller, job).await;
    let saved = match rows::refused(written)? {
        Ok(saved) => saved,
        Err(refused) => {
            for (place, refusal) in refused {
                let edited = place.and_then(|place| edits.0.get_mut(place));
                let (_, form) = edited.ok_or(Refusal::NotFound)?;
                form.take(refusal, site.locale)?;
            }
            return Ok(Err(edits));
        }
    };
    let back = see_other(&query.address());
    Ok(Ok(if saved == 0 {
        back
    } else {
        flash::success(back, messages::changed(site.locale, about, saved))
    }))
}

/// Locks and compares all records, then writes all or none. Returns the number of written records.
/// If there are errors already, the records are only compared, to report all errors at once.
async fn write(
    work: &mut Work<'_>,
    by: &Writer,
    rows: &[RowWrite],
    is_refused: bool,
) -> Result<u64, WriteFailure> {
    let (mut refused, mut existing) = (Vec::new(), Vec::new());
    for (place, row) in rows.iter().enumerate() {
        // A deleted record is skipped: the list will not show it any more.
        if let Some(errors) = row.compare(work.tx).await? {
            if !errors.is_empty() {
                refused.push((Some(place), errors.into()));
            }
            existing.push((place, row));
        }
    }
    if is_refused || !refused.is_empty() {
        return Err(WriteFailure::Refused(refused));
    }
    for (place, row) in &existing {
        if let Err(refusal) = row.write(work, by, None).await {
            refused.push((Some(*place), showable(refusal)?));
        }
    }
    if refused.is_empty() {
        Ok(existing.len() as u64)
    } else {
        Err(WriteFailure::Refused(refused))
    }
}
