//! The confirmation before a record is deleted, and why it cannot be.

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use resource::Words;
use web::locale::Locale;

use super::Frame;
use crate::rest::Refusal;

/// What a record is called, and its address if the reader may see it.
pub(crate) type NamedAddress = (String, Option<String>);

/// A record, or several, to be deleted, as the page asks about it.
#[derive(Debug)]
pub(crate) struct Deletion {
    /// The question.
    pub(crate) title: String,
    /// What the record is called; empty where a list names it.
    pub(crate) name: String,
    /// The consequence, in one sentence.
    pub(crate) sentence: String,
    /// What goes with it or keeps it: a heading or nothing, and records with their addresses.
    pub(crate) lists: Vec<(&'static str, Vec<NamedAddress>)>,
    /// Records that the reader may not delete, and why.
    pub(crate) kept: Vec<(String, String)>,
    /// What the form sends.
    pub(crate) hidden: Vec<(String, String)>,
    /// What the button says.
    pub(crate) confirm: String,
    /// Where the reader goes who does not want it after all.
    pub(crate) back: String,
    /// What refers to the record, to be looked at when it cannot be deleted.
    pub(crate) blocking: Option<(String, String)>,
    /// Why it cannot be deleted; empty while it can.
    pub(crate) problem: String,
}

#[derive(Template)]
#[template(path = "page/delete.html")]
struct DeletePage<'a> {
    frame: &'a Frame,
    page: &'a Deletion,
}

impl Deletion {
    /// The question and the button of a record that is left alone at `back`.
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
            back,
            blocking: None,
            problem: String::new(),
        }
    }

    /// The same for a record of this kind.
    pub(crate) fn of(
        words: &Words,
        name: String,
        sentence: &'static str,
        back: String,
        locale: Locale,
    ) -> Self {
        let texts = (words.ask_to_delete(locale), words.confirm_to_delete(locale));
        Self::new(texts, name, sentence, back)
    }

    /// The page that asks, or explains why the record cannot be deleted, as far as that is known
    /// beforehand.
    ///
    /// # Errors
    ///
    /// A refusal that is no conflict.
    pub(crate) fn ask(
        mut self,
        frame: &Frame,
        foreseen: Result<(), Refusal>,
    ) -> Result<Response, Refusal> {
        match foreseen {
            Ok(()) => {}
            Err(Refusal::Conflict(message)) => {
                message.text(frame.locale).clone_into(&mut self.problem);
            }
            Err(refusal) => return Err(refusal),
        }
        Ok(frame.show(DeletePage { frame, page: &self }))
    }

    /// The page that explains why the record was not deleted: 409.
    ///
    /// # Errors
    ///
    /// A refusal that is no conflict.
    pub(crate) fn refuse(mut self, frame: &Frame, refusal: Refusal) -> Result<Response, Refusal> {
        let Refusal::Conflict(message) = refusal else {
            return Err(refusal);
        };
        message.text(frame.locale).clone_into(&mut self.problem);
        let page = DeletePage { frame, page: &self };
        Ok(frame.show_with(StatusCode::CONFLICT, page))
    }
}
