//! The pages of receiving goods: drafts and what was booked last, a booked receipt, undoing it, discarding a draft. The draft is in `form`.

mod form;

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use http::StatusCode;

use super::{Receipt, Summary};
use crate::{
    accounts::{Model, Verb},
    page::{
        Frame, PageState, Post,
        delete::Deletion,
        flash::{self, Flash},
        redirect,
        routes::{PageRouter, get, post},
        see_other,
    },
    rest::{Refusal, resource::RecordId},
};

type Answer = Result<Response, web::Error>;
type Page = Extracted<PageState>;

const LIST: &str = "/receiving/";

/// `/receiving/` and what lies below it.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .route(LIST, get(list))
        .route("/receiving/new/", get(form::new).post(form::begin))
        .route("/receiving/{id}/", get(show))
        .route("/receiving/{id}/edit/", get(form::edit).post(form::change))
        .route("/receiving/{id}/undo/", post(undo))
        .route("/receiving/{id}/delete/", get(ask).post(discard))
}

/// Where a receipt is: its draft, or what was booked.
fn address(id: i64) -> String {
    format!("{LIST}{id}/")
}

fn draft_address(id: i64) -> String {
    format!("{LIST}{id}/edit/")
}

fn admit(frame: &Frame) -> Result<(), Refusal> {
    frame.require(Verb::Add, Model::Inflow)
}

async fn find(page: &PageState, frame: &Frame, RecordId(id): RecordId) -> Result<Receipt, Refusal> {
    admit(frame)?;
    let id = id.ok_or(Refusal::NotFound)?;
    super::read(&page.state, &frame.caller, id).await
}

/// `8 produtos · 63 unidades`
fn counted(frame: &Frame, products: i64, units: i64) -> String {
    let locale = frame.locale;
    let number = |count: i64, one: &str, many: &str| {
        let word = if count == 1 { one } else { many };
        format!("{} {word}", locale.number(count))
    };
    format!(
        "{} · {}",
        number(
            products,
            frame.text("produto", "product"),
            frame.text("produtos", "products")
        ),
        number(
            units,
            frame.text("unidade", "unit"),
            frame.text("unidades", "units")
        ),
    )
}

/// The sums of a receipt: `8 produtos · 63 unidades · R$ 1.234,00 a preço de custo`.
fn sums(frame: &Frame, receipt: &Receipt) -> String {
    let products = i64::try_from(receipt.lines.len()).unwrap_or(i64::MAX);
    let counted = counted(frame, products, receipt.units());
    let at_cost = frame.text("a preço de custo", "at cost price");
    match receipt.cost() {
        Some(cost) => format!("{counted} · {} {at_cost}", frame.locale.money(cost)),
        None => counted,
    }
}

/// A receipt in a list.
struct Row {
    address: String,
    /// The supplier, and the invoice where there is a number.
    text: String,
    sums: String,
    when: String,
    who: String,
}

impl Row {
    fn of(frame: &Frame, receipt: &Summary) -> Self {
        let supplier = receipt.supplier.as_deref();
        let supplier = supplier.unwrap_or(frame.text("Sem fornecedor", "No supplier"));
        Self {
            address: address(receipt.id),
            text: match receipt.invoice.as_str() {
                "" => supplier.to_owned(),
                invoice => format!("{supplier} · {invoice}"),
            },
            sums: counted(frame, receipt.products, receipt.units),
            when: frame.locale.date_time(receipt.at),
            who: receipt.username.clone(),
        }
    }
}

#[derive(Template)]
#[template(path = "stock/receiving.html")]
struct ListPage<'a> {
    frame: &'a Frame,
    drafts: Vec<Row>,
    booked: Vec<Row>,
}

async fn list(Extracted(page): Page, frame: Frame) -> Answer {
    admit(&frame)?;
    let (drafts, booked) = super::list(&page.state, &frame.caller).await?;
    let rows = |receipts: &[Summary]| {
        let rows = receipts.iter().map(|receipt| Row::of(&frame, receipt));
        rows.collect::<Vec<_>>()
    };
    Ok(frame.show(ListPage {
        frame: &frame,
        drafts: rows(&drafts),
        booked: rows(&booked),
    }))
}

#[derive(Template)]
#[template(path = "stock/receipt.html")]
struct ReceiptPage<'a> {
    frame: &'a Frame,
    receipt: &'a Receipt,
    sums: String,
    when: String,
    may_undo: bool,
    /// Why it was not undone.
    problem: &'a str,
}

