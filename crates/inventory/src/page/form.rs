//! A form as a page shows it: the submitted values, and the errors in the user's language.

use resource::Field;
use web::locale::Locale;

use super::{
    edit_conflict::{Conflict, VERSION},
    form_token::TOKEN,
    request_body,
};
use crate::{
    accounts::csrf,
    names,
    rest::{
        Refusal,
        fields::{FieldErrors, Members},
    },
};

#[derive(Debug, Default, Clone)]
pub(crate) struct Form {
    values: Vec<(String, String)>,
    errors: Vec<(&'static str, String)>,
    conflicts: Vec<Conflict>,
    /// Fields that are not described elsewhere or have another label here.
    own: Vec<&'static Field>,
    /// The error of the form as a whole; empty if there is none.
    pub(crate) problem: String,
}

impl Form {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A form with the posted values.
    pub(crate) fn of(members: &Members) -> Self {
        let text =
            |name: &String| request_body::text(members, name).map(|value| (name.clone(), value));
        Self {
            values: members.keys().filter_map(text).collect(),
            ..Self::default()
        }
    }

    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.set(name, value);
        self
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.values.retain(|(other, _)| other != name);
        self.values.push((name.to_owned(), value.into()));
    }

    /// The value of a field as typed; empty if there is none.
    pub(crate) fn value(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// The value of a field as typed, if it was sent.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.values.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The version of the record that the form was opened with; empty if there is none.
    pub(crate) fn version(&self) -> &str {
        self.value(VERSION)
    }

    /// Adds a conflict, for which the form offers a choice.
    pub(crate) fn offer(&mut self, conflict: Conflict) {
        self.conflicts.push(conflict);
    }

    pub(crate) fn conflict(&self, name: &str) -> Option<&Conflict> {
        let mut conflicts = self.conflicts.iter();
        conflicts.find(|conflict| conflict.is_about(name))
    }

    /// All values as one text, for the fingerprint. The CSRF and form tokens and the buttons, whose
    /// names begin with `_`, are left out.
    pub(super) fn fingerprint(&self) -> String {
        let mut values: Vec<String> = self
            .values
            .iter()
            .filter(|(name, _)| ![csrf::FIELD, TOKEN].contains(&name.as_str()))
            .filter(|(name, _)| !name.starts_with('_'))
            .map(|value| format!("{value:?}"))
            .collect();
        values.sort_unstable();
        values.join("\n")
    }

    /// The error of a field; empty if there is none.
    pub(crate) fn error(&self, name: &str) -> &str {
        let found = self.errors.iter().find(|(other, _)| *other == name);
        found.map_or("", |(_, message)| message.as_str())
    }

    /// The fields with errors, in the resource's order.
    pub(crate) fn errors(&self) -> &[(&'static str, String)] {
        &self.errors
    }

    /// The errors with the labels of their fields, for the summary: `Title: …`.
    pub(crate) fn summary(&self, locale: Locale) -> Vec<(&'static str, String)> {
        let named = self.errors.iter().map(|(field, message)| {
            let mut own = self.own.iter().filter(|own| own.name == *field);
            let name = own
                .next()
                .map_or_else(|| names::field(locale, field), |own| locale.say(own.label));
            (*field, format!("{name}: {message}"))
        });
        named.collect()
    }

    pub(crate) fn is_refused(&self) -> bool {
        !self.errors.is_empty() || !self.problem.is_empty()
    }

    /// Sets the error of a field, replacing an earlier one.
    pub(crate) fn complain(&mut self, field: &'static str, message: impl Into<String>) {
        let message = message.into();
        match self.errors.iter_mut().find(|(other, _)| *other == field) {
            Some((_, old)) => *old = message,
            None => self.errors.push((field, message)),
        }
    }

    /// Sets the error of a field that is not described elsewhere.
    pub(crate) fn complain_of(&mut self, field: &'static Field, message: impl Into<String>) {
        self.describe(field);
        self.complain(field.name, message);
    }

    /// Names a field in the summary as this form does.
    pub(crate) fn describe(&mut self, field: &'static Field) {
        self.own.push(field);
    }

    /// Sorts the errors by this order of fields.
    pub(crate) fn sort(&mut self, fields: &[&str]) {
        self.errors.sort_by_key(|(name, _)| {
            let place = fields.iter().position(|field| field == name);
            place.unwrap_or(usize::MAX)
        });
    }

    /// Adds the errors of fields that have none yet.
    pub(crate) fn absorb(&mut self, errors: &FieldErrors, locale: Locale) {
        for (field, messages) in errors.iter() {
            let messages: Vec<_> = messages
                .iter()
                .map(|message| message.text(locale))
                .collect();
            if self.error(field).is_empty() {
                self.complain(field, messages.join(" "));
            }
        }
    }

    /// Adds the errors of a refused request: messages of fields, and a conflict as the error of the
    /// form. The form is shown with a new token, so a reused one can be submitted again.
    ///
    /// # Errors
    ///
    /// Any other refusal.
    pub(crate) fn take(&mut self, refusal: Refusal, locale: Locale) -> Result<(), Refusal> {
        match refusal {
            Refusal::Fields(errors) => self.absorb(&errors, locale),
            Refusal::Conflict(message) => message.text(locale).clone_into(&mut self.problem),
            Refusal::KeyReused => {
                let text = locale.text(
                    "Este formulário já foi salvo com outros valores. Confira e envie de novo para salvar também estes.",
                    "This form has already been saved with other values. Check it and send it again to save these as well.",
                );
                text.clone_into(&mut self.problem);
            }
            other => return Err(other),
        }
        Ok(())
    }
}
