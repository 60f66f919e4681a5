//! The frame of every administration page: the user, the navigation by application, and flash
//! messages. An extractor: it redirects requests without a session, or from users who are not
//! staff, to the login of the administration before the handler runs.

use std::ops::Deref;

use axum::{extract::FromRequestParts, response::Response};
use http::request::Parts;

use super::{
    about::{Application, ModelDescription, RecordCount},
    registry::{self, RegisteredModel},
};
use crate::{
    access::Verb,
    names,
    page::{Frame, PageState, flash, login_address, redirect, see_other},
    rest::Refusal,
};

/// The frame of a page for the current user. Dereferences to the application's [`Frame`].
pub(super) struct AdminFrame {
    pub(super) frame: Frame,
    /// The navigation: the models that the user sees, by application.
    pub(super) applications: Vec<(Application, Vec<&'static ModelDescription>)>,
}

impl Deref for AdminFrame {
    type Target = Frame;

    fn deref(&self) -> &Frame {
        &self.frame
    }
}

impl FromRequestParts<PageState> for AdminFrame {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, page: &PageState) -> Result<Self, Response> {
        let login = login_address(parts).replacen("/login/", "/admin/login/", 1);
        let frame = Frame::from_request_parts(parts, page).await;
        let Some(frame) = frame.ok().filter(|frame| frame.caller.is_staff) else {
            return Err(redirect(&login));
        };
        Ok(Self {
            applications: registry::shown_to(&frame.caller),
            frame,
        })
    }
}

impl AdminFrame {
    /// The model at a path. An error if it is unknown, or hidden from the user.
    pub(super) fn model(&self, path: &str) -> Result<&'static RegisteredModel, Refusal> {
        let model = registry::find(path).ok_or(Refusal::NotFound)?;
        let about = &model.about;
        if about.is_shown_to(&self.caller) {
            Ok(model)
        } else {
            Err(Self::missing(about, Verb::View))
        }
    }

    /// Returns 403 with the missing permission if the user may not do this to records of the model.
    pub(super) fn demand(&self, about: &ModelDescription, verb: Verb) -> Result<(), Refusal> {
        let is_allowed = match verb {
            Verb::View => about.is_read_by(&self.caller),
            verb => about.allows(&self.caller, verb),
        };
        if is_allowed {
            Ok(())
        } else {
            Err(Self::missing(about, verb))
        }
    }

    fn missing(about: &ModelDescription, verb: Verb) -> Refusal {
        about
            .permission(verb)
            .map_or_else(Refusal::forbidden, Refusal::Missing)
    }

    /// The address of a model's list. `None` for users who may only add records.
    pub(super) fn list_of(&self, about: &ModelDescription) -> Option<String> {
        about.is_read_by(&self.caller).then(|| about.address())
    }

    /// The address of the form of a new record. `None` for users who may not add one.
    pub(super) fn add(&self, about: &ModelDescription) -> Option<String> {
        let may = about.allows(&self.caller, Verb::Add);
        may.then(|| format!("{}add/", about.address()))
    }

    /// Whether the user may change records of the model.
    pub(super) fn changes(&self, about: &ModelDescription) -> bool {
        about.is_edited_by(&self.caller, false)
    }

    /// Whether the requested page belongs to the model.
    pub(super) fn is_within(&self, about: &ModelDescription) -> bool {
        self.address().starts_with(&about.address())
    }

    /// A number of records in the user's language, such as `more than 10,000`.
    pub(super) fn count(&self, count: RecordCount) -> String {
        let number = self.locale.number(count.number);
        if count.is_more {
            self.locale.text("mais de ", "more than ").to_owned() + &number
        } else {
            number
        }
    }

    pub(super) fn field(&self, name: &'static str) -> &'static str {
        names::field(self.locale, name)
    }

    /// The heading above the errors of a form: `problem`, or else a sentence by the number of
    /// errors.
    pub(super) fn errors_title<'a>(&self, problem: &'a str, errors: usize) -> &'a str {
        match (problem, errors) {
            ("", 1) => self.text("Corrija o erro abaixo.", "Please correct the error below."),
            ("", _) => self.text(
                "Corrija os erros abaixo.",
                "Please correct the errors below.",
            ),
            _ => problem,
        }
    }

    /// Redirects to the index with a warning that the record does not exist.
    pub(super) fn gone(&self, about: &ModelDescription, id: &str) -> Response {
        let name = about.words.name(self.locale);
        let id: String = id.chars().take(40).collect();
        let text = match self.locale {
            web::locale::Locale::PtBr => format!(
                "{name} com ID “{id}” não existe. Talvez tenha sido excluíd{}.",
                about.words.ending("o", "a")
            ),
            web::locale::Locale::En => {
                format!("{name} with ID “{id}” doesn’t exist. Perhaps it was deleted?")
            }
        };
        flash::warning(see_other("/admin/"), text)
    }
}
