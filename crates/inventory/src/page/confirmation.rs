//! The page that asks before something is done that cannot be undone, or that explains why it is
//! refused.

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use resource::Words;
use web::locale::Locale;

use super::{Frame, PageResult};
use crate::rest::Refusal;

/// A record's name, and its address if the user may view it.
pub(crate) type NamedAddress = (String, Option<String>);

/// The question about one or several records, as the page shows it.
#[derive(Debug)]
pub(crate) struct Confirmation {
    pub(crate) title: String,
    /// The record's name. Empty for several records, which `lists` names.
    pub(crate) name: String,
    /// The consequence, in one sentence.
    pub(crate) sentence: String,
    /// Records that are deleted too, or that prevent the deletion. Each list has a heading, which
    /// may be empty, and the records.
    pub(crate) lists: Vec<(&'static str, Vec<NamedAddress>)>,
    /// Records that the user may not delete, each with the reason.
    pub(crate) kept: Vec<(String, String)>,
    /// The hidden fields of the form: names and values.
    pub(crate) hidden: Vec<(String, String)>,
    /// The text of the button that confirms, and its icon, which may be empty.
    pub(crate) confirm: String,
    pub(crate) icon: &'static str,
    /// The address of the link that cancels.
    pub(crate) back: String,
    /// Links for a deletion that is refused: their texts and addresses.
    pub(crate) instead: Vec<(String, String)>,
    /// Why it is refused. Empty if it is not.
    pub(crate) problem: String,
    /// Why an earlier attempt failed, which can be repeated. Empty if there was none.
    pub(crate) warning: String,
}

#[derive(Template)]
#[template(path = "page/confirmation.html")]
struct ConfirmationPage<'a> {
    frame: &'a Frame,
    page: &'a Confirmation,
}

impl Confirmation {
    /// A page with this title and button, for a deletion. The link that cancels leads to `back`.
    pub(crate) fn new(
        (title, confirm): (impl Into<String>, impl Into<String>),
        name: String,
        sentence: impl Into<String>,
        back: String,
    ) -> Self {
        Self {
            title: title.into(),
            name,
            sentence: sentence.into(),
            lists: Vec::new(),
            kept: Vec::new(),
            hidden: vec![("next".to_owned(), String::new())],
            confirm: confirm.into(),
            icon: "trash",
            back,
            instead: Vec::new(),
            problem: String::new(),
            warning: String::new(),
        }
    }

    /// The page for the deletion of a record with these words. `foreseen` is the refusal that is
    /// known in advance.
    ///
    /// # Errors
    ///
    /// Any refusal other than a conflict.
    pub(crate) fn of_deletion(
        frame: &Frame,
        words: &Words,
        (name, sentence, back): (String, &'static str, String),
        foreseen: Result<(), Refusal>,
    ) -> Result<Self, Refusal> {
        let locale = frame.locale;
        let texts = (words.ask_to_delete(locale), words.confirm_to_delete(locale));
        let page = Self::new(texts, name, sentence, back);
        match foreseen {
            Ok(()) => Ok(page),
            Err(refusal) => page.refused(refusal, locale),
        }
    }

    fn refused(self, refusal: Refusal, locale: Locale) -> Result<Self, Refusal> {
        match refusal {
            Refusal::Conflict(message) => Ok(Self {
                problem: message.text(locale).to_owned(),
                ..self
            }),
            refusal => Err(refusal),
        }
    }

    pub(crate) fn show(&self, frame: &Frame) -> Response {
        self.show_with(StatusCode::OK, frame)
    }

    pub(crate) fn show_with(&self, status: StatusCode, frame: &Frame) -> Response {
        frame.show_with(status, ConfirmationPage { frame, page: self })
    }

    /// Shows why it was refused: 409.
    ///
    /// # Errors
    ///
    /// Any refusal other than a conflict.
    pub(crate) fn refuse(self, frame: &Frame, refusal: Refusal) -> PageResult {
        let page = self.refused(refusal, frame.locale)?;
        Ok(page.show_with(StatusCode::CONFLICT, frame))
    }
}
