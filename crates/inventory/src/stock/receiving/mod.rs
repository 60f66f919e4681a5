//! Receiving goods: the lines of one supplier's invoice become inflows, all of them or none. Drafts
//! and their lines are in `documents`. Undoing a receipt deletes all of its inflows, or none.
//! `movements` books and deletes single inflows.

pub(crate) mod model;

use resource::Reference;
use web::locale::Locale;

use super::{
    documents::{
        self, Document, DocumentKind, DocumentLine, DocumentOutcome, SaveResult, lock_stock,
        naming, store,
    },
    movements::{self, Movement, MovementInput},
};
use crate::{
    State,
    access::Caller,
    api::resource::ApiResource as _,
    idempotency::IdempotencyKey,
    rest::{
        Message, Refusal,
        fields::{Draft, FieldErrors},
    },
    work::Work,
};
use model::{DraftChange, DraftStep};

/// Applies a form to a draft in one transaction, and books it if requested. Creates the draft first
/// if `id` is `None`.
pub(crate) async fn save(
    state: &State,
    (caller, locale): (&Caller, Locale),
    id: Option<i64>,
    change: DraftChange,
    key: Option<IdempotencyKey>,
) -> Result<SaveResult, Refusal> {
    let is_booking = change.step == DraftStep::Book;
    let apply = async move |work: &mut Work<'_>, id: i64| apply(work, id, &change, locale).await;
    let document = (DocumentKind::Receipt, id);
    documents::save(state, caller, document, is_booking, key, apply).await
}

async fn apply(
    work: &mut Work<'_>,
    id: i64,
    change: &DraftChange,
    locale: Locale,
) -> Result<DocumentOutcome, Refusal> {
    let tx = &mut *work.tx;
    if change.step == DraftStep::Book
        && let Some(shown) = &change.shown
        && *shown != model::as_shown(&store::lines(tx, id).await?)
    {
        return Err(Refusal::Conflict(CHANGED));
    }
    if let Some(supplier) = change.supplier
        && movements::store::supplier(tx, supplier).await?.is_none()
    {
        let unknown = Message::unknown_record(&supplier.to_string());
        return Err(FieldErrors::of("supplier", unknown).into());
    }
    store::set_header(tx, id, change.supplier, &change.invoice).await?;
    for (line, quantity) in &change.quantities {
        store::set_quantity(tx, id, *line, *quantity).await?;
    }
    let added = match change.added {
        Some((product, quantity)) => {
            Some(documents::add(tx, (DocumentKind::Receipt, id), product, quantity).await?)
        }
        None => None,
    };
    match change.step {
        DraftStep::Keep => {}
        DraftStep::Remove(line) => store::delete_line(tx, id, line).await?,
        DraftStep::Book => {
            book(work, id, locale).await?;
            return Ok(DocumentOutcome::Booked);
        }
    }
    Ok(DocumentOutcome::Draft(added))
}

/// Books every line of a draft, in the order in which they were added.
async fn book(work: &mut Work<'_>, id: i64, locale: Locale) -> Result<(), Refusal> {
    let receipt = store::find(work.tx, (DocumentKind::Receipt, id)).await?;
    let receipt = receipt.ok_or(Refusal::NotFound)?;
    let supplier = receipt.supplier.as_ref();
    let supplier = supplier.ok_or_else(|| FieldErrors::of("supplier", Message::REQUIRED))?;
    if receipt.lines.is_empty() {
        return Err(FieldErrors::of("product", NOTHING_TO_BOOK).into());
    }
    lock_stock(work, &receipt.lines).await?;
    let description = model::description(&receipt.label, locale);
    for line in receipt.lines.iter().rev() {
        let quantity = DocumentKind::Receipt.check_quantity(line.units());
        let quantity = quantity.map_err(|message| FieldErrors::of("quantity", message));
        let quantity = quantity.map_err(|errors| naming(&line.product, errors.into()))?;
        let input = MovementInput {
            supplier: Some(Reference::of(supplier.id)),
            product: Some(Reference::of(line.product.id)),
            quantity: Some(quantity),
            description: Some(description.clone()),
            ..MovementInput::default()
        };
        let booked = Movement::Inflow.create(work, &Draft::of_input(input)).await;
        let inflow = booked.map_err(|refusal| naming(&line.product, refusal))?;
        store::set_inflow(work.tx, line.id, inflow.id).await?;
    }
    Ok(())
}

const CHANGED: Message = Message::fixed(
    "A lista mudou em outra janela. Confira e registre de novo.",
    "The list was changed in another window. Check it and book again.",
);
const NOTHING_TO_BOOK: Message = Message::fixed(
    "Adicione pelo menos um produto.",
    "Add at least one product.",
);

/// Deletes all inflows of a receipt that still exist. 409 that names the line whose goods are no
/// longer in stock.
pub(super) async fn reverse(work: &mut Work<'_>, receipt: &Document) -> Result<(), Refusal> {
    lock_stock(work, &receipt.lines).await?;
    for line in &receipt.lines {
        if let Some(inflow) = line.inflow {
            let deleted = Movement::Inflow.delete(work, inflow).await;
            deleted.map_err(|refusal| naming(&line.product, refusal))?;
        }
    }
    Ok(())
}
