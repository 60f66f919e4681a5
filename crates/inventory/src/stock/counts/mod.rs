//! Stock counts. Products of a category, brand, supplier or list are counted line by line, and the
//! differences from the ledger are booked as adjustments in one transaction. Drafts and their lines
//! are in `documents`. Undoing a count books the opposite differences. Products that were not
//! counted do not change.
//!
//! Each line stores the ledger's quantity at the time when its number was last written. The
//! difference from that quantity is booked, so later sales do not matter.

pub(crate) mod model;
mod store;

pub(crate) use store::LAST_INFLOWS;

use db::Conn;
use web::locale::Locale;

use super::{
    adjustments::{self, Explanation, MAX_NOTE, Reason},
    documents::{
        self, Document, DocumentKind, DocumentLine, DocumentOutcome, SaveResult, lock_stock, naming,
    },
    store::lock_quantity,
};
use crate::{
    State,
    access::Caller,
    idempotency::IdempotencyKey,
    rest::{Refusal, fields::FieldErrors, json::Titled},
    work::Work,
};
use documents::store as drafts;

/// The changes that a form makes to a draft.
#[derive(Debug, Clone)]
pub(crate) struct CountChange {
    /// Line ids with the counted quantity. `None` clears the count.
    pub(crate) quantities: documents::Quantities,
    /// Product ids with the units to add to their count.
    pub(crate) added: Vec<(i64, i64)>,
}

/// Products that a supplier has delivered in its last inflows, ordered by title.
pub(crate) async fn of_supplier(
    state: &State,
    supplier: i64,
    limit: i64,
) -> Result<Vec<Titled>, Refusal> {
    let read = async move |conn: &mut Conn| store::of_supplier(conn, supplier, limit).await;
    Ok(state.db.read(read).await?)
}

/// Starts a count of these products, all of them uncounted. `label` describes the selection. An
/// error if there are none, or too many of them or of drafts.
pub(crate) async fn start(
    state: &State,
    caller: &Caller,
    (label, products): (String, Vec<Titled>),
    key: Option<IdempotencyKey>,
) -> Result<SaveResult, Refusal> {
    let most = DocumentKind::Count.max_lines();
    if products.is_empty() {
        return Err(Refusal::Conflict(model::NO_PRODUCTS));
    }
    if products.len() > most {
        return Err(FieldErrors::of("category", model::too_many(most)).into());
    }
    let begin = async move |work: &mut Work<'_>, id: i64| {
        let tx = &mut *work.tx;
        drafts::set_header(tx, id, None, &label).await?;
        for product in &products {
            drafts::put_line(tx, id, product, None).await?;
        }
        Ok(DocumentOutcome::Draft(None))
    };
    let document = (DocumentKind::Count, None);
    documents::save(state, caller, document, false, key, begin).await
}

/// Stores counted quantities. An error for an unknown product, and for too many lines or units.
pub(crate) async fn save(
    state: &State,
    caller: &Caller,
    id: i64,
    change: CountChange,
    key: Option<IdempotencyKey>,
) -> Result<SaveResult, Refusal> {
    let write = async move |work: &mut Work<'_>, id: i64| {
        let tx = &mut *work.tx;
        for (line, quantity) in &change.quantities {
            drafts::set_quantity(tx, id, *line, *quantity).await?;
        }
        let mut added = None;
        for &(product, quantity) in &change.added {
            added = Some(documents::add(tx, (DocumentKind::Count, id), product, quantity).await?);
        }
        Ok(DocumentOutcome::Draft(added))
    };
    let document = (DocumentKind::Count, Some(id));
    documents::save(state, caller, document, false, key, write).await
}

/// Books the differences of a count. `seen` is the [`fingerprint`](model::fingerprint) of the
/// differences that the page showed. 409 if nothing was counted, if the differences have changed,
/// or if a line, which the message names, cannot be booked; nothing is booked then.
pub(crate) async fn book(
    state: &State,
    (caller, locale): (&Caller, Locale),
    id: i64,
    seen: String,
    key: Option<IdempotencyKey>,
) -> Result<SaveResult, Refusal> {
    let book = async move |work: &mut Work<'_>, id: i64| {
        let count = drafts::find(work.tx, (DocumentKind::Count, id)).await?;
        let count = count.ok_or(Refusal::NotFound)?;
        check(&count.lines, &seen)?;
        adjust(work, &count, locale, false).await?;
        Ok(DocumentOutcome::Booked)
    };
    let document = (DocumentKind::Count, Some(id));
    documents::save(state, caller, document, true, key, book).await
}

/// Fails if nothing was counted, a counted product was deleted, or the differences have changed.
fn check(lines: &[DocumentLine], seen: &str) -> Result<(), Refusal> {
    if lines.iter().all(|line| line.quantity.is_none()) {
        return Err(Refusal::Conflict(model::NOTHING_COUNTED));
    }
    let is_gone = |line: &&DocumentLine| line.quantity.is_some() && line.present.is_none();
    if let Some(line) = lines.iter().find(is_gone) {
        return Err(naming(&line.product, Refusal::Conflict(model::GONE)));
    }
    if model::fingerprint(lines) != seen {
        return Err(Refusal::Conflict(model::CHANGED_MEANWHILE));
    }
    Ok(())
}

/// Books the differences of a count, or the opposite differences to undo it. 409 that names the line
/// whose units are no longer in stock.
pub(super) async fn adjust(
    work: &mut Work<'_>,
    count: &Document,
    locale: Locale,
    is_undone: bool,
) -> Result<(), Refusal> {
    let differing: Vec<_> = model::differing(&count.lines).collect();
    lock_stock(work, differing.iter().map(|compared| compared.line)).await?;
    let undone_text = locale.text("Desfeita", "Undone");
    let note = if is_undone {
        format!("{undone_text}: {}", count.label)
    } else {
        count.label.clone()
    };
    let explanation = Explanation {
        reason: Reason::Counted,
        note: Some(note.chars().take(MAX_NOTE).collect()),
    };
    for compared in differing {
        let product = &compared.line.product;
        // A product that was deleted after the count was booked has no stock to change.
        let Some(stock) = lock_quantity(work, product.id).await? else {
            continue;
        };
        let (change, too_few) = if is_undone {
            (-compared.difference(), model::LEFT_ALREADY)
        } else {
            (compared.difference(), model::SOLD_MORE)
        };
        let refusal = |message| naming(product, Refusal::Conflict(message));
        let after = stock.quantity.checked_add(change);
        let after = after.ok_or_else(|| refusal(model::TOO_MANY_UNITS))?;
        if after < 0 {
            return Err(refusal(too_few));
        }
        let units = (stock.quantity, after);
        adjustments::explain(work, product, units, &explanation).await?;
    }
    Ok(())
}
