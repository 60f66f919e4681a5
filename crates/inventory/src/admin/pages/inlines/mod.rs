//! Inline tables: rows of a related model in the form of a record. This module reads and validates
//! the rows, and `write` writes them with the record. Each row is written by the service functions
//! of its own model, with the permissions of that model. Form fields are named `{path of the
//! model}:{row}:{field}`. A row is an id, or begins with `new`.

mod view;
mod write;

use std::collections::BTreeMap;

use super::{rows::RowWrite, versions};
use crate::{
    access::Verb,
    admin::{
        about::{Inline, Limit, ModelDescription, ModelRecord, WriteTarget},
        registry::{self, RegisteredModel},
        site::AdminFrame,
    },
    page::{
        Form,
        edit_conflict::{FormEdit, VERSION, version},
        posts::{self, set_text},
    },
    rest::{Refusal, fields::Members},
};
pub(super) use view::{InlineTable, tables};
pub(super) use write::write;

/// A submitted row that adds, changes or deletes a record.
pub(super) struct SubmittedRow {
    inline: &'static Inline,
    /// The row in the names of form fields.
    row: String,
    write: RowWrite,
    /// The submitted values with their errors.
    pub(super) form: Form,
}

impl SubmittedRow {
    const fn verb(&self) -> Verb {
        match (self.write.id, self.write.is_deleted) {
            (None, _) => Verb::Add,
            (Some(_), true) => Verb::Delete,
            (Some(_), false) => Verb::Change,
        }
    }

    /// The errors of the row: the id of the control, and the message with the control's label.
    pub(super) fn problems(&self, site: &AdminFrame) -> Vec<(String, String)> {
        let (path, row) = (self.inline.path, &self.row);
        let control = |field: &str| format!("field-{path}-{row}-{field}");
        let errors = self.form.summary(site.locale).into_iter();
        let mut problems: Vec<_> = errors
            .map(|(field, message)| (control(field), message))
            .collect();
        if !self.form.problem.is_empty() {
            let name = self.write.model.about.words.one(site.locale);
            let first = self.inline.fields.first().map_or("delete", |field| field);
            problems.push((control(first), format!("{name}: {}", self.form.problem)));
        }
        problems
    }

    /// Adds the validation errors that need no database.
    fn check(&mut self, site: &AdminFrame) {
        let target = self.write.id.map_or(WriteTarget::New, WriteTarget::Part);
        let problems = self.write.model.problems(target, &self.write.members);
        self.form.absorb(&problems, site.locale);
    }

    /// Updates the form of an existing record for displaying it again next to the stored values.
    pub(super) async fn refresh(&mut self, site: &AdminFrame) -> Result<(), Refusal> {
        let record = match self.write.id {
            Some(id) => self.write.model.read(&site.state, id).await?,
            None => None,
        };
        if let Some(record) = record {
            let stored = versions::snapshots(&self.write.model.about, &record);
            self.write
                .edit
                .refresh(&mut self.form, &stored, site.locale);
        }
        Ok(())
    }
}

/// Reads the rows of a form that add, change or delete a record, and validates them.
///
/// # Errors
///
/// A missing permission, or a failure of the database.
pub(super) async fn read(
    site: &AdminFrame,
    about: &'static ModelDescription,
    target: WriteTarget,
    members: &Members,
) -> Result<Vec<SubmittedRow>, Refusal> {
    let mut submitted = Vec::new();
    for inline in &about.inlines {
        let model = registry::find(inline.path).ok_or(Refusal::NotFound)?;
        for (row, fields) in rows_of(inline.path, members) {
            let id = row.parse().ok();
            let record = match id {
                Some(id) => model.read(&site.state, id).await?,
                None => None,
            };
            let Some(mut row) = submitted_row(inline, model, row, record.as_ref(), fields, site)
            else {
                continue;
            };
            let is_of_another = row.write.id.is_some() && !belongs(inline, record.as_ref(), target);
            if is_of_another || (row.write.id.is_none() && !row.row.starts_with("new")) {
                continue;
            }
            site.demand(&model.about, row.verb())?;
            if row.write.id.is_none() {
                // A new record has no id yet. Validation accepts any id.
                let parent = target.id().unwrap_or(1).to_string();
                set_text(&mut row.write.members, inline.key, &parent);
            }
            if !row.write.is_deleted {
                row.check(site);
            }
            submitted.push(row);
        }
        limit(inline, site, &mut submitted);
    }
    Ok(submitted)
}

/// Groups the members of a form by row.
pub(super) fn rows_of(path: &str, members: &Members) -> BTreeMap<String, Members> {
    let mut rows: BTreeMap<String, Members> = BTreeMap::new();
    for (name, value) in members {
        let parts = name
            .strip_prefix(path)
            .and_then(|rest| rest.strip_prefix(':'))
            .and_then(|rest| rest.split_once(':'));
        if let Some((row, field)) = parts {
            let of_row = rows.entry(row.to_owned()).or_default();
            of_row.insert(field.to_owned(), value.clone());
        }
    }
    rows
}

/// Reads a row. `None` if it is a blank new row, or changes nothing of its record. A row without a
/// version is compared with the stored record.
fn submitted_row(
    inline: &'static Inline,
    model: &'static RegisteredModel,
    row: String,
    record: Option<&ModelRecord>,
    mut members: Members,
    site: &AdminFrame,
) -> Option<SubmittedRow> {
    let is_deleted = inline.is_deleted && members.contains_key("delete");
    let mut form = Form::of(&members);
    members.retain(|name, _| inline.fields.contains(&name.as_str()));
    let fields = inline
        .fields
        .iter()
        .filter(|name| members.contains_key(**name));
    let fields: Vec<_> = fields.filter_map(|name| model.about.field(name)).collect();
    if let Some(record) = record.filter(|_| form.version().is_empty()) {
        let stored = versions::of(fields.iter().copied(), record);
        form.set(VERSION, version(&stored, false));
    }
    let is_blank = fields
        .iter()
        .all(|field| form.value(field.name).trim().is_empty());
    if !is_deleted {
        posts::read_fields(&mut form, &mut members, fields.iter().copied(), site.locale);
    }
    let edit = FormEdit::of(&form, &members, fields);
    let is_changed = record.map_or(!is_blank, |_| edit.has_changes());
    (is_deleted || is_changed).then(|| SubmittedRow {
        inline,
        row,
        write: RowWrite {
            model,
            id: record.map(|record| record.id),
            key: inline.key,
            is_deleted,
            members,
            edit,
        },
        form,
    })
}

/// Whether the record of a row refers to the record of the form.
fn belongs(inline: &Inline, row: Option<&ModelRecord>, target: WriteTarget) -> bool {
    let parent = target.id().map(|id| id.to_string());
    row.zip(parent)
        .is_some_and(|(row, parent)| row.fact(inline.key).is(&parent))
}

/// Adds an error to each new row above the limit.
fn limit(inline: &Inline, site: &AdminFrame, submitted: &mut [SubmittedRow]) {
    let (Limit::InAll(most) | Limit::AtOnce(most)) = inline.limit;
    let new = submitted
        .iter_mut()
        .filter(|row| row.inline.path == inline.path && row.write.id.is_none());
    for row in new.skip(most) {
        row.form.problem = view::at_most(site, most);
    }
}
