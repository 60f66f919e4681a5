//! The version of a record's form, which detects edit conflicts: snapshots of the stored fields,
//! and the changes of a submitted form.

use resource::{Field, Kind};
use serde_json::value::RawValue;
use web::locale::Locale;

use crate::{
    admin::{
        about::{FieldValue, ModelDescription, ModelRecord, WriteTarget},
        registry::RegisteredModel,
    },
    page::{
        Form,
        edit_conflict::{FieldSnapshot, FormEdit},
        posts::set_text,
    },
    rest::fields::Members,
};

/// Snapshots of all fields of a record's form.
pub(super) fn snapshots(
    about: &'static ModelDescription,
    record: &ModelRecord,
) -> Vec<FieldSnapshot> {
    of(fields(about), record)
}

/// Snapshots of some fields of a record.
pub(super) fn of(
    fields: impl IntoIterator<Item = &'static Field>,
    record: &ModelRecord,
) -> Vec<FieldSnapshot> {
    let snapshot =
        |field: &'static Field| FieldSnapshot::new(field, record.fact(field.name).clone());
    fields.into_iter().map(snapshot).collect()
}

/// The changes of a submitted form.
pub(super) fn edit(about: &'static ModelDescription, form: &Form, members: &Members) -> FormEdit {
    FormEdit::of(form, members, fields(about))
}

/// Prevents unchanged fields from overwriting newer values. Models that are written in parts do not
/// get these fields; others get the stored values.
pub(super) fn keep(
    edit: &FormEdit,
    model: &'static RegisteredModel,
    record: &ModelRecord,
    members: &mut Members,
) -> WriteTarget {
    let unchanged = edit.unchanged();
    let unchanged: Vec<_> = unchanged
        .filter_map(|name| model.about.field(name))
        .collect();
    for field in &unchanged {
        members.remove(field.name);
        if !model.is_written_in_parts() {
            put(field, record.fact(field.name), members);
        }
    }
    if model.is_written_in_parts() && !unchanged.is_empty() {
        WriteTarget::Part(record.id)
    } else {
        WriteTarget::Whole(record.id)
    }
}

fn put(field: &Field, stored: &FieldValue, members: &mut Members) {
    let value = stored.typed(Locale::En);
    match field.kind {
        Kind::Truth if value != "1" => {}
        _ if value.is_empty() && !field.is_required() => {
            members.insert(field.name.to_owned(), RawValue::NULL.to_owned());
        }
        _ => set_text(members, field.name, &value),
    }
}

/// The fields of an existing record's form, without secrets, which are never sent to the browser.
fn fields(about: &'static ModelDescription) -> impl Iterator<Item = &'static Field> {
    about.fields_of(false).filter(|field| !field.is_secret)
}
