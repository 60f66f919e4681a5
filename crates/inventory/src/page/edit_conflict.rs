//! Detects that two users edited the same record. The hidden field `version` of a form holds a
//! fingerprint of every field as it was when the form was opened. When the form is saved, each
//! field of the locked record is compared:
//! - changed by another user only: it keeps the stored value;
//! - changed by this form only: it is written;
//! - changed by both to different values: nothing is written, and the form is shown again with both
//!   values to choose from.
//!
//! So a sale, which changes a product's quantity, does not conflict with an edit of its title. Rows
//! of inline tables and cells of lists work the same way, each row with its own version. A form
//! without a version is written without a comparison.

use db::Money;
use resource::{Field, Kind, Record};
use web::locale::Locale;

use super::{Form, value::FieldValue};
use crate::{
    access::Permission,
    digest::digest,
    events::{Types, labels::type_labels},
    rest::{
        Message,
        body::text,
        fields::{FieldErrors, Members},
    },
};

/// The name of the hidden field with the fingerprints.
pub(crate) const VERSION: &str = "version";
/// The prefix of the choice's name; the field's name follows.
const CHOICE: &str = "choice:";
/// The value that chooses the stored value.
const THEIRS: &str = "theirs";
/// The length of a fingerprint in hexadecimal digits. It only has to tell two values of one field
/// apart; it is no protection against forgery.
const FINGERPRINT: usize = 12;
/// The most characters shown of the other user's value.
const SHOWN: usize = 120;

/// A field of a record with its stored value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldSnapshot {
    field: &'static Field,
    value: FieldValue,
}

/// A field that two users changed to different values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    field: &'static str,
    /// The name of the radio buttons.
    pub(crate) choice: String,
    /// The other user's value. Empty if it was cleared.
    pub(crate) theirs: String,
}

/// The submitted fields of a record, compared with the version that the form was opened with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FormEdit {
    fields: Vec<FieldEdit>,
    /// Whether all controls have one line, even those of long texts.
    is_flat: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct FieldEdit {
    field: &'static str,
    /// The fingerprint of the value when the form was opened.
    opened: String,
    /// The fingerprint of the submitted value.
    sent: String,
    /// Whether the user chose the stored value.
    is_theirs: bool,
}

impl FieldSnapshot {
    pub(crate) const fn new(field: &'static Field, value: FieldValue) -> Self {
        Self { field, value }
    }

    pub(crate) fn all(record: &impl Record, fields: &[&'static Field]) -> Vec<Self> {
        let values = record.values_of(fields).into_iter();
        values
            .map(|(field, value)| Self::new(field, FieldValue::of(field, value)))
            .collect()
    }

    /// The value as its form control holds it.
    fn typed(&self, locale: Locale, is_flat: bool) -> String {
        let typed = self.value.typed(locale);
        if is_flat || !self.field.is_long() {
            one_line(&typed)
        } else {
            typed
        }
    }

    fn fingerprint(&self, is_flat: bool) -> String {
        fingerprint(self.field, &self.typed(Locale::En, is_flat))
    }

    /// The value as it is displayed; empty if there is none.
    fn shown(&self, locale: Locale) -> String {
        if self.value.is_empty() {
            return String::new();
        }
        let path = self.field.target.map(|target| target.path);
        let text = match (&self.value, path) {
            (FieldValue::Chosen(names, _), Some(Permission::PATH)) => {
                Permission::labels(names, locale)
            }
            (FieldValue::Chosen(names, _), Some(Types::PATH)) => type_labels(names, locale),
            (value, _) => value.shown(locale),
        };
        if text.is_empty() {
            return "-".to_owned();
        }
        text.trim().chars().take(SHOWN).collect()
    }

    /// The message about a conflict with this value of another user.
    fn conflict_message(&self) -> Message {
        if self.value.is_empty() {
            return Message::fixed(
                "Alguém apagou este valor enquanto você editava. Escolha qual fica.",
                "Somebody cleared this while you were editing. Choose which one stays.",
            );
        }
        let (portuguese, english) = (self.shown(Locale::PtBr), self.shown(Locale::En));
        Message::new(
            format!(
                "Alguém mudou este valor para “{portuguese}” enquanto você editava. Escolha qual fica."
            ),
            format!(
                "Somebody changed this to “{english}” while you were editing. Choose which one stays."
            ),
        )
    }
}

impl FormEdit {
    /// The edit of these fields. Texts are taken from `members`, as services read them; checkboxes
    /// are taken from the form.
    pub(crate) fn of(
        form: &Form,
        members: &Members,
        fields: impl IntoIterator<Item = &'static Field>,
    ) -> Self {
        let version: Vec<_> = form
            .value(VERSION)
            .split(' ')
            .filter_map(|part| part.split_once('.'))
            .collect();
        let edits = fields.into_iter().filter_map(|field| {
            let (_, opened) = version.iter().find(|(name, _)| *name == field.name)?;
            let text = || text(members, field.name).unwrap_or_default();
            let sent = match field.kind {
                Kind::Truth => i64::from(!matches!(text().as_str(), "" | "0")).to_string(),
                Kind::Several => form.value(field.name).to_owned(),
                _ => text(),
            };
            Some(FieldEdit {
                field: field.name,
                opened: (*opened).to_owned(),
                sent: fingerprint(field, &sent),
                is_theirs: form.value(&format!("{CHOICE}{}", field.name)) == THEIRS,
            })
        });
        Self {
            fields: edits.collect(),
            is_flat: false,
        }
    }

