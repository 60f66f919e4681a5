//! Receiving goods: the lines of one supplier's invoice, booked as ordinary inflows, all of them or none. The draft and its lines are in
//! `documents`. Undoing deletes all inflows, or none. How one movement is booked and deleted is in `movements`.

mod model;
pub(crate) mod pages;

use db::Tx;
use serde_json::value::to_raw_value;
use web::locale::Locale;

use super::{
    documents::{self, Context, Document, Kind, Line, Outcome, Saved, lock_stock, naming, store},
    movements::{self, Movement},
};
use crate::{
    State,
    access::Caller,
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members},
        json::Named,
        resource::Repeatable,
    },
};
use model::{Change, Step};

/// Changes a draft, or begins one where `id` is none; books it where that is asked. All of it happens, or nothing.
///
/// # Errors
///
/// What is wrong with a field or a line; another's draft; a key that was used with other values; faults of the store.
async fn save(
    state: &State,
    (caller, locale): (&Caller, Locale),
    id: Option<i64>,
    change: Change,
    key: Option<Repeatable>,
) -> Result<Saved, Refusal> {
    let is_booking = change.step == Step::Book;
    let apply =
        async move |tx: &mut Tx, id: i64, context: &Context| apply(tx, id, &change, context).await;
    let document = (Kind::Receipt, id);
    documents::save(state, (caller, locale), document, is_booking, key, apply).await
}

async fn apply(
    tx: &mut Tx,
    id: i64,
    change: &Change,
    context: &Context,
) -> Result<Outcome, Refusal> {
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
            Some(documents::add(tx, (Kind::Receipt, id), product, quantity).await?)
        }
        None => None,
    };
    match change.step {
        Step::Keep => {}
        Step::Remove(line) => store::delete_line(tx, id, line).await?,
        Step::Book => {
            book(tx, id, context).await?;
            return Ok(Outcome::Booked);
        }
    }
    Ok(Outcome::Draft(added))
}

/// Books every line of a draft, in the order in which they were added.
async fn book(tx: &mut Tx, id: i64, context: &Context) -> Result<(), Refusal> {
    let receipt = store::find(tx, (Kind::Receipt, id)).await?;
    let receipt = receipt.ok_or(Refusal::NotFound)?;
    let supplier = receipt.supplier.as_ref();
    let supplier = supplier.ok_or_else(|| FieldErrors::of("supplier", Message::REQUIRED))?;
    if receipt.lines.is_empty() {
        return Err(FieldErrors::of("product", NOTHING_TO_BOOK).into());
    }
    lock_stock(tx, &receipt.lines).await?;
    let description = model::description(&receipt.label, context.locale);
    for line in receipt.lines.iter().rev() {
        let members = members(supplier, line, description.as_deref());
        let booked = movements::add(tx, Movement::Inflow, &members, &context.work).await;
        let inflow = booked.map_err(|refusal| naming(&line.product, refusal))?;
        store::set_inflow(tx, line.id, inflow.id).await?;
    }
    Ok(())
}

/// A line as what creates an inflow.
fn members(supplier: &Named, line: &Line, description: Option<&str>) -> Members {
    let fields = [
        ("supplier", to_raw_value(&supplier.id)),
        ("product", to_raw_value(&line.product.id)),
        ("quantity", to_raw_value(&line.units())),
        ("description", to_raw_value(&description)),
    ];
    // Numbers and texts are always JSON.
    let fields = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value.ok()?)));
    fields.collect()
}

const NOTHING_TO_BOOK: Message = Message::fixed(
    "Adicione pelo menos um produto.",
    "Add at least one product.",
);

/// Deletes all inflows of a receipt that are still there.
///
/// # Errors
///
/// 409 that names the line whose goods have left already. Faults of the store.
pub(super) async fn reverse(
    tx: &mut Tx,
    receipt: &Document,
    context: &Context,
) -> Result<(), Refusal> {
    lock_stock(tx, &receipt.lines).await?;
    for line in &receipt.lines {
        if let Some(inflow) = line.inflow {
            let deleted = movements::remove(tx, Movement::Inflow, inflow, &context.work).await;
            deleted.map_err(|refusal| naming(&line.product, refusal))?;
        }
    }
    Ok(store::forget_inflows(tx, receipt.id).await?)
}
