//! Deleting movements: the effect is reversed in the same transaction, with a second row in the ledger. Refused when the stock could not bear
//! it, which is also told beforehand.

use std::collections::HashMap;

use db::{Conn, Tx};
use web::locale::Locale;

use super::{
    model::{Movement, MovementRecord},
    movement_text, store,
};
use crate::{
    State,
    access::Caller,
    audit::{self, Action},
    rest::{Message, Refusal},
    stock::{
        self, Impossible, Work, events,
        ledger::{self, Entry},
    },
};

/// Deletes a movement and reverses its effect; whether it was there. Its row in the ledger stays, and a second one says that it was reversed.
///
/// # Errors
///
/// 409 when the goods of an inflow have left already, and faults of the store.
pub async fn delete(
    state: &State,
    caller: &Caller,
    movement: Movement,
    id: i64,
) -> Result<bool, Refusal> {
    let work = Work::of(state, caller);
    let was_there = state
        .db
        .write(async move |tx| remove(tx, movement, id, &work).await)
        .await?;
    if was_there {
        state.changes.notify();
    }
    Ok(was_there)
}

/// Whether a movement could be deleted as the stock is now; what happens until it is deleted may change that.
///
/// # Errors
///
/// 409 as [`delete`] would answer it, and faults of the store.
pub(crate) async fn foresee(
    state: &State,
    movement: Movement,
    record: &MovementRecord,
) -> Result<(), Refusal> {
    let (product, quantity) = (record.product.id, record.quantity);
    let change = -movement.change(quantity);
    let read = async move |conn: &mut Conn| stock::store::quantity(conn, product).await;
    let stands = state.db.read(read).await?.ok_or(Refusal::NotFound)?;
    let impossible = match stands.checked_add(change) {
        Some(after) if after >= 0 => return Ok(()),
        Some(_) => Impossible::Insufficient(stands),
        None => Impossible::TooMany(stands),
    };
    Err(irreversible(movement, quantity, impossible))
}

/// Deletes a movement within a transaction, as [`delete`] does.
pub(crate) async fn remove(
    tx: &mut Tx,
    movement: Movement,
    id: i64,
    work: &Work,
) -> Result<bool, Refusal> {
    let Some(deleted) = store::delete(tx, movement, id).await? else {
        return Ok(false);
    };
    let (product, entry) = (deleted.product, reversal(movement, id, &deleted, work));
    let changed = ledger::apply(tx, &entry)
        .await?
        .map_err(|impossible| irreversible(movement, deleted.quantity, impossible))?;
    events::after_other(tx, product, changed, work).await?;
    record_deletion(tx, movement, id, &deleted, work).await?;
    Ok(true)
}

/// Refuses what would keep a movement that an import added from being reverted. `quantities` are those of products after the movements that
/// are reverted before it.
pub(crate) async fn examine_removal(
    conn: &mut Conn,
    movement: Movement,
    id: i64,
    quantities: &mut HashMap<i64, i64>,
) -> Result<(), Refusal> {
    let Some(record) = store::find(conn, movement, id).await? else {
        return Ok(());
    };
    let product = record.product.id;
    if is_counted_by_opening(conn, &record).await? {
        return Ok(());
    }
    let before = match quantities.get(&product) {
        Some(quantity) => *quantity,
        None => stock::store::quantity(conn, product)
            .await?
            .ok_or(Refusal::NotFound)?,
    };
    let impossible = match before.checked_add(-movement.change(record.quantity)) {
        Some(after) if after >= 0 => {
            quantities.insert(product, after);
            return Ok(());
        }
        Some(_) => Impossible::Insufficient(before),
        None => Impossible::TooMany(before),
    };
    Err(irreversible(movement, record.quantity, impossible))
}

/// Whether a movement was history before its product's opening, so that it changed no quantity.
async fn is_counted_by_opening(
    conn: &mut Conn,
    record: &MovementRecord,
) -> Result<bool, db::Error> {
    let opened_at = stock::opened_at(conn, record.product.id).await?;
    Ok(opened_at.is_some_and(|opened_at| record.created_at < opened_at))
}

/// Reverts a movement that an import added, within a transaction. One that was history before its product's opening changed no
/// quantity when it came, so it changes none when it goes.
///
/// # Errors
///
/// 409 when the goods of an inflow have left already, and faults of the store.
pub(crate) async fn revert(
    tx: &mut Tx,
    movement: Movement,
    id: i64,
    work: &Work,
) -> Result<bool, Refusal> {
    let Some(record) = store::find(tx, movement, id).await? else {
        return Ok(false);
    };
    if !is_counted_by_opening(tx, &record).await? {
        return remove(tx, movement, id, work).await;
    }
    let Some(deleted) = store::delete(tx, movement, id).await? else {
        return Ok(false);
    };
    let entry = reversal(movement, id, &deleted, work);
    let recorded = ledger::record_past(tx, &entry).await?;
    recorded.map_err(|impossible| irreversible(movement, deleted.quantity, impossible))?;
    record_deletion(tx, movement, id, &deleted, work).await?;
    Ok(true)
}

/// The ledger's entry that reverses a movement.
fn reversal<'a>(
    movement: Movement,
    id: i64,
    deleted: &store::Deleted,
    work: &'a Work,
) -> Entry<'a> {
    Entry {
        product: deleted.product,
        kind: movement.kinds().1,
        change: -movement.change(deleted.quantity),
        reference: Some(id),
        supplier: deleted.supplier,
        explanation: None,
        booked_at: deleted.created_at,
        actor: &work.actor,
        now: work.now,
    }
}

async fn record_deletion(
    tx: &mut Tx,
    movement: Movement,
    id: i64,
    deleted: &store::Deleted,
    work: &Work,
) -> Result<(), db::Error> {
    let titled = store::product(tx, deleted.product).await?;
    let title = titled.map(|product| product.title).unwrap_or_default();
    let (model, text) = (movement.model(), movement_text(deleted.quantity, &title));
    let Work { actor, now, .. } = work;
    audit::record(tx, actor, Action::Deleted, model, id, &text, *now).await
}

fn irreversible(movement: Movement, quantity: i64, impossible: Impossible) -> Refusal {
    let (name, this) = match movement {
        Movement::Inflow => (movement.name(), "esta entrada"),
        Movement::Outflow => (movement.name(), "esta saída"),
    };
    let number = |units| Locale::PtBr.number(units);
    match impossible {
        Impossible::Insufficient(available) => Refusal::Conflict(Message::new(
            format!(
                "Não é possível excluir {this}: só {} das {} unidades ainda estão em estoque.",
                number(available),
                number(quantity)
            ),
            format!(
                "Cannot delete this {name} because only {available} of its {quantity} units are still in stock."
            ),
        )),
        Impossible::TooMany(_) => Refusal::Conflict(Message::new(
            format!(
                "Não é possível excluir {this}: a quantidade do produto ficaria grande demais."
            ),
            format!("Cannot delete this {name} because the product's quantity would be too large."),
        )),
        // What moved of an archived product may be taken back.
        Impossible::NoProduct | Impossible::Archived => Refusal::NotFound,
    }
}
