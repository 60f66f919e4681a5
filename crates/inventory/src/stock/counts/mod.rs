//! Counting the stock: products of a category, a brand, a supplier or any list are counted line by
//! line, compared with the ledger, and the differences booked as adjustments, all of them or none.
//! The draft and its lines are in `documents`. Undoing books the opposite differences. What is not
//! counted stays as it is.
//!
//! A line is about the moment when its number was last written: it keeps what the ledger had then,
//! and the difference from that is booked, whatever was sold since.

pub(crate) mod model;
mod store;

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
    rest::{Message, Refusal, fields::FieldErrors, json::Titled},
    work::Work,
};
use documents::store as drafts;

/// What a form writes into a draft.
#[derive(Debug, Clone)]
pub(crate) struct CountChange {
    /// Lines, and what was counted; none where the count is taken back.
    pub(crate) quantities: documents::Quantities,
    /// Products, and how many more of each were counted.
    pub(crate) added: Vec<(i64, i64)>,
}

/// Products that a supplier has delivered, by title.
pub(crate) async fn of_supplier(
    state: &State,
    supplier: i64,
    limit: i64,
) -> Result<Vec<Titled>, Refusal> {
    let read = async move |conn: &mut Conn| store::of_supplier(conn, supplier, limit).await;
    Ok(state.db.read(read).await?)
}

/// Begins a count of these products, none of which is counted yet. `label` says which they are.
///
/// # Errors
///
/// No products or too many; too many drafts; a key that was used with other values; faults of the
/// store.
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
    documents::save(
        state,
        caller,
        (DocumentKind::Count, None),
        false,
        key,
        begin,
    )
    .await
}

/// Writes what was counted.
///
/// # Errors
///
/// An unknown product, too many lines or units; another's draft; a key that was used with other
/// values; faults of the store.
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
    documents::save(
        state,
        caller,
        (DocumentKind::Count, Some(id)),
        false,
        key,
        write,
    )
    .await
}

/// Books the differences of a count. `seen` is the fingerprint of those that were shown.
///
/// # Errors
///
/// 409 when nothing was counted, when the count is another than the one that was shown, and when a
/// line cannot be booked, which is named: then nothing is booked. Another's draft; a key that was
/// used with other values; faults of the store.
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
    documents::save(
        state,
        caller,
        (DocumentKind::Count, Some(id)),
        true,
        key,
        book,
    )
    .await
}

/// Refuses a count of which nothing can be booked.
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

/// Books the differences of a count, or the opposite ones.
async fn adjust(
    work: &mut Work<'_>,
    count: &Document,
    locale: Locale,
    is_undone: bool,
) -> Result<(), Refusal> {
    let differing: Vec<_> = model::differing(&count.lines).collect();
    lock_stock(work.tx, differing.iter().map(|compared| compared.line)).await?;
    let undone = locale.text("Desfeita", "Undone");
    let note = if is_undone {
        format!("{undone}: {}", count.label)
    } else {
        count.label.clone()
    };
    let explanation = Explanation {
        reason: Reason::Counted,
        note: Some(note.chars().take(MAX_NOTE).collect()),
    };
    for compared in differing {
        let product = &compared.line.product;
        // A product that was deleted since a count was booked has no stock to take back.
        let Some(stock) = lock_quantity(work.tx, product.id).await? else {
            continue;
        };
        let (change, less): (_, Message) = if is_undone {
            (-compared.difference(), model::LEFT_ALREADY)
        } else {
            (compared.difference(), model::SOLD_MORE)
        };
        let refusal = |message| naming(product, Refusal::Conflict(message));
        let after = stock.quantity.checked_add(change);
        let after = after.ok_or_else(|| refusal(model::TOO_MANY_UNITS))?;
        if after < 0 {
            return Err(refusal(less));
        }
        let units = (stock.quantity, after);
        adjustments::explain(work, product, units, &explanation).await?;
    }
    Ok(())
}

/// Takes the differences of a count back.
///
/// # Errors
///
/// 409 that names the line whose units have left already. Faults of the store.
pub(super) async fn reverse(
    work: &mut Work<'_>,
    count: &Document,
    locale: Locale,
) -> Result<(), Refusal> {
    adjust(work, count, locale, true).await
}
