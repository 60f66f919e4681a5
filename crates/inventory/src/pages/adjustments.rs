//! The form "Ajustar estoque" of one product: the counted quantity, and the reason for the
//! difference. The form carries the quantity that it showed and a once-only token.

use askama::Template;
use axum::response::Response;
use resource::{Field, integer, text};

use crate::{
    access::{Model, Verb},
    catalogue::products::{ProductRecord, Products},
    page::{
        Form, FormSubmission, Frame, PageResult, flash, records,
        routes::{PageRouter, get},
        see_other,
    },
    rest::{
        Message, RecordId, Refusal,
        fields::{Mode, Reader},
        query::Parameters,
    },
    stock::adjustments::{
        AdjustmentResult, Explanation, Reason,
        model::{Adjustment, MAX_COUNTED, MAX_NOTE},
    },
};

/// The fields, in the order of the form.
const FIELDS: &[&str] = &["quantity", "reason", "note"];

const QUANTITY: &Field =
    &integer::<i64>("Quantidade contada", "Counted quantity", 0, MAX_COUNTED).named("quantity");
const NOTE: &Field = &text::<Option<String>>("Observação", "Note", MAX_NOTE).named("note");
/// The hidden field with the quantity that the form showed.
const SHOWN: &str = "shown";

/// `/products/<id>/adjust/`
pub(crate) fn routes() -> PageRouter {
    PageRouter::new().route("/products/{id}/adjust/", get(open).post(book))
}

#[derive(Template)]
#[template(path = "stock/adjustment_form.html")]
struct AdjustmentsPage<'a> {
    frame: &'a Frame,
    form: &'a Form,
    product: &'a ProductRecord,
    next: &'a str,
}

impl AdjustmentsPage<'_> {
    fn reasons(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let reasons = Reason::ALL.into_iter();
        reasons.map(|reason| (reason.name(), self.frame.say(reason.words())))
    }
}

async fn find(frame: &Frame, id: RecordId) -> Result<ProductRecord, Refusal> {
    frame.require(Verb::Change, Model::Product)?;
    records::find(Products, &frame.state, id).await
}

/// `GET …/adjust/`. The query string may fill in values; `by` is the difference to the current
/// quantity.
async fn open(frame: Frame, id: RecordId, parameters: Parameters) -> PageResult {
    let product = find(&frame, id).await?;
    let by = parameters.get("by").and_then(|by| by.parse().ok());
    let counted = by.and_then(|by: i64| product.quantity.checked_add(by));
    let counted = counted.filter(|counted| *counted >= 0);
    let typed = |name| parameters.get(name).unwrap_or_default();
    let form = Form::new()
        .with(SHOWN, product.quantity.to_string())
        .with(
            "quantity",
            counted.map_or_else(String::new, |counted| counted.to_string()),
        )
        .with("reason", typed("reason"))
        .with("note", typed("note"));
    Ok(frame.show(AdjustmentsPage {
        frame: &frame,
        form: &form,
        product: &product,
        next: typed("next"),
    }))
}

async fn book(frame: Frame, id: RecordId, mut post: FormSubmission) -> PageResult {
    let product = find(&frame, id).await?;
    let next = post.text("next");
    let key = post.idempotency_key(&frame, "adjustments");
    let Some(adjustment) = read(&mut post, &frame) else {
        return Ok(again(&frame, post.form, &product, &next));
    };
    let booked =
        crate::stock::adjustments::book(&frame.state, &frame.caller, product.id, adjustment, key)
            .await;
    match booked {
        Ok(adjusted) => {
            let back = see_other(&frame.back(&next));
            Ok(flash::success(back, message(&frame, &adjusted)))
        }
        Err(refusal) => {
            post.form.take(refusal, frame.locale)?;
            let now = find(&frame, RecordId(Some(product.id))).await?;
            // The form now shows the current quantity, so submitting it again confirms the
            // adjustment.
            post.form.set(SHOWN, now.quantity.to_string());
            Ok(again(&frame, post.form, &now, &next))
        }
    }
}

/// Parses the form. `None` if it is invalid; the form then has the errors.
fn read(post: &mut FormSubmission, frame: &Frame) -> Option<Adjustment> {
    let locale = frame.locale;
    post.form.describe(QUANTITY);
    post.read_fields(&[QUANTITY, NOTE], locale);
    let mut reader = Reader::new(&post.members, Mode::Whole);
    let quantity = reader.read(QUANTITY);
    let note: Option<Option<String>> = reader.read(NOTE);
    post.form.absorb(&reader.finish(), locale);
    let reason = Reason::of(post.form.value("reason"));
    if reason.is_none() {
        post.form.complain("reason", Message::REQUIRED.text(locale));
    }
    let explanation = Explanation {
        reason: reason?,
        note: note.flatten(),
    };
    (!post.form.is_refused()).then_some(Adjustment {
        quantity: quantity?,
        shown: post.form.value(SHOWN).parse().ok(),
        explanation,
    })
}

fn again(frame: &Frame, mut form: Form, product: &ProductRecord, next: &str) -> Response {
    form.sort(FIELDS);
    frame.show_again(AdjustmentsPage {
        frame,
        form: &form,
        product,
        next,
    })
}

/// `Estoque ajustado: Café. De 15 para 12.`
fn message(frame: &Frame, adjusted: &AdjustmentResult) -> String {
    let AdjustmentResult {
        title,
        before,
        after,
    } = adjusted;
    let (before, after) = (frame.locale.number(*before), frame.locale.number(*after));
    let (label, from, to) = (
        frame.text("Estoque ajustado", "Stock adjusted"),
        frame.text("De", "From"),
        frame.text("para", "to"),
    );
    if before == after {
        let nothing = frame.text(
            "A contagem confere: nada a ajustar.",
            "The count agrees: nothing to adjust.",
        );
        return format!("{title}: {after}. {nothing}");
    }
    format!("{label}: {title}. {from} {before} {to} {after}.")
}
