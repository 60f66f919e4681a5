//! The version of a record's form, which detects edit conflicts: snapshots of the stored fields,
//! and the changes of a submitted form.

use resource::{Field, Kind};
use serde_json::value::RawValue;
use web::locale::Locale;

use crate::{
    access::Permission,
    admin::{
        about::{AdminModel, FieldValue, ModelDescription, ModelRecord, WriteTarget},
        messages,
    },
    events::{Types, labels},
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
    locale: Locale,
) -> Vec<FieldSnapshot> {
    of(fields(about), record, locale)
}

/// Snapshots of some fields of a record.
pub(super) fn of(
    fields: impl IntoIterator<Item = &'static Field>,
    record: &ModelRecord,
    locale: Locale,
) -> Vec<FieldSnapshot> {
    let snapshot = |field: &'static Field| snapshot(field, record.fact(field.name), locale);
    fields.into_iter().map(snapshot).collect()
}

fn snapshot(field: &'static Field, value: &FieldValue, locale: Locale) -> FieldSnapshot {
    let value = match (value, field.target.map(|target| target.path)) {
        (FieldValue::Chosen(values, _), Some(Permission::PATH)) => {
            FieldValue::Chosen(values.clone(), permissions(values, locale))
        }
        (FieldValue::Chosen(values, _), Some(Types::PATH)) => {
            FieldValue::Chosen(values.clone(), labels::type_labels(values, locale))
        }
        _ => value.clone(),
    };
    FieldSnapshot::new(field, value)
}

fn permissions(values: &[String], locale: Locale) -> String {
    let known = values.iter().filter_map(|value| value.parse().ok());
    let words = known.map(|permission| messages::permission(locale, permission));
    words.collect::<Vec<_>>().join(", ")
}

/// The changes of a submitted form.
pub(super) fn edit(about: &'static ModelDescription, form: &Form, members: &Members) -> FormEdit {
    FormEdit::of(form, members, fields(about))
}

/// Prevents unchanged fields from overwriting newer values. Models that are written in parts do not
/// get these fields; others get the stored values.
pub(super) fn keep(
    edit: &FormEdit,
    model: &dyn AdminModel,
    record: &ModelRecord,
    members: &mut Members,
) -> WriteTarget {
    let unchanged = edit.unchanged();
    let unchanged: Vec<_> = unchanged
        .filter_map(|name| model.about().field(name))
        .collect();
    for field in &unchanged {
        members.remove(field.name);
        if field.is_many() {
            members.retain(|member, _| {
                let rest = member.strip_prefix(field.name);
                !rest.is_some_and(|rest| rest.starts_with(':'))
            });
        }
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
        Kind::Several => {
            for chosen in value.split(',').filter(|chosen| !chosen.is_empty()) {
                set_text(members, &format!("{}:{chosen}", field.name), "1");
            }
        }
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
