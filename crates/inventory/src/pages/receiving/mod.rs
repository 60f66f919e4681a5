//! The pages of receiving goods: their texts, and a booked receipt. The common pages of documents
//! are in `documents`; `form` edits the draft.

mod form;

use askama::Template;
use axum::response::Response;

use super::documents::{self, DocumentPages, products};
use crate::{
    access::{Model, Verb},
    page::{
        Frame,
        routes::{PageRouter, get},
    },
    stock::{
        documents::{Document, DocumentKind, DocumentLine, DocumentSummary},
        receiving::model::{cost, total_cost, units},
    },
};

/// The texts and rules of the pages of receipts.
static ABOUT: DocumentPages = DocumentPages {
    kind: DocumentKind::Receipt,
    path: "/receiving/",
    icon: "truck",
    title: ("Receber mercadoria", "Receive goods"),
    lead: (
        "Uma nota, muitos produtos: o estoque só muda quando você registra a lista inteira.",
        "One invoice, many products: the stock changes only when you book the whole list.",
    ),
    begin: ("Nova lista", "New list"),
    names: ("Fornecedor e nota", "Supplier and invoice"),
    booked_last: ("Recebidas por último", "Received last"),
    undone: (
        "Recebimento desfeito. A lista voltou aos rascunhos de quem a fez.",
        "Receipt undone. Its list is back among the drafts of the person who made it.",
    ),
    makers: (Verb::Add, Model::Inflow),
    undoers: (Verb::Delete, Model::Inflow),
    name,
    size: |frame, receipt| counted(frame, receipt.products, receipt.units),
    whole_name: |frame, receipt| {
        let supplier = receipt.supplier.as_ref();
        let supplier = supplier.map(|supplier| supplier.name.as_str());
        format!("{} · {}", or_none(frame, supplier), sums(frame, receipt))
    },
    page: |frame, status, receipt, problem| {
        frame.show_with(status, ReceiptPage::of(frame, receipt, problem))
    },
};

/// `/receiving/` and the paths below it.
pub(crate) fn routes() -> PageRouter {
    documents::routes(&ABOUT)
        .route("/receiving/new/", get(form::new).post(form::begin))
        .route("/receiving/{id}/edit/", get(form::edit).post(form::change))
}

fn or_none<'a>(frame: &Frame, supplier: Option<&'a str>) -> &'a str {
    supplier.unwrap_or(frame.text("Sem fornecedor", "No supplier"))
}

/// The supplier, and the invoice number if there is one.
fn name(frame: &Frame, receipt: &DocumentSummary) -> String {
    let supplier = or_none(frame, receipt.supplier.as_deref());
    match receipt.label.as_str() {
        "" => supplier.to_owned(),
        invoice => format!("{supplier} · {invoice}"),
    }
}

/// `8 produtos · 63 unidades`
fn counted(frame: &Frame, count: i64, units: i64) -> String {
    let word = if units == 1 {
        frame.text("unidade", "unit")
    } else {
        frame.text("unidades", "units")
    };
    let units = frame.locale.number(units);
    format!("{} · {units} {word}", products(frame, count))
}

/// The sums of a receipt: `8 produtos · 63 unidades · R$ 1.234,00 a preço de custo`.
fn sums(frame: &Frame, receipt: &Document) -> String {
    let lines = &receipt.lines;
    let count = i64::try_from(lines.len()).unwrap_or(i64::MAX);
    let counted = counted(frame, count, units(lines));
    let at_cost = frame.text("a preço de custo", "at cost price");
    match total_cost(lines) {
        Some(cost) => format!("{counted} · {} {at_cost}", frame.locale.money(cost)),
        None => counted,
    }
}

/// The formatted cost of a line.
fn cost_text(frame: &Frame, line: &DocumentLine) -> String {
    cost(line).map_or_else(|| "–".to_owned(), |cost| frame.locale.money(cost))
}

#[derive(Template)]
#[template(path = "stock/receipt.html")]
struct ReceiptPage<'a> {
    frame: &'a Frame,
    receipt: &'a Document,
    sums: String,
    when: String,
    may_undo: bool,
    /// Why undoing it failed.
    problem: &'a str,
}

impl<'a> ReceiptPage<'a> {
    fn of(frame: &'a Frame, receipt: &'a Document, problem: &'a str) -> Self {
        let booked_at = receipt.booked_at;
        Self {
            frame,
            receipt,
            sums: sums(frame, receipt),
            when: booked_at.map_or_else(String::new, |at| frame.locale.date_time(at)),
            may_undo: ABOUT.may_undo(frame),
            problem,
        }
    }
}

/// Redirects to a booked receipt.
fn booked(frame: &Frame, receipt: &Document) -> Response {
    let text = frame.text("Mercadoria recebida", "Goods received");
    let text = format!("{text}: {}.", sums(frame, receipt));
    ABOUT.booked(frame, receipt.id, text)
}
