//! The page that confirms a deletion, or explains why it is refused.

use askama::Template;
use http::StatusCode;
use resource::Words;
use web::locale::Locale;

use super::{Frame, PageResult};
use crate::rest::Refusal;

/// A record's name, and its address if the user may view it.
pub(crate) type NamedAddress = (String, Option<String>);

/// The deletion of one or several records, as the page shows it.
#[derive(Debug)]
pub(crate) struct Deletion {
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
    pub(crate) confirm: String,
    /// The address of the link that cancels.
    pub(crate) back: String,
    /// Links for a deletion that is refused: their texts and addresses.
    pub(crate) instead: Vec<(String, String)>,
    /// Why the record cannot be deleted. Empty if it can.
    pub(crate) problem: String,
}

#[derive(Template)]
#[template(path = "page/delete.html")]
struct DeletePage<'a> {
    frame: &'a Frame,
    page: &'a Deletion,
}

impl Deletion {
    /// A page with this title and button. The link that cancels leads to `back`.
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
            instead: Vec::new(),
            problem: String::new(),
        }
    }

    /// The page for a record with these words.
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

    /// Shows the confirmation, or the reason if `foreseen` is a conflict.
    ///
    /// # Errors
    ///
    /// Any refusal other than a conflict.
    pub(crate) fn ask(self, frame: &Frame, foreseen: Result<(), Refusal>) -> PageResult {
        self.show(frame, StatusCode::OK, foreseen)
    }

    /// Shows why the deletion was refused: 409.
    ///
    /// # Errors
    ///
    /// Any refusal other than a conflict.
    pub(crate) fn refuse(self, frame: &Frame, refusal: Refusal) -> PageResult {
        self.show(frame, StatusCode::CONFLICT, Err(refusal))
    }

    fn show(
        mut self,
        frame: &Frame,
        status: StatusCode,
        deletable: Result<(), Refusal>,
    ) -> PageResult {
        match deletable {
            Ok(()) => {}
            Err(Refusal::Conflict(message)) => {
                message.text(frame.locale).clone_into(&mut self.problem);
            }
            Err(refusal) => return Err(refusal),
        }
        Ok(frame.show_with(status, DeletePage { frame, page: &self }))
    }
}
