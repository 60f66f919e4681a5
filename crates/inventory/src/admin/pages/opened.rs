//! What the form of a record showed when it was opened, beside the record as it stands: which fields somebody else has changed meanwhile,
//! and how those that were left as they were shown are kept as they stand.

use serde_json::value::RawValue;
use web::locale::Locale;

use super::typed::set;
use crate::{
    access::Permission,
    accounts::pages::posted,
    admin::{
        about::{About, Administered, Cell, Field, FieldKind, Record, Target},
        messages,
    },
    page::{
        Form,
        meanwhile::{Opened, Standing, one_line},
    },
    rest::fields::Members,
};

/// The fields of a record's form as they stand.
pub(super) fn standings(about: &'static About, record: &Record, locale: Locale) -> Vec<Standing> {
    fields(about)
        .map(|field| standing(field, record.fact(field.name), locale))
        .collect()
}

/// One field as it stands.
pub(super) fn standing(field: &'static Field, cell: &Cell, locale: Locale) -> Standing {
    let line = |text: String| match field.kind {
        FieldKind::Lines => text,
        _ => one_line(&text),
    };
    Standing {
        field: field.name,
        value: match field.kind {
            FieldKind::Truth => truth(*cell == Cell::Truth(true)),
            kind if kind.is_many() => in_order(&cell.typed(locale)),
            // What the service reads, whatever the reader's language.
            _ => line(cell.typed(Locale::En)),
        },
        typed: line(cell.typed(locale)),
        told: told(field, cell, locale),
    }
}

fn told(field: &Field, cell: &Cell, locale: Locale) -> String {
    let word = |value: &String| match field.kind {
        FieldKind::Permissions => value
            .parse::<Permission>()
            .map_or_else(|_| value.clone(), |held| messages::permission(locale, held)),
        FieldKind::Choices(choices) => {
            let found = choices.iter().find(|(name, _)| name == value);
            found.map_or_else(
                || value.clone(),
                |(_, (pt, en))| locale.text(pt, en).to_owned(),
            )
        }
        _ => value.clone(),
    };
    match cell {
        Cell::Empty => String::new(),
        Cell::Chosen(values, _) if values.is_empty() => String::new(),
        Cell::Chosen(values, _) if !matches!(field.kind, FieldKind::Several(_)) => {
            values.iter().map(word).collect::<Vec<_>>().join(", ")
        }
        cell => cell.shown(locale),
    }
}

/// What a form brings back, beside what was sent and understood.
pub(super) fn opened(about: &'static About, form: &Form, members: &Members) -> Opened {
    let sent = fields(about).map(|field| {
        let text = || posted::text(members, field.name).unwrap_or_default();
        let sent = match field.kind {
            FieldKind::Truth => truth(!matches!(text().as_str(), "" | "0")),
            kind if kind.is_many() => in_order(form.value(field.name)),
            _ => text(),
        };
        (field.name, sent)
    });
    Opened::of(form, sent)
}

/// Keeps what was left: it is not sent to a model that is written in parts, and sent to others as it stands.
pub(super) fn keep(
    opened: &Opened,
    model: &dyn Administered,
    record: &Record,
    members: &mut Members,
) -> Target {
    let left = opened.left().filter_map(|name| model.about().field(name));
    let left: Vec<&Field> = left.collect();
    for field in &left {
        let (name, cell) = (field.name, record.fact(field.name));
        members.remove(name);
        if field.kind.is_many() {
            members.retain(|member, _| {
                let rest = member.strip_prefix(name);
                !rest.is_some_and(|rest| rest.starts_with(':'))
            });
        }
        if !model.is_written_in_parts() {
            put(field, cell, members);
        }
    }
    if model.is_written_in_parts() && !left.is_empty() {
        Target::Part(record.id)
    } else {
        Target::Whole(record.id)
    }
}

fn put(field: &Field, cell: &Cell, members: &mut Members) {
    let value = cell.typed(Locale::En);
    match field.kind {
        FieldKind::Truth if value != "1" => {}
        kind if kind.is_many() => {
            for chosen in value.split(',').filter(|chosen| !chosen.is_empty()) {
                set(members, &format!("{}:{chosen}", field.name), "1");
            }
        }
        _ if value.is_empty() && !field.is_required => {
            members.insert(field.name.to_owned(), RawValue::NULL.to_owned());
        }
        _ => set(members, field.name, &value),
    }
}

/// The fields of the form of a record that is there; no page brings a password back.
fn fields(about: &'static About) -> impl Iterator<Item = &'static Field> {
    let fields = about.fields.iter().filter(|field| field.is_on(false));
    fields.filter(|field| field.kind != FieldKind::Password)
}

fn truth(is_so: bool) -> String {
    if is_so { "1" } else { "0" }.to_owned()
}

fn in_order(values: &str) -> String {
    let mut values: Vec<&str> = values
        .split(',')
        .filter(|value| !value.is_empty())
        .collect();
    values.sort_unstable();
    values.join(",")
}
