//! Posted forms, and the conversion of their input to the JSON members that the service functions
//! read.

use axum::extract::{FromRequest, Request};
use resource::{Field, Kind};
use serde_json::value::{RawValue, to_raw_value};
use web::{errors::wants_json, locale::Locale};

use super::{Form, Frame, PageState, form_token::FormToken, numbers, picker::Picker, request_body};
use crate::{
    idempotency::IdempotencyKey,
    rest::{Message, Refusal, fields::Members},
};

/// A posted form that has passed the CSRF check. Extracting it fails with 413, 403 for a failed
/// check, 415 or 400.
#[derive(Debug)]
pub(crate) struct FormSubmission {
    /// The members for the service functions.
    pub(crate) members: Members,
    /// The form, to be shown again if it is refused.
    pub(crate) form: Form,
    /// Whether a script sent the form and expects JSON.
    pub(crate) is_script: bool,
    /// The form's once-only token.
    pub(crate) once: Option<FormToken>,
}

impl FromRequest<PageState> for FormSubmission {
    type Rejection = web::Error;

    async fn from_request(request: Request, page: &PageState) -> Result<Self, web::Error> {
        let (parts, body) = request.into_parts();
        let members = request_body::read(&page.state, &parts, body).await?;
        let form = Form::of(&members);
        let once = FormToken::of(&form);
        Ok(Self {
            is_script: wants_json(&parts.headers),
            members,
            form,
            once,
        })
    }
}

impl FormSubmission {
    /// A field as typed; empty if it was not sent.
    pub(crate) fn text(&self, name: &str) -> String {
        self.form.value(name).to_owned()
    }

    /// The form's once-only token as an idempotency key. `None` without a token.
    pub(crate) fn idempotency_key(
        &self,
        frame: &Frame,
        path: &'static str,
    ) -> Option<IdempotencyKey> {
        let once = self.once.clone()?;
        Some(once.by(frame.caller.id, path))
    }

    /// Evaluates the fields of a picker.
    pub(crate) async fn pick(&mut self, frame: &Frame, picked: Picker) -> Result<Picker, Refusal> {
        let sent = self.form.clone();
        let picked = picked.resolve(frame, &sent, &mut self.form).await?;
        if picked.id.is_empty() {
            self.members.remove(picked.name);
        } else {
            set_text(&mut self.members, picked.name, &picked.id);
        }
        Ok(picked)
    }

    /// Converts the texts of these fields, as [`read_fields`] does.
    pub(crate) fn read_fields(&mut self, fields: &[&'static Field], locale: Locale) {
        let fields = fields.iter().copied();
        read_fields(&mut self.form, &mut self.members, fields, locale);
    }
}

pub(crate) fn set_text(members: &mut Members, name: &str, value: &str) {
    // Serializing a text cannot fail.
    if let Ok(raw) = to_raw_value(value) {
        members.insert(name.to_owned(), raw);
    }
}

/// Converts the texts of a form to the members that services read. Amounts and counts as people
/// type them become plain numbers, and an empty optional field becomes `null`. The ticked boxes of a
/// field of several values become one text, separated by commas. Errors go into the form.
pub(crate) fn read_fields(
    form: &mut Form,
    members: &mut Members,
    fields: impl IntoIterator<Item = &'static Field>,
    locale: Locale,
) {
    for field in fields {
        if field.is_many() {
            let chosen = ticked(members, field);
            set_text(members, field.name, &chosen);
            form.set(field.name, chosen);
            continue;
        }
        let Some(typed) = request_body::text(members, field.name) else {
            continue;
        };
        if typed.trim().is_empty() && !field.is_required() {
            members.insert(field.name.to_owned(), RawValue::NULL.to_owned());
            continue;
        }
        let number = match field.kind {
            Kind::Price | Kind::Decimal => {
                numbers::amount(&typed).map_err(|error| numbers::message(error, &typed, locale))
            }
            Kind::Id | Kind::Integer { .. } => numbers::count(&typed, locale)
                .map_err(|_| Message::NOT_AN_INTEGER.text(locale).to_owned()),
            _ => continue,
        };
        match number {
            Ok(_) if typed.trim().is_empty() => {
                members.remove(field.name);
                form.complain(field.name, Message::REQUIRED.text(locale));
            }
            Ok(number) => set_text(members, field.name, &number),
            Err(complaint) => form.complain(field.name, complaint),
        }
    }
}

/// The values of the ticked boxes of a field, separated by commas. Each box is a member
/// `field:value`.
fn ticked(members: &Members, field: &Field) -> String {
    let values = members.keys().filter_map(|name| {
        let value = name.strip_prefix(field.name)?;
        value.strip_prefix(':')
    });
    values.collect::<Vec<_>>().join(",")
}
