//! Deleting movements. The change of the quantity is reversed in the same transaction, with a
//! second ledger row. Fails if the stock does not allow it; pages check that beforehand.

use std::collections::HashMap;

use db::Conn;
use web::locale::Locale;

use super::{model::MovementRecord, store, words::movement_text};
use crate::{
    State,
    audit::{self, Action},
    movement::Movement,
    rest::{Message, Refusal},
    stock::{self, QuantityError, events, ledger, model::NewEntry, quantity_after},
    work::Work,
};

/// Deletes a movement and reverses its change of the quantity. A movement that the product's
/// opening included did not change the quantity, so its deletion does not either. Returns false if
/// there was no such movement. 409 if the goods of an inflow are no longer in stock.
pub(crate) async fn delete(
    work: &mut Work<'_>,
    movement: Movement,
    id: i64,
) -> Result<bool, Refusal> {
    let Some(deleted) = store::delete(work.tx, movement, id).await? else {
        return Ok(false);
    };
    let (product, quantity) = (deleted.product, deleted.quantity);
    let change = -movement.change(quantity);
    let moved_at = deleted.created_at;
    let entry = NewEntry {
        reference: Some(id),
        supplier: deleted.supplier,
        moved_at: Some(moved_at),
        is_past: stock::store::is_included(work.tx, product, moved_at).await?,
        ..NewEntry::new(product, movement.kinds().1, change)
    };
    let applied = ledger::apply(work, &entry).await?;
    let stock = applied.map_err(|error| irreversible(movement, quantity, error))?;
    if !entry.is_past {
        events::after_other(work, product, stock.before(change), stock).await?;
    }
    let titled = store::product(work.tx, product).await?;
    let title = titled.map(|product| product.title).unwrap_or_default();
    let text = movement_text(quantity, &title);
    let model = movement.model();
    audit::record(work, Action::Deleted, model, id, &text).await?;
    Ok(true)
}

/// Checks whether a movement can be deleted with the current stock, which may change before the
/// deletion. 409 with the message that the deletion would return.
pub(crate) async fn check_deletion(
    state: &State,
    movement: Movement,
    record: &MovementRecord,
) -> Result<(), Refusal> {
    let record = record.clone();
    let read = async move |conn: &mut Conn| {
        check_change(conn, movement, &record, &mut HashMap::new()).await
    };
    state.db.read(read).await
}

/// Checks whether a movement that an import added can be reverted. `quantities` are those of
/// products after the movements that are reverted before this one.
pub(crate) async fn check_reversal(
    conn: &mut Conn,
    movement: Movement,
    id: i64,
    quantities: &mut HashMap<i64, i64>,
) -> Result<(), Refusal> {
    match store::find(conn, movement, id).await? {
        Some(record) => check_change(conn, movement, &record, quantities).await,
        None => Ok(()),
    }
}

/// Checks whether the stock allows the reversal of a movement, and puts the quantity after it into
/// `quantities`.
async fn check_change(
    conn: &mut Conn,
    movement: Movement,
    record: &MovementRecord,
    quantities: &mut HashMap<i64, i64>,
) -> Result<(), Refusal> {
    let product = record.product.id;
    let change = -movement.change(record.quantity);
    if stock::store::is_included(conn, product, record.created_at).await? {
        return Ok(());
    }
    let before = match quantities.get(&product) {
        Some(quantity) => *quantity,
        None => stock::store::quantity(conn, product)
            .await?
            .ok_or(Refusal::NotFound)?,
    };
    let after = quantity_after(before, change);
    let after = after.map_err(|error| irreversible(movement, record.quantity, error))?;
    quantities.insert(product, after);
    Ok(())
}

fn irreversible(movement: Movement, quantity: i64, error: QuantityError) -> Refusal {
    let name = movement.name();
    let this = match movement {
        Movement::Inflow => "esta entrada",
        Movement::Outflow => "esta saída",
    };
    let number = |units| Locale::PtBr.number(units);
    match error {
        QuantityError::Insufficient(available) => {
            let left = match (number(available), number(quantity)) {
                _ if quantity == 1 => "a única unidade não está mais em estoque".to_owned(),
                (_, all) if available == 0 => {
                    format!("nenhuma das {all} unidades ainda está em estoque")
                }
                (one, all) if available == 1 => {
                    format!("só {one} das {all} unidades ainda está em estoque")
                }
                (some, all) => format!("só {some} das {all} unidades ainda estão em estoque"),
            };
            Refusal::Conflict(Message::new(
                format!("Não é possível excluir {this}: {left}."),
                format!(
                    "Cannot delete this {name} because only {available} of its {quantity} units are still in stock."
                ),
            ))
        }
        QuantityError::TooMany(_) => Refusal::Conflict(Message::new(
            format!(
                "Não é possível excluir {this}: a quantidade do produto ficaria grande demais."
            ),
            format!("Cannot delete this {name} because the product's quantity would be too large."),
        )),
        // `Archived` cannot occur: reversals are allowed for archived products.
        QuantityError::NoProduct | QuantityError::Archived => Refusal::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_an_inflow_is_told_in_the_number_that_it_has() {
        for (left, of, said) in [
            (0, 1, "a única unidade não está mais em estoque."),
            (0, 1200, "nenhuma das 1.200 unidades ainda está em estoque."),
            (1, 2, "só 1 das 2 unidades ainda está em estoque."),
            (3, 10, "só 3 das 10 unidades ainda estão em estoque."),
        ] {
            let refused = irreversible(Movement::Inflow, of, QuantityError::Insufficient(left));
            let Refusal::Conflict(message) = refused else {
                panic!("{refused:?}");
            };
            let told = message.text(Locale::PtBr);
            assert_eq!(told, format!("Não é possível excluir esta entrada: {said}"));
        }
    }
}
