//! Two people who change one record at the same time. A form brings back, in its hidden field `version`, a fingerprint of every field
//! as it was stored when the form was opened. When the form is saved, with the record locked, each field is compared:
//!
//! - only somebody else changed it: it stays as it is stored;
//! - only this form changed it: it is written;
//! - both changed it to different values: nothing is written, the form comes back with both values, and its reader chooses.
//!
//! So a sale, which changes the quantity of a product, is no conflict with a correction of its title. Inline rows and the cells of a
//! list are compared in the same way, each row with a version of its own. A form without a version is written as it is.

use db::Money;
use resource::{Field, Kind, Record};
use web::locale::Locale;

use super::{Form, request_body, value::FieldValue};
use crate::{
    digest::digest,
    rest::{
        Message,
        fields::{FieldErrors, Members},
    },
};

/// The hidden field with the fingerprints.
pub(crate) const VERSION: &str = "version";
/// How the name of the choice between two values begins; the field's name follows.
const CHOICE: &str = "choice:";
/// The choice of the stored value.
const THEIRS: &str = "theirs";
/// Hexadecimal digits of a fingerprint. It distinguishes two values of one field, and need not resist an attack.
const FINGERPRINT: usize = 12;
/// Characters that are shown of somebody else's value.
const SHOWN: usize = 120;

/// A field of a record as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldSnapshot {
    field: &'static Field,
    value: FieldValue,
}

/// A field of which two people have made different values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    field: &'static str,
    /// The name of the controls that choose.
    pub(crate) choice: String,
    /// What somebody else has made of it; blank when they have cleared it.
    pub(crate) theirs: String,
}

/// What a form makes of the fields of a record, compared with the version that it was opened with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FormEdit {
    fields: Vec<FieldEdit>,
    /// Whether each control has one line, whatever the field holds.
    is_flat: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct FieldEdit {
    field: &'static str,
    /// The fingerprint that the form was opened with.
    opened: String,
    /// The fingerprint of what was sent.
    sent: String,
    /// Whether the reader chose the stored value.
    is_theirs: bool,
}

impl FieldSnapshot {
    /// A field with its value.
    pub(crate) const fn new(field: &'static Field, value: FieldValue) -> Self {
        Self { field, value }
    }

    /// These fields of a described record.
    pub(crate) fn all(record: &impl Record, fields: &[&'static Field]) -> Vec<Self> {
        let values = record.values_of(fields).into_iter();
        values
            .map(|(field, value)| Self::new(field, FieldValue::of(field, value)))
            .collect()
    }

    /// What its control holds.
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

    /// How it reads; blank when there is nothing.
    fn shown(&self, locale: Locale) -> String {
        if self.value.is_empty() {
            return String::new();
        }
        let whole = self.value.shown(locale);
        whole.trim().chars().take(SHOWN).collect()
    }
}

impl FormEdit {
    /// What a form sends of these fields: texts are in `members` as services read them, boxes that are ticked in the form.
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
            let text = || request_body::text(members, field.name).unwrap_or_default();
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

    /// The same of the cells of a list, each of one line.
    pub(crate) fn of_cells(form: &Form, members: &Members, fields: &[&'static Field]) -> Self {
        Self {
            is_flat: true,
            ..Self::of(form, members, fields.iter().copied())
        }
    }

    /// Whether this form changes anything.
    pub(crate) fn has_changes(&self) -> bool {
        self.fields.iter().any(FieldEdit::is_changed)
    }

    /// The fields that this form does not change: they are not written.
    pub(crate) fn unchanged(&self) -> impl Iterator<Item = &'static str> {
        let unchanged = self.fields.iter().filter(|edit| !edit.is_changed());
        unchanged.map(|edit| edit.field)
    }

    /// The fields that both this form and somebody else have changed.
    pub(crate) fn conflicts(&self, stored: &[FieldSnapshot], locale: Locale) -> FieldErrors {
        let mut errors = FieldErrors::default();
        for snapshot in stored.iter().filter(|snapshot| self.is_conflict(snapshot)) {
            errors.add(snapshot.field.name, message(&snapshot.shown(locale)));
        }
        errors
    }

