//! The form of a count's draft: its lines with the counted quantities, and an input for a scanner.
//! The ledger's quantities are not shown, so that nobody counts what they expect.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;

use super::{ABOUT, progress, review_address, to_draft};
use crate::{
    page::{Form, FormSubmission, Frame, PageResult, flash, picker::Picker, redirect, see_other},
    pages::documents::form::{self, added, added_message},
    rest::{Message, RecordId},
    stock::{
        counts::{CountChange, save},
        documents::{Document, DocumentKind, DocumentLine, DocumentOutcome},
    },
};

/// The fields, in the order of the form.
const FIELDS: &[&str] = &["product", "quantity"];

/// A line as the form shows it.
struct CountedRow<'a> {
    line: &'a DocumentLine,
    /// The stored quantity.
    shown: String,
    typed: String,
    problem: String,
}

impl CountedRow<'_> {
    /// The code that a scanner reads. Empty without a code, or if the product was deleted.
    fn code(&self) -> &str {
        let present = self.line.present.as_ref();
        let number = present.and_then(|present| present.serie_number.as_deref());
        number.unwrap_or_default()
    }
}

#[derive(Template)]
#[template(path = "stock/count_form.html")]
struct CountFormPage<'a> {
    frame: &'a Frame,
    form: &'a Form,
    count: &'a Document,
    product: &'a Picker,
    rows: Vec<CountedRow<'a>>,
    progress: String,
    is_at_product: bool,
}

impl<'a> CountFormPage<'a> {
    fn of(
        frame: &'a Frame,
        form: &'a Form,
        count: &'a Document,
        product: &'a Picker,
        problems: &[(i64, Message)],
    ) -> Self {
        // In the order in which the products were listed. Products added during the count come
        // last.
        let rows = count.lines.iter().rev().map(|line| {
            let (typed, problem) = form::typed(form, line, problems, frame.locale);
            CountedRow {
                line,
                shown: line
                    .quantity
                    .map_or_else(String::new, |units| units.to_string()),
                typed,
                problem,
            }
        });
        Self {
            frame,
            form,
            count,
            product,
            rows: rows.collect(),
            progress: progress(frame, count),
            is_at_product: !form.is_refused(),
        }
    }
}

/// `GET /counts/{id}/edit/`
pub(super) async fn edit(frame: Frame, id: RecordId) -> PageResult {
    let count = ABOUT.find(&frame, id).await?;
    if count.is_booked() {
        return Ok(redirect(&ABOUT.address(count.id)));
    }
    let form = Form::new().with("quantity", "1");
    let product = Picker::product(&frame);
    let shown = CountFormPage::of(&frame, &form, &count, &product, &[]);
    Ok(frame.show(shown))
}

/// `POST /counts/{id}/edit/`
pub(super) async fn change(frame: Frame, id: RecordId, mut post: FormSubmission) -> PageResult {
    let count = ABOUT.find(&frame, id).await?;
    if count.is_booked() {
        return Ok(see_other(&ABOUT.address(count.id)));
    }
    let (state, locale) = (&frame.state, frame.locale);
    let key = post.idempotency_key(&frame, "counts");
    let product = post.pick(&frame, Picker::product(&frame)).await?;
    let (quantities, problems) =
        form::quantities(&mut post.form, DocumentKind::Count, &count.lines, locale);
    let (added, scanned) = added(&frame, &mut post, DocumentKind::Count, &product).await?;
    let button = post.text("do");
    let mut form = post.form;
    let again = |mut form: Form| {
        form.sort(FIELDS);
        let shown = CountFormPage::of(&frame, &form, &count, &product, &problems);
        frame.show_again(shown)
    };
    if form.is_refused() {
        return Ok(again(form));
    }
    let added: Vec<_> = added
        .into_iter()
        .chain(scanned.map(|next| (next, 1)))
        .collect();
    let last = added.last().copied();
    let change = CountChange { quantities, added };
    match save(state, &frame.caller, count.id, change, key).await {
        Ok(saved) => Ok(done(&frame, count.id, &saved.outcome, (&button, last))),
        Err(refusal) => {
            form.take(refusal, locale)?;
            Ok(again(form))
        }
    }
}

/// Responds to a saved draft by the button that was pressed. `last` is the product that was added.
fn done(
    frame: &Frame,
    id: i64,
    outcome: &DocumentOutcome,
    (button, last): (&str, Option<(i64, i64)>),
) -> Response {
    let DocumentOutcome::Draft(added) = outcome else {
        return see_other(&ABOUT.address(id));
    };
    let message = added
        .as_ref()
        .map(|(title, total)| added_message(frame, last, title, *total));
    match (button, message) {
        // The script saves each quantity while the user types.
        ("keep", _) => StatusCode::NO_CONTENT.into_response(),
        ("review", None) => see_other(&review_address(id)),
        ("review", Some(message)) => flash::success(see_other(&review_address(id)), message),
        (_, message) => {
            let saved = || frame.text("Rascunho salvo.", "Draft saved.").to_owned();
            let message = message.unwrap_or_else(saved);
            flash::success(to_draft(id), message)
        }
    }
}
