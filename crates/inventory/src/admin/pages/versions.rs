//! The version of a record's form, which detects edit conflicts: snapshots of the stored fields,
//! and the changes of a submitted form.

use resource::{Field, Kind};
use serde_json::value::RawValue;
use web::locale::Locale;

use crate::{
    admin::about::{ModelDescription, ModelRecord},
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

/// Gives unchanged fields the stored values, so that they do not overwrite newer ones.
pub(super) fn keep(
    edit: &FormEdit,
    about: &'static ModelDescription,
    record: &ModelRecord,
    members: &mut Members,
) {
    for field in edit.unchanged().filter_map(|name| about.field(name)) {
        members.remove(field.name);
        let value = record.fact(field.name).typed(Locale::En);
        match field.kind {
            Kind::Truth if value != "1" => {}
            _ if value.is_empty() && !field.is_required() => {
                members.insert(field.name.to_owned(), RawValue::NULL.to_owned());
            }
            _ => set_text(members, field.name, &value),
        }
    }
}

/// The fields of an existing record's form, without secrets, which are never sent to the browser.
fn fields(about: &'static ModelDescription) -> impl Iterator<Item = &'static Field> {
    about.fields_of(false).filter(|field| !field.is_secret)
}
