//! Form input converted to the JSON members that the service functions read.

use serde_json::value::{RawValue, to_raw_value};
use web::locale::Locale;

use crate::{
    accounts::pages::posted,
    admin::about::{Field, FieldKind},
    page::numbers,
    rest::fields::Members,
};

/// Sets a member to a text.
pub(super) fn set(members: &mut Members, name: &str, value: &str) {
    // A text is always JSON.
    if let Ok(raw) = to_raw_value(value) {
        members.insert(name.to_owned(), raw);
    }
}

/// Reads amounts and counts as people write them, and lets a field that may stay empty, and is, hold nothing rather than a blank text.
/// Answers what cannot be read.
pub(super) fn understand<'a>(
    fields: impl IntoIterator<Item = &'a Field>,
    members: &mut Members,
    locale: Locale,
) -> Vec<(&'static str, String)> {
    let mut problems = Vec::new();
    for field in fields {
        let Some(typed) = posted::text(members, field.name) else {
            continue;
        };
        if typed.trim().is_empty() {
            if !field.is_required {
                members.insert(field.name.to_owned(), RawValue::NULL.to_owned());
            }
            continue;
        }
        let read = match field.kind {
            FieldKind::Price => numbers::amount(&typed),
            FieldKind::Integer => numbers::count(&typed, locale),
            _ => continue,
        };
        match (read, field.kind) {
            (Ok(plain), _) => set(members, field.name, &plain),
            (Err(problem), FieldKind::Price) => {
                problems.push((field.name, numbers::message(problem, &typed, locale)));
            }
            (Err(_), _) => {
                let text = locale.text("Digite um número inteiro.", "A valid integer is required.");
                problems.push((field.name, text.to_owned()));
            }
        }
    }
    problems
}
