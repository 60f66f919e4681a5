//! The frame of every administration page: the user, the navigation by application, and flash messages. It is an extractor:
//! requests without a session, or from users who are not staff, are redirected to the administration's login before any handler runs.

use std::ops::Deref;

use axum::{extract::FromRequestParts, response::Response};
use http::request::Parts;

use super::{
    about::{AdminModel, ModelDescription, RecordCount},
    registry,
};
use crate::{
    access::Verb,
    names,
    page::{Frame, PageState, flash, login_address, redirect, see_other},
    rest::Refusal,
};

/// The frame of one page for one reader. Dereferences to the application's [`Frame`].
#[derive(Debug)]
pub(super) struct AdminFrame {
    /// What every page has.
    pub(super) frame: Frame,
    /// The navigation.
    pub(super) applications: Vec<NavigationGroup>,
}

/// An application in the navigation.
#[derive(Debug)]
pub(super) struct NavigationGroup {
    /// Its name.
    pub(super) name: &'static str,
    /// Its models.
    pub(super) models: Vec<NavigationModel>,
}

/// A model in the navigation.
#[derive(Debug)]
pub(super) struct NavigationModel {
    /// Its name.
    pub(super) name: String,
    /// Its list; none when the reader may only add.
    pub(super) address: Option<String>,
    /// The form of a new record, when the reader may add one.
    pub(super) add: Option<String>,
    /// Whether the reader may change its records.
    pub(super) is_changed: bool,
    /// Whether the reader is there.
    pub(super) is_current: bool,
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
        let login = login_address(&parts.uri).replacen("/login/", "/admin/login/", 1);
        let frame = Frame::from_request_parts(parts, page).await;
        let Some(frame) = frame.ok().filter(|frame| frame.caller.is_staff) else {
            return Err(redirect(&login));
        };
        Ok(Self {
            applications: applications(&frame),
            frame,
        })
    }
}

fn applications(frame: &Frame) -> Vec<NavigationGroup> {
    let locale = frame.locale;
    let shown = registry::shown_to(&frame.caller).into_iter();
    shown
        .map(|(application, models)| {
            let (portuguese, english) = application.name();
            NavigationGroup {
                name: locale.text(portuguese, english),
                models: models
                    .into_iter()
                    .map(|about| entry(frame, about))
                    .collect(),
            }
        })
        .collect()
}

fn entry(frame: &Frame, about: &ModelDescription) -> NavigationModel {
    let address = about.address();
    let may = |verb| about.allows(&frame.caller, verb);
    NavigationModel {
        name: about.words.title(frame.locale),
        is_current: frame.address().starts_with(&address),
        add: may(Verb::Add).then(|| format!("{address}add/")),
        is_changed: about.is_edited_by(&frame.caller, false),
        address: about.is_read_by(&frame.caller).then_some(address),
    }
}

impl AdminFrame {
    /// The model at a path, which the reader may look at.
    ///
    /// # Errors
    ///
    /// An unknown model, and one that the reader may not see.
    pub(super) fn model(&self, path: &str) -> Result<&'static dyn AdminModel, Refusal> {
        let model = registry::find(path).ok_or(Refusal::NotFound)?;
        let about = model.about();
        if about.is_shown_to(&self.caller) {
            Ok(model)
        } else {
            Err(Self::missing(about, Verb::View))
        }
    }

    /// Refuses what the reader may not do with the records of a model.
    ///
    /// # Errors
    ///
    /// 403 with the permission that is missing.
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

    /// A number of records, as it is read.
    pub(super) fn count(&self, count: RecordCount) -> String {
        let number = i64::try_from(count.number).unwrap_or(i64::MAX);
        let number = self.locale.number(number);
        if count.is_more {
            self.locale.text("mais de ", "more than ").to_owned() + &number
        } else {
            number
        }
    }

    /// What a field is called.
    pub(super) fn field(&self, name: &'static str) -> &'static str {
        names::field(self.locale, name)
    }

    /// What stands above so many errors of a form, unless the form as a whole has one.
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

    /// Leads back to the index, because there is no such record.
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
        flash::leave(see_other("/admin/"), flash::Flash::warning(text))
    }
}