    /// Prepares a form to be shown again beside the record as it is stored: unchanged fields show what is stored, conflicts offer their
    /// choice, and the next version is that of the stored record.
    pub(crate) fn refresh(&self, form: &mut Form, stored: &[FieldSnapshot], locale: Locale) {
        for snapshot in stored {
            let field = snapshot.field.name;
            let edit = self.fields.iter().find(|edit| edit.field == field);
            if edit.is_some_and(|edit| !edit.is_changed()) {
                form.set(field, snapshot.typed(locale, self.is_flat));
            } else if self.is_conflict(snapshot) {
                let theirs = snapshot.shown(locale);
                form.complain(field, message(&theirs).text(locale));
                form.offer(Conflict {
                    field,
                    choice: format!("{CHOICE}{field}"),
                    theirs,
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
    /// The same in the row of a table, where the control has another name: `thresholds:1:threshold`.
    pub(crate) fn at(&self, name: &str) -> Self {
        let row = name.strip_suffix(self.field).unwrap_or_default();
        Self {
            choice: format!("{row}{}", self.choice),
            ..self.clone()
        }
    }

    /// Whether it is about this field.
    pub(crate) fn is_about(&self, field: &str) -> bool {
        self.field == field
    }
}

/// Shows a record in a form that is opened, with its version.
pub(crate) fn open(form: &mut Form, stored: &[FieldSnapshot], locale: Locale) {
    for snapshot in stored {
        form.set(snapshot.field.name, snapshot.typed(locale, false));
    }
    form.set(VERSION, version(stored, false));
}

/// The fingerprints of stored fields: `title.0a1b… quantity.2c3d…`. With `is_flat`, of fields that are shown in one line each.
pub(crate) fn version(stored: &[FieldSnapshot], is_flat: bool) -> String {
    let parts = stored
        .iter()
        .map(|snapshot| format!("{}.{}", snapshot.field.name, snapshot.fingerprint(is_flat)));
    parts.collect::<Vec<_>>().join(" ")
}

/// A text as a control of one line holds it.
pub(crate) fn one_line(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\r', '\n'], " ")
}

/// A fingerprint of a value, the same however it is typed: `8` and `8.00`, and lines that end as browsers or as we end them.
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

/// Somebody has changed a field to this while the page was open.
fn message(theirs: &str) -> Message {
    if theirs.is_empty() {
        return Message::fixed(
            "Alguém apagou este valor enquanto você editava. Escolha qual fica.",
            "Somebody cleared this while you were editing. Choose which one stays.",
        );
    }
    Message::new(
        format!(
            "Alguém mudou este valor para “{theirs}” enquanto você editava. Escolha qual fica."
        ),
        format!(
            "Somebody changed this to “{theirs}” while you were editing. Choose which one stays."
        ),
    )
}

#[cfg(test)]
mod tests {
    use db::Money;

    use super::*;
    use crate::catalogue::products::ProductRecord;

    const FIELDS: [&Field; 2] = [ProductRecord::title, ProductRecord::selling_price];

    fn stored(title: &str, price: &str) -> Vec<FieldSnapshot> {
        let price = FieldValue::Money(Money::parse(price).unwrap());
        vec![
            FieldSnapshot::new(ProductRecord::title, FieldValue::Text(title.to_owned())),
            FieldSnapshot::new(ProductRecord::selling_price, price),
        ]
    }

    /// A form that was opened with “Chá” for 1.00, and sends this.
    fn sent(values: &[(&str, &str)]) -> (Form, FormEdit) {
        let mut form = Form::new();
        open(&mut form, &stored("Chá", "1.00"), Locale::En);
        let mut members = Members::new();
        for (name, value) in values {
            form.set(name, *value);
            members.insert(
                (*name).to_owned(),
                serde_json::value::to_raw_value(value).unwrap(),
            );
        }
        let edit = FormEdit::of(&form, &members, FIELDS);
        (form, edit)
    }

    #[test]
    fn unchanged_fields_are_not_written_and_are_shown_as_they_are_stored() {
        let (mut form, edit) = sent(&[("title", "Chá "), ("selling_price", "1")]);
        let unchanged: Vec<_> = edit.unchanged().collect();
        assert_eq!(unchanged, ["title", "selling_price"]);
        let now = stored("Café", "1234.50");
        assert!(edit.conflicts(&now, Locale::PtBr).is_empty());
        edit.refresh(&mut form, &now, Locale::PtBr);
        assert_eq!(
            (form.value("title"), form.value("selling_price")),
            ("Café", "1234,50")
        );
        assert_eq!(form.value(VERSION), version(&now, false));
        assert!(!form.is_refused());
    }

    #[test]
    fn a_conflict_is_told_with_a_choice_and_the_form_that_comes_back_can_be_sent_again() {
        let (mut form, edit) = sent(&[("title", "Chá"), ("selling_price", "8.00")]);
        let now = stored("Chá", "9.50");
        let told =
            "Alguém mudou este valor para “R$\u{a0}9,50” enquanto você editava. Escolha qual fica.";
        let errors = edit.conflicts(&now, Locale::PtBr);
        let (field, messages) = errors.iter().next().unwrap();
        assert_eq!(
            (field, messages[0].text(Locale::PtBr)),
            ("selling_price", told)
        );
        edit.refresh(&mut form, &now, Locale::PtBr);
        assert_eq!(form.value("selling_price"), "8.00");
        let conflict = form.conflict("selling_price").unwrap();
        assert_eq!(
            (conflict.choice.as_str(), conflict.theirs.as_str()),
            ("choice:selling_price", "R$\u{a0}9,50")
        );
        // Mine, unless theirs is chosen.
        let mut members = Members::new();
        let typed = serde_json::value::to_raw_value("8.00").unwrap();
        members.insert("selling_price".to_owned(), typed);
        let mine = FormEdit::of(&form, &members, [ProductRecord::selling_price]);
        assert_eq!(mine.unchanged().count(), 0);
        assert!(mine.conflicts(&now, Locale::En).is_empty());
        form.set("choice:selling_price", THEIRS);
        let theirs = FormEdit::of(&form, &members, [ProductRecord::selling_price]);
        assert_eq!(theirs.unchanged().collect::<Vec<_>>(), ["selling_price"]);
    }

    #[test]
    fn the_same_change_twice_and_a_form_without_a_version_are_no_conflicts() {
        let (_, edit) = sent(&[("title", "Chá"), ("selling_price", "9.5")]);
        let now = stored("Chá", "9.50");
        assert!(edit.conflicts(&now, Locale::En).is_empty());
        let form = Form::new().with("selling_price", "8.00");
        let edit = FormEdit::of(&form, &Members::new(), FIELDS);
        assert!(edit.conflicts(&now, Locale::En).is_empty());
        assert_eq!(edit.unchanged().count(), 0);
    }

    #[test]
    fn a_fingerprint_is_short_and_the_same_however_lines_end() {
        let text = "linha\n".repeat(200);
        let of = |text: &str| fingerprint(ProductRecord::description, text);
        assert_eq!(of(&text), of(&text.replace('\n', "\r\n")));
        assert_ne!(of(&text), of(&text[1..]));
        assert_eq!(of(&text).len(), FINGERPRINT);
    }
}