    /// The edit of the cells of a list, which have one line each.
    pub(crate) fn of_cells(form: &Form, members: &Members, fields: &[&'static Field]) -> Self {
        Self {
            is_flat: true,
            ..Self::of(form, members, fields.iter().copied())
        }
    }

    pub(crate) fn has_changes(&self) -> bool {
        self.fields.iter().any(FieldEdit::is_changed)
    }

    /// The fields that the form does not change. They are not written.
    pub(crate) fn unchanged(&self) -> impl Iterator<Item = &'static str> {
        let unchanged = self.fields.iter().filter(|edit| !edit.is_changed());
        unchanged.map(|edit| edit.field)
    }

    /// The errors of the fields that both this form and another user changed.
    pub(crate) fn conflicts(&self, stored: &[FieldSnapshot]) -> FieldErrors {
        let mut errors = FieldErrors::default();
        for snapshot in stored.iter().filter(|snapshot| self.is_conflict(snapshot)) {
            errors.add(snapshot.field.name, snapshot.conflict_message());
        }
        errors
    }

    /// Updates a refused form with the stored record. Unchanged fields get the stored value,
    /// conflicts offer a choice, and the version becomes that of the stored record.
    pub(crate) fn refresh(&self, form: &mut Form, stored: &[FieldSnapshot], locale: Locale) {
        for snapshot in stored {
            let field = snapshot.field.name;
            let edit = self.fields.iter().find(|edit| edit.field == field);
            if edit.is_some_and(|edit| !edit.is_changed()) {
                form.set(field, snapshot.typed(locale, self.is_flat));
            } else if self.is_conflict(snapshot) {
                form.complain(field, snapshot.conflict_message().text(locale));
                form.offer(Conflict {
                    field,
                    choice: format!("{CHOICE}{field}"),
                    theirs: snapshot.shown(locale),
                });
            }
        }
        if !self.fields.is_empty() {
            form.set(VERSION, version(stored, self.is_flat));
        }
    }

    fn is_conflict(&self, snapshot: &FieldSnapshot) -> bool {
        let field = snapshot.field.name;
        let edit = self.fields.iter().find(|edit| edit.field == field);
        edit.is_some_and(|edit| {
            let stored = snapshot.fingerprint(self.is_flat);
            edit.is_changed() && edit.opened != stored && edit.sent != stored
        })
    }
}

impl FieldEdit {
    fn is_changed(&self) -> bool {
        !self.is_theirs && self.sent != self.opened
    }
}

impl Conflict {
    /// The conflict of a field in a table row, where the control's name has a prefix:
    /// `thresholds:1:threshold`.
    pub(crate) fn at(&self, name: &str) -> Self {
        let row = name.strip_suffix(self.field).unwrap_or_default();
        Self {
            choice: format!("{row}{}", self.choice),
            ..self.clone()
        }
    }

    pub(crate) fn is_about(&self, field: &str) -> bool {
        self.field == field
    }
}

/// Fills a newly opened form with the stored values and their version.
pub(crate) fn open(form: &mut Form, stored: &[FieldSnapshot], locale: Locale) {
    for snapshot in stored {
        form.set(snapshot.field.name, snapshot.typed(locale, false));
    }
    form.set(VERSION, version(stored, false));
}

/// The version of a record: `title.0a1b… quantity.2c3d…`. `is_flat` is for controls that all have
/// one line.
pub(crate) fn version(stored: &[FieldSnapshot], is_flat: bool) -> String {
    let parts = stored
        .iter()
        .map(|snapshot| format!("{}.{}", snapshot.field.name, snapshot.fingerprint(is_flat)));
    parts.collect::<Vec<_>>().join(" ")
}

/// A text with spaces for line breaks, as a control of one line holds it.
pub(crate) fn one_line(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\r', '\n'], " ")
}

/// The fingerprint of a value. Different spellings of one value (`8` and `8.00`; CR LF and LF) have
/// the same fingerprint.
fn fingerprint(field: &Field, typed: &str) -> String {
    let text = typed.trim().replace("\r\n", "\n").replace('\r', "\n");
    let value = match field.kind {
        Kind::Price | Kind::Decimal => Money::parse(&text).map_or(text, |money| money.to_string()),
        Kind::Several => {
            let mut values: Vec<&str> = text.split(',').collect();
            values.sort_unstable();
            values.join(",")
        }
        _ => text,
    };
    let mut fingerprint = digest(value);
    fingerprint.truncate(FINGERPRINT);
    fingerprint
}
