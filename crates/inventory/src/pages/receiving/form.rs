//! The form of a receipt's draft: supplier and invoice, a product to add, and the existing lines.
//! The first button adds the product, so Enter does the same.

use askama::Template;
use axum::response::Response;

use super::{ABOUT, booked, cost_text, sums};
use crate::{
    page::{Form, FormSubmission, Frame, PageResult, flash, picker::Picker, redirect, see_other},
    pages::documents::form::{self, LineProblems, added, added_message},
    rest::{
        RecordId, Refusal,
        fields::{Mode, Reader},
        query::Parameters,
    },
    stock::{
        documents::{self, Document, DocumentKind, DocumentLine, DocumentOutcome, SaveResult},
        receiving::model::{DraftChange, DraftStep, INVOICE, as_shown},
    },
};

/// The fields, in the order of the form.
const FIELDS: &[&str] = &["supplier", INVOICE.name, "product", "quantity"];
/// The path of the idempotency key for a draft that is not stored yet.
const PATH: &str = "receiving";

/// A line as the form shows it.
struct ReceiptRow<'a> {
    line: &'a DocumentLine,
    typed: String,
    cost: String,
    problem: String,
}

#[derive(Template)]
#[template(path = "stock/receiving_form.html")]
struct ReceiptFormPage<'a> {
    frame: &'a Frame,
    form: &'a Form,
    /// `None` before the draft is stored.
    id: Option<i64>,
    supplier: &'a Picker,
    product: &'a Picker,
    add_supplier: String,
    rows: Vec<ReceiptRow<'a>>,
    /// The lines, as [`as_shown`] writes them.
    shown: String,
    sums: String,
    is_at_supplier: bool,
    is_at_product: bool,
    is_at_quantity: bool,
}

/// The state of the form.
struct ShownProduct {
    form: Form,
    receipt: Option<Document>,
    supplier: Picker,
    product: Picker,
    problems: LineProblems,
}

impl ShownProduct {
    fn row<'a>(&self, frame: &Frame, line: &'a DocumentLine) -> ReceiptRow<'a> {
        let (typed, problem) = form::typed(&self.form, line, &self.problems, frame.locale);
        ReceiptRow {
            line,
            typed,
            cost: cost_text(frame, line),
            problem,
        }
    }

    fn page<'a>(&'a self, frame: &'a Frame) -> ReceiptFormPage<'a> {
        let receipt = self.receipt.as_ref();
        let lines = receipt.map_or(&[][..], |receipt| &receipt.lines);
        // The focus is at the errors, the quantity of a chosen product, a missing supplier, else at
        // the product.
        let (is_refused, is_chosen) = (self.form.is_refused(), !self.product.id.is_empty());
        let is_free = !is_refused && !is_chosen;
        let is_at_supplier = is_free && receipt.is_none() && self.supplier.id.is_empty();
        ReceiptFormPage {
            frame,
            form: &self.form,
            id: receipt.map(|receipt| receipt.id),
            supplier: &self.supplier,
            product: &self.product,
            add_supplier: self.supplier.add_address(frame),
            rows: lines.iter().map(|line| self.row(frame, line)).collect(),
            shown: as_shown(lines),
            sums: receipt
                .filter(|receipt| !receipt.lines.is_empty())
                .map_or_else(String::new, |receipt| sums(frame, receipt)),
            is_at_supplier,
            is_at_product: is_free && !is_at_supplier,
            is_at_quantity: !is_refused && is_chosen,
        }
    }
}

/// `GET /receiving/new/`
pub(super) async fn new(frame: Frame, parameters: Parameters) -> PageResult {
    ABOUT.admit(&frame)?;
    show(&frame, None, &parameters).await
}

/// `GET /receiving/{id}/edit/`
pub(super) async fn edit(frame: Frame, id: RecordId, parameters: Parameters) -> PageResult {
    let receipt = ABOUT.find(&frame, id).await?;
    if receipt.is_booked() {
        return Ok(redirect(&ABOUT.address(receipt.id)));
    }
    show(&frame, Some(receipt), &parameters).await
}

/// Shows the form. The query string may choose a supplier and a product.
async fn show(frame: &Frame, receipt: Option<Document>, parameters: &Parameters) -> PageResult {
    let state = &frame.state;
    let stored = receipt
        .as_ref()
        .and_then(|receipt| receipt.supplier.as_ref());
    let stored = stored.map(|supplier| supplier.id.to_string());
    let supplier = parameters.get("supplier").or(stored.as_deref());
    let invoice = receipt.as_ref().map_or("", |receipt| &receipt.label);
    let shown = ShownProduct {
        form: Form::new().with("quantity", "1").with("invoice", invoice),
        supplier: Picker::supplier(frame)
            .choose_known(state, supplier)
            .await?,
        product: Picker::product(frame)
            .choose_known(state, parameters.get("product"))
            .await?,
        receipt,
        problems: Vec::new(),
    };
    Ok(frame.show(shown.page(frame)))
}

