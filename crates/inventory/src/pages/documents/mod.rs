//! The pages that all documents have: drafts and what was booked last, a booked document, undoing
//! it, discarding a draft. What a draft's form shares is in `form`; the forms are with their kinds.

pub(crate) mod form;

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use http::StatusCode;
use resource::Both;

use crate::{
    access::{Model, Verb},
    page::{
        FormSubmission, Frame, PageResult, PageState, SharedPage,
        delete::Deletion,
        flash::{self, Flash},
        redirect,
        routes::{PageRouter, get, of_one, post},
        see_other,
    },
    rest::{RecordId, Refusal},
    stock::documents::{Document, DocumentKind, DocumentSummary},
};

/// What the pages of a kind say, and who may do what.
pub(crate) struct DocumentPages {
    pub(crate) kind: DocumentKind,
    /// The address of its list.
    pub(crate) path: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) title: Both,
    /// The sentence under the title.
    pub(crate) lead: Both,
    /// The way to a new one.
    pub(crate) begin: Both,
    /// What stands over the names in a list.
    pub(crate) names: Both,
    /// What the list of what was booked is called.
    pub(crate) booked_last: Both,
    /// What is said once one was undone.
    pub(crate) undone: Both,
    /// Who may make and book one.
    pub(crate) makers: (Verb, Model),
    /// Who may undo one.
    pub(crate) undoers: (Verb, Model),
    /// What a list calls one.
    pub(crate) name: fn(&Frame, &DocumentSummary) -> String,
    /// How much it is, in a list.
    pub(crate) size: fn(&Frame, &DocumentSummary) -> String,
    /// What the question calls it whether its draft is discarded.
    pub(crate) whole_name: fn(&Frame, &Document) -> String,
    /// The page of one that is booked; the text is why it was not undone.
    pub(crate) page: fn(&Frame, StatusCode, &Document, &str) -> Response,
}

impl DocumentPages {
    /// Where a document is: its draft leads on to its form.
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

    /// The document of an address, for those who may make one.
    pub(crate) async fn find(
        &self,
        page: &PageState,
        frame: &Frame,
        RecordId(id): RecordId,
    ) -> Result<Document, Refusal> {
        self.admit(frame)?;
        let id = id.ok_or(Refusal::NotFound)?;
        crate::stock::documents::read(&page.state, &frame.caller, (self.kind, id)).await
    }

    /// Leads to a document that was booked just now, with its Undo for those who may.
    pub(crate) fn booked(&self, frame: &Frame, id: i64, said: String) -> Response {
        let address = self.address(id);
        let mut flash = Flash::success(said);
        if self.may_undo(frame) {
            flash = flash.undo(format!("{address}undo/"));
        }
        flash::leave(see_other(&address), flash)
    }

    /// Leads to the draft of a document whose form was sent once more after it was booked and
    /// undone.
    pub(crate) fn undone_before(&self, frame: &Frame, id: i64) -> Response {
        flash::leave(see_other(&self.draft_address(id)), undone_before(frame))
    }
}

fn undone_before(frame: &Frame) -> Flash {
    Flash::warning(frame.text("Isto já foi desfeito.", "This has already been undone."))
}

/// The list and what lies below it, but for the forms.
pub(crate) fn routes(about: &'static DocumentPages) -> PageRouter {
    let below = |path: &str| format!("{}{path}", about.path);
    PageRouter::new()
        .route(
            about.path,
            get(async move |page: SharedPage, frame: Frame| list(about, page, frame).await),
        )
        .route(&below("{id}/"), get(of_one(about, show)))
        .route(&below("{id}/undo/"), post(of_one(about, undo)))
        .route(
            &below("{id}/delete/"),
            get(of_one(about, ask)).post(of_one(about, discard)),
        )
}

/// A document in a list.
struct DocumentRow {
    address: String,
    name: String,
    size: String,
    when: String,
    who: String,
}

#[derive(Template)]
#[template(path = "stock/documents.html")]
struct DocumentListPage<'a> {
    frame: &'a Frame,
    about: &'static DocumentPages,
    drafts: Vec<DocumentRow>,
    booked: Vec<DocumentRow>,
}

async fn list(
    about: &'static DocumentPages,
    Extracted(page): SharedPage,
    frame: Frame,
) -> PageResult {
    about.admit(&frame)?;
    let (drafts, booked) =
        crate::stock::documents::list(&page.state, &frame.caller, about.kind).await?;
    let row = |document: &DocumentSummary| DocumentRow {
        address: about.address(document.id),
        name: (about.name)(&frame, document),
        size: (about.size)(&frame, document),
        when: frame.locale.date_time(document.at),
        who: document.username.clone(),
    };
    Ok(frame.show(DocumentListPage {
        frame: &frame,
        about,
        drafts: drafts.iter().map(row).collect(),
        booked: booked.iter().map(row).collect(),
    }))
}

async fn show(
    about: &'static DocumentPages,
    Extracted(page): SharedPage,
    frame: Frame,
    id: RecordId,
    _request: Request,
) -> PageResult {
    let document = about.find(&page, &frame, id).await?;
    if !document.is_booked() {
        return Ok(redirect(&about.draft_address(document.id)));
    }
    Ok((about.page)(&frame, StatusCode::OK, &document, ""))
}

async fn undo(
    about: &'static DocumentPages,
    Extracted(page): SharedPage,
    frame: Frame,
    RecordId(id): RecordId,
    request: Request,
) -> PageResult {
    let (verb, model) = about.undoers;
    frame.require(verb, model)?;
    let (parts, body) = request.into_parts();
    FormSubmission::read(&page.state, &parts, body).await?;
    let id = id.ok_or(Refusal::NotFound)?;
    let (state, caller) = (&page.state, &frame.caller);
    let document = (about.kind, id);
    let flash = match crate::stock::documents::undo(state, (caller, frame.locale), document).await {
        Ok(true) => Flash::success(frame.say(about.undone)),
        Ok(false) => undone_before(&frame),
        Err(Refusal::Conflict(message)) => {
            let document = crate::stock::documents::read(state, caller, document).await?;
            let why = message.text(frame.locale);
            return Ok((about.page)(&frame, StatusCode::CONFLICT, &document, why));
        }
        Err(refusal) => return Err(refusal.into()),
    };
    // The draft is its maker's, who may be somebody else.
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

async fn ask(
    about: &'static DocumentPages,
    Extracted(page): SharedPage,
    frame: Frame,
    id: RecordId,
    _request: Request,
) -> PageResult {
    let document = about.find(&page, &frame, id).await?;
    if document.is_booked() {
        return Ok(redirect(&about.address(document.id)));
    }
    let deletion = Deletion::new(
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
    Ok(deletion.ask(&frame, Ok(()))?)
}

async fn discard(
    about: &'static DocumentPages,
    Extracted(page): SharedPage,
    frame: Frame,
    RecordId(id): RecordId,
    request: Request,
) -> PageResult {
    about.admit(&frame)?;
    let (parts, body) = request.into_parts();
    FormSubmission::read(&page.state, &parts, body).await?;
    let id = id.ok_or(Refusal::NotFound)?;
    let document = (about.kind, id);
    let flash = if crate::stock::documents::discard(&page.state, &frame.caller, document).await? {
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
