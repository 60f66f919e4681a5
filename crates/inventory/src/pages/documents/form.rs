//! The common parts of the forms of drafts: one product to add, typed or scanned, and the
//! quantities of the existing lines. A single form submits everything, so no button loses what was
//! typed.

use web::locale::Locale;

use crate::{
    catalogue::products,
    page::{Form, FormSubmission, Frame, numbers, picker::Picker},
    rest::{Message, Refusal},
    stock::documents::{DocumentKind, DocumentLine, Quantities},
};

/// The product to add with its quantity, and the product whose code was typed as the quantity. The
/// second happens when a user scans several products in a row: the next code lands in the quantity
/// field of the previous one.
pub(crate) async fn added(
    frame: &Frame,
    post: &mut FormSubmission,
    kind: DocumentKind,
    product: &Picker,
) -> Result<(Option<(i64, i64)>, Option<i64>), Refusal> {
    let id = product.id.parse().ok();
    if id.is_none() && post.form.error(product.name).is_empty() {
        return Ok((None, None));
    }
    let typed = post.text("quantity");
    let message = match quantity(kind, &typed, frame.locale) {
        Ok(quantity) => return Ok((id.map(|id| (id, quantity)), None)),
        Err(message) => message,
    };
    if let Some(next) = products::with_serie_number(&frame.state, &typed).await? {
        return Ok((id.map(|id| (id, 1)), Some(next.id)));
    }
    post.form.complain("quantity", message.text(frame.locale));
    Ok((None, None))
}

/// The errors of lines, by line id.
pub(crate) type LineProblems = Vec<(i64, Message)>;

/// The lines whose quantity differs from what the form showed. Other lines are left alone, since
/// another user may have changed them.
pub(crate) fn quantities(
    form: &mut Form,
    kind: DocumentKind,
    lines: &[DocumentLine],
    locale: Locale,
) -> (Quantities, LineProblems) {
    let (mut changed, mut problems, mut titles) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        let Some(typed) = form.get(&quantity_field(line.id)) else {
            continue;
        };
        if typed.trim() == form.value(&shown_field(line.id)) {
            continue;
        }
        if kind == DocumentKind::Count && typed.trim().is_empty() {
            changed.push((line.id, None));
            continue;
        }
        match quantity(kind, typed, locale) {
            Ok(quantity) => changed.push((line.id, Some(quantity))),
            Err(message) => {
                problems.push((line.id, message));
                titles.push(line.product.title.as_str());
            }
        }
    }
    if !titles.is_empty() {
        let label = locale.text("Confira a quantidade de", "Check the quantity of");
        form.problem = format!("{label}: {}.", titles.join(", "));
    }
    (changed, problems)
}

pub(crate) fn quantity_field(line: i64) -> String {
    format!("quantity_{line}")
}

fn shown_field(line: i64) -> String {
    format!("shown_{line}")
}

/// The quantity of a line as typed, else as stored, and its error. What the form showed was not
/// typed.
pub(crate) fn typed(
    form: &Form,
    line: &DocumentLine,
    problems: &[(i64, Message)],
    locale: Locale,
) -> (String, String) {
    let typed = form.get(&quantity_field(line.id));
    let typed = typed.filter(|typed| Some(typed.trim()) != form.get(&shown_field(line.id)));
    let stored = || {
        line.quantity
            .map_or_else(String::new, |units| units.to_string())
    };
    let problem = problems.iter().find(|(id, _)| *id == line.id);
    (
        typed.map_or_else(stored, str::to_owned),
        problem.map_or_else(String::new, |(_, message)| message.text(locale).to_owned()),
    )
}

fn quantity(kind: DocumentKind, typed: &str, locale: Locale) -> Result<i64, Message> {
    let plain = numbers::count(typed, locale).map_err(|_| Message::NOT_AN_INTEGER)?;
    let quantity = plain.parse().map_err(|_| Message::NOT_AN_INTEGER)?;
    kind.check_quantity(quantity)
}

/// `Adicionado: 3 × Café. Na lista: 5.`
pub(crate) fn added_message(
    frame: &Frame,
    added: Option<(i64, i64)>,
    title: &str,
    total: i64,
) -> String {
    let quantity = added.map_or(0, |(_, quantity)| quantity);
    format!(
        "{}: {} × {title}. {} {}.",
        frame.text("Adicionado", "Added"),
        frame.locale.number(quantity),
        frame.text("Na lista:", "In the list:"),
        frame.locale.number(total)
    )
}