/// `POST /receiving/new/`
pub(super) async fn begin(frame: Frame, post: FormSubmission) -> PageResult {
    ABOUT.admit(&frame)?;
    save(&frame, None, post).await
}

/// `POST /receiving/{id}/edit/`
pub(super) async fn change(frame: Frame, id: RecordId, post: FormSubmission) -> PageResult {
    let receipt = ABOUT.find(&frame, id).await?;
    if receipt.is_booked() {
        return Ok(booked(&frame, &receipt));
    }
    save(&frame, Some(receipt), post).await
}

async fn save(frame: &Frame, receipt: Option<Document>, mut post: FormSubmission) -> PageResult {
    let (state, locale) = (&frame.state, frame.locale);
    let key = post.idempotency_key(frame, PATH);
    let supplier = post.pick(frame, Picker::supplier(frame)).await?;
    let product = post.pick(frame, Picker::product(frame)).await?;
    let pickers = (&supplier, &product);
    let (change, scanned, problems) = read(frame, &mut post, receipt.as_ref(), pickers).await?;
    let mut shown = ShownProduct {
        form: post.form,
        receipt,
        supplier,
        product,
        problems,
    };
    if shown.form.is_refused() {
        return Ok(again(frame, shown));
    }
    let id = shown.receipt.as_ref().map(|receipt| receipt.id);
    let who = (&frame.caller, locale);
    match crate::stock::receiving::save(state, who, id, change.clone(), key).await {
        Ok(saved) => done(frame, &saved, &change, (&shown, scanned)).await,
        Err(refusal) => {
            shown.form.take(refusal, locale)?;
            if let Some(id) = id {
                let document = (DocumentKind::Receipt, id);
                shown.receipt = Some(documents::read(state, &frame.caller, document).await?);
            }
            Ok(again(frame, shown))
        }
    }
}

fn again(frame: &Frame, mut shown: ShownProduct) -> Response {
    shown.form.sort(FIELDS);
    frame.show_again(shown.page(frame))
}

/// Parses the form: the change of the draft, the product whose code was typed as the quantity, and
/// the errors of lines.
async fn read(
    frame: &Frame,
    post: &mut FormSubmission,
    receipt: Option<&Document>,
    (supplier, product): (&Picker, &Picker),
) -> Result<(DraftChange, Option<i64>, LineProblems), Refusal> {
    let locale = frame.locale;
    let mut reader = Reader::new(&post.members, Mode::Partial);
    let invoice = reader.read::<Option<String>>(INVOICE).flatten();
    post.form.absorb(&reader.finish(), locale);
    let lines = receipt.map_or(&[][..], |receipt| &receipt.lines);
    let (quantities, problems) =
        form::quantities(&mut post.form, DocumentKind::Receipt, lines, locale);
    let (added, scanned) = added(frame, post, DocumentKind::Receipt, product).await?;
    let change = DraftChange {
        shown: post.form.get("shown").map(str::to_owned),
        supplier: supplier.id.parse().ok(),
        invoice: invoice.unwrap_or_default(),
        quantities,
        added,
        step: step(post.form.value("do")),
    };
    Ok((change, scanned, problems))
}

/// The action of the pressed button.
fn step(button: &str) -> DraftStep {
    let removed = button.strip_prefix("remove-");
    match removed.and_then(|line| line.parse().ok()) {
        Some(line) => DraftStep::Remove(line),
        None if button == "book" => DraftStep::Book,
        None => DraftStep::Keep,
    }
}

async fn done(
    frame: &Frame,
    saved: &SaveResult,
    change: &DraftChange,
    (shown, scanned): (&ShownProduct, Option<i64>),
) -> PageResult {
    let added = match &saved.outcome {
        DocumentOutcome::Booked => {
            let document = (DocumentKind::Receipt, saved.id);
            let receipt = documents::read(&frame.state, &frame.caller, document).await?;
            return Ok(booked(frame, &receipt));
        }
        DocumentOutcome::Undone => return Ok(ABOUT.undone_before(frame, saved.id)),
        DocumentOutcome::Draft(added) => added.as_ref(),
    };
    let draft = ABOUT.draft_address(saved.id);
    let next = match scanned {
        Some(product) => format!("{draft}?product={product}"),
        None => draft,
    };
    let message = match (added, change.step) {
        (Some((title, total)), _) => added_message(frame, change.added, title, *total),
        (None, DraftStep::Remove(id)) => removed_message(frame, shown, id),
        (None, _) => frame.text("Rascunho salvo.", "Draft saved.").to_owned(),
    };
    Ok(flash::success(see_other(&next), message))
}

fn removed_message(frame: &Frame, shown: &ShownProduct, id: i64) -> String {
    let mut lines = shown.receipt.iter().flat_map(|receipt| &receipt.lines);
    let removed = lines.find(|line| line.id == id);
    let title = removed.map_or("", |line| &line.product.title);
    let label = frame.text("Removido da lista", "Removed from the list");
    format!("{label}: {title}.")
}
