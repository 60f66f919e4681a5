//! The common pages of documents: the list of drafts and recent bookings, a booked document,
//! undoing it, and discarding a draft. The common parts of the forms are in `form`; each kind has
//! its own form.

pub(crate) mod form;

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use resource::Both;

use crate::{
    access::{Model, Verb},
    page::{
        FormSubmission, Frame, PageResult,
        confirmation::Confirmation,
        flash::{self, Flash, UNDONE_BEFORE},
        redirect,
        routes::{PageRouter, get, of, of_one, post_from},
        see_other,
    },
    rest::{RecordId, Refusal},
    stock::documents::{Document, DocumentKind, DocumentSummary},
};

/// The texts and permissions of the pages of one kind.
pub(crate) struct DocumentPages {
    pub(crate) kind: DocumentKind,
    /// The path of the list.
    pub(crate) path: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) title: Both,
    pub(crate) lead: Both,
    /// The text of the button that begins a draft.
    pub(crate) begin: Both,
    /// The column heading of the names.
    pub(crate) names: Both,
    /// The heading of the list of booked documents.
    pub(crate) booked_last: Both,
    /// The message after a document was undone.
    pub(crate) undone: Both,
    /// The permission to create and book documents.
    pub(crate) makers: (Verb, Model),
    /// The permission to undo documents.
    pub(crate) undoers: (Verb, Model),
    /// The name of a document in a list.
    pub(crate) name: fn(&Frame, &DocumentSummary) -> String,
    /// The size of a document in a list, such as its number of products.
    pub(crate) size: fn(&Frame, &DocumentSummary) -> String,
    /// The name in the confirmation before a draft is discarded.
    pub(crate) whole_name: fn(&Frame, &Document) -> String,
    /// Renders the page of a booked document. The text is the reason why undoing it failed.
    pub(crate) page: fn(&Frame, StatusCode, &Document, &str) -> Response,
}

impl DocumentPages {
    /// The path of a document. That of a draft redirects to its form.
    pub(crate) fn address(&self, id: i64) -> String {
        format!("{}{id}/", self.path)
    }

    pub(crate) fn draft_address(&self, id: i64) -> String {
        format!("{}{id}/edit/", self.path)
    }

    pub(crate) fn admit(&self, frame: &Frame) -> Result<(), Refusal> {
        let (verb, model) = self.makers;
        frame.require(verb, model)
    }

    pub(crate) fn may_undo(&self, frame: &Frame) -> bool {
        let (verb, model) = self.undoers;
        frame.may(verb, model)
    }

    /// Reads the document of a path. Fails for users who may not create documents.
    pub(crate) async fn find(&self, frame: &Frame, id: RecordId) -> Result<Document, Refusal> {
        self.admit(frame)?;
        let document = (self.kind, id.known()?);
        crate::stock::documents::read(&frame.state, &frame.caller, document).await
    }

    /// Redirects to a newly booked document, with Undo for users who have the permission.
    pub(crate) fn booked(&self, frame: &Frame, id: i64, text: String) -> Response {
        let address = self.address(id);
        let mut flash = Flash::success(text);
        if self.may_undo(frame) {
            flash = flash.undo(format!("{address}undo/"));
        }
        flash::leave(see_other(&address), flash)
    }

    /// Redirects to the draft of a document that was undone. Used when the form that booked it is
    /// sent again.
    pub(crate) fn undone_before(&self, frame: &Frame, id: i64) -> Response {
        flash::warning(see_other(&self.draft_address(id)), frame.say(UNDONE_BEFORE))
    }
}

/// The routes of the list and the documents, except the forms.
pub(crate) fn routes(about: &'static DocumentPages) -> PageRouter {
    let below = |path: &str| format!("{}{path}", about.path);
    PageRouter::new()
        .route(
            about.path,
            get(async move |frame: Frame| list(about, frame).await),
        )
        .route(&below("{id}/"), get(of(about, show)))
        .route(&below("{id}/undo/"), post_from("../", of_one(about, undo)))
        .route(
            &below("{id}/delete/"),
            get(of(about, ask)).post(of_one(about, discard)),
        )
}