impl<'a> ReceiptPage<'a> {
    fn of(frame: &'a Frame, receipt: &'a Receipt, problem: &'a str) -> Self {
        let booked_at = receipt.booked_at;
        Self {
            frame,
            receipt,
            sums: sums(frame, receipt),
            when: booked_at.map_or_else(String::new, |at| frame.locale.date_time(at)),
            may_undo: frame.may(Verb::Delete, Model::Inflow),
            problem,
        }
    }

    fn cost(&self, line: &super::Line) -> String {
        let cost = line.cost();
        cost.map_or_else(|| "–".to_owned(), |cost| self.frame.locale.money(cost))
    }
}

async fn show(Extracted(page): Page, frame: Frame, id: RecordId) -> Answer {
    let receipt = find(&page, &frame, id).await?;
    if !receipt.is_booked() {
        return Ok(redirect(&draft_address(receipt.id)));
    }
    Ok(frame.show(ReceiptPage::of(&frame, &receipt, "")))
}

/// The page of a receipt that is booked, with its Undo for those who may delete inflows.
fn booked(frame: &Frame, receipt: &Receipt) -> Response {
    let said = frame.text("Mercadoria recebida", "Goods received");
    let flash = Flash::success(format!("{said}: {}.", sums(frame, receipt)));
    let flash = if frame.may(Verb::Delete, Model::Inflow) {
        flash.undo(format!("{}undo/", address(receipt.id)))
    } else {
        flash
    };
    flash::leave(see_other(&address(receipt.id)), flash)
}

async fn undo(Extracted(page): Page, frame: Frame, id: RecordId, request: Request) -> Answer {
    frame.require(Verb::Delete, Model::Inflow)?;
    let (parts, body) = request.into_parts();
    Post::read(&page.state, &parts, body).await?;
    let id = id.0.ok_or(Refusal::NotFound)?;
    let is_undone = match super::undo(&page.state, &frame.caller, id).await {
        Ok(is_undone) => is_undone,
        Err(Refusal::Conflict(message)) => {
            let receipt = super::read(&page.state, &frame.caller, id).await?;
            let shown = ReceiptPage::of(&frame, &receipt, message.text(frame.locale));
            return Ok(frame.show_with(StatusCode::CONFLICT, shown));
        }
        Err(refusal) => return Err(refusal.into()),
    };
    let flash = if is_undone {
        Flash::success(frame.text(
            "Recebimento desfeito. A lista voltou a ser um rascunho de quem a fez.",
            "Receipt undone. Its list is a draft again, of whoever made it.",
        ))
    } else {
        undone_before(&frame)
    };
    // The draft is its maker's, who may be somebody else.
    let is_own = super::read(&page.state, &frame.caller, id).await.is_ok();
    let next = if is_own {
        draft_address(id)
    } else {
        LIST.to_owned()
    };
    Ok(flash::leave(see_other(&next), flash))
}

fn undone_before(frame: &Frame) -> Flash {
    Flash::warning(frame.text("Isto já foi desfeito.", "This has been undone already."))
}

fn deletion(frame: &Frame, receipt: &Receipt) -> Deletion {
    let supplier = receipt.supplier.as_ref();
    let supplier = supplier.map(|supplier| supplier.name.as_str());
    Deletion {
        title: frame
            .text("Descartar o rascunho?", "Discard the draft?")
            .to_owned(),
        name: format!(
            "{} · {}",
            supplier.unwrap_or(frame.text("Sem fornecedor", "No supplier")),
            sums(frame, receipt)
        ),
        sentence: frame.text(
            "A lista é apagada. O estoque não muda.",
            "The list is deleted. The stock does not change.",
        ),
        confirm: frame
            .text("Sim, descartar o rascunho", "Yes, discard the draft")
            .to_owned(),
        back: draft_address(receipt.id),
        next: String::new(),
        blocking: None,
        problem: String::new(),
    }
}

async fn ask(Extracted(page): Page, frame: Frame, id: RecordId) -> Answer {
    let receipt = find(&page, &frame, id).await?;
    if receipt.is_booked() {
        return Ok(redirect(&address(receipt.id)));
    }
    Ok(deletion(&frame, &receipt).ask(&frame, Ok(()))?)
}

async fn discard(
    Extracted(page): Page,
    frame: Frame,
    RecordId(id): RecordId,
    request: Request,
) -> Answer {
    admit(&frame)?;
    let (parts, body) = request.into_parts();
    Post::read(&page.state, &parts, body).await?;
    let id = id.ok_or(Refusal::NotFound)?;
    let flash = if super::discard(&page.state, &frame.caller, id).await? {
        Flash::success(frame.text("Rascunho descartado.", "Draft discarded."))
    } else {
        Flash::warning(frame.text(
            "Este rascunho não existe mais.",
            "This draft does not exist any more.",
        ))
    };
    Ok(flash::leave(see_other(LIST), flash))
}