#[derive(Template)]
#[template(path = "stock/documents.html")]
struct DocumentListPage<'a> {
    frame: &'a Frame,
    about: &'static DocumentPages,
    drafts: Vec<DocumentSummary>,
    booked: Vec<DocumentSummary>,
}

impl DocumentListPage<'_> {
    fn name(&self, document: &DocumentSummary) -> String {
        (self.about.name)(self.frame, document)
    }

    fn size(&self, document: &DocumentSummary) -> String {
        (self.about.size)(self.frame, document)
    }
}

async fn list(about: &'static DocumentPages, frame: Frame) -> PageResult {
    about.admit(&frame)?;
    let (drafts, booked) =
        crate::stock::documents::list(&frame.state, &frame.caller, about.kind).await?;
    Ok(frame.show(DocumentListPage {
        frame: &frame,
        about,
        drafts,
        booked,
    }))
}

async fn show(about: &'static DocumentPages, frame: Frame, id: RecordId) -> PageResult {
    let document = about.find(&frame, id).await?;
    if !document.is_booked() {
        return Ok(redirect(&about.draft_address(document.id)));
    }
    Ok((about.page)(&frame, StatusCode::OK, &document, ""))
}

async fn undo(
    about: &'static DocumentPages,
    frame: Frame,
    id: RecordId,
    _: FormSubmission,
) -> PageResult {
    let (verb, model) = about.undoers;
    frame.require(verb, model)?;
    let id = id.known()?;
    let (state, caller) = (&frame.state, &frame.caller);
    let document = (about.kind, id);
    let flash = match crate::stock::undo::document(state, (caller, frame.locale), document).await {
        Ok(true) => Flash::success(frame.say(about.undone)),
        Ok(false) => Flash::warning(frame.say(UNDONE_BEFORE)),
        Err(Refusal::Conflict(message)) => {
            let document = crate::stock::documents::read(state, caller, document).await?;
            let why = message.text(frame.locale);
            return Ok((about.page)(&frame, StatusCode::CONFLICT, &document, why));
        }
        Err(refusal) => return Err(refusal),
    };
    // The draft belongs to the user who created it; another user may undo it.
    let is_own = crate::stock::documents::read(state, caller, document)
        .await
        .is_ok();
    let next = if is_own {
        about.draft_address(id)
    } else {
        about.path.to_owned()
    };
    Ok(flash::leave(see_other(&next), flash))
}

async fn ask(about: &'static DocumentPages, frame: Frame, id: RecordId) -> PageResult {
    let document = about.find(&frame, id).await?;
    if document.is_booked() {
        return Ok(redirect(&about.address(document.id)));
    }
    let confirmation = Confirmation::new(
        (
            frame.text("Descartar o rascunho?", "Discard the draft?"),
            frame.text("Sim, descartar o rascunho", "Yes, discard the draft"),
        ),
        (about.whole_name)(&frame, &document),
        frame.text(
            "A lista é apagada. O estoque não muda.",
            "The list is deleted. The stock does not change.",
        ),
        about.draft_address(document.id),
    );
    Ok(confirmation.show(&frame))
}

async fn discard(
    about: &'static DocumentPages,
    frame: Frame,
    id: RecordId,
    _: FormSubmission,
) -> PageResult {
    about.admit(&frame)?;
    let document = (about.kind, id.known()?);
    let flash = if crate::stock::documents::discard(&frame.state, &frame.caller, document).await? {
        Flash::success(frame.text("Rascunho descartado.", "Draft discarded."))
    } else {
        Flash::warning(frame.text(
            "Este rascunho não existe mais.",
            "This draft no longer exists.",
        ))
    };
    Ok(flash::leave(see_other(about.path), flash))
}

/// `8 produtos`
pub(crate) fn products(frame: &Frame, count: i64) -> String {
    let word = if count == 1 {
        frame.text("produto", "product")
    } else {
        frame.text("produtos", "products")
    };
    format!("{} {word}", frame.locale.number(count))
}
