//! Adjusting a product's stock to what is there: a quantity that somebody counted, and why it is another than the ledger's.

mod model;
pub(crate) mod pages;

pub use model::{Explanation, Reason};
pub(super) use model::{MAX_COUNTED, MAX_NOTE};

use db::Tx;
use resource::Value;
use serde::{Deserialize, Serialize};

use super::{
    Work, events,
    ledger::{self, Entry, Kind},
    movements, store,
};
use crate::{
    State,
    access::{Caller, Model},
    audit::{self, Action, FieldChange},
    idempotency::once,
    rest::{Refusal, json::Titled, resource::Repeatable},
};
use model::Adjustment;

/// What an adjustment did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Adjusted {
    pub(crate) title: String,
    pub(crate) before: i64,
    pub(crate) after: i64,
}

/// Writes what is in stock of a product; under the same key it is written once.
///
/// # Errors
///
/// 409 when the stock changed since it was shown; an unknown product; a key that was used with other values; faults of the store.
pub(crate) async fn book(
    state: &State,
    caller: &Caller,
    product: i64,
    adjustment: Adjustment,
    key: Option<Repeatable>,
) -> Result<Adjusted, Refusal> {
    let work = Work::of(state, caller);
    let write = async move |tx: &mut Tx| {
        let adjusted = write(tx, product, &adjustment, &work).await?;
        Ok((adjusted.clone(), adjusted))
    };
    let again = async |_: &mut Tx, adjusted: Adjusted| Ok(adjusted);
    let adjusted: Result<_, Refusal> = once(state, key, write, again).await;
    let adjusted = adjusted?;
    state.changes.notify();
    Ok(adjusted)
}

async fn write(
    tx: &mut Tx,
    product: i64,
    adjustment: &Adjustment,
    work: &Work,
) -> Result<Adjusted, Refusal> {
    let held = store::lock_quantity(tx, product).await?;
    let titled = movements::store::product(tx, product).await?;
    let (Some(held), Some(titled)) = (held, titled) else {
        return Err(Refusal::NotFound);
    };
    let before = held.quantity;
    adjustment.check(before).map_err(Refusal::Conflict)?;
    let (after, explanation) = (adjustment.quantity, &adjustment.explanation);
    if after != before {
        explain(tx, &titled, (before, after), explanation, work).await?;
    }
    Ok(Adjusted {
        title: titled.title,
        before,
        after,
    })
}

/// Writes a product's quantity as [`adjust`] does, and in the audit log why.
///
/// # Errors
///
/// Faults of the store.
pub(super) async fn explain(
    tx: &mut Tx,
    product: &Titled,
    (before, after): (i64, i64),
    explanation: &Explanation,
    work: &Work,
) -> Result<(), Refusal> {
    let (id, title) = (product.id, &product.title);
    adjust(tx, id, after, Some(explanation), work).await?;
    let (old, new) = (Value::Integer(before), Value::Integer(after));
    let changes = [FieldChange::of(explanation.reason.field(), old, new)];
    let action = Action::Edited(&changes);
    let Work { actor, now, .. } = work;
    Ok(audit::record(tx, actor, action, Model::Product, id, title, *now).await?)
}

/// Writes a product's quantity: the difference becomes an adjustment, and no difference becomes nothing.
/// The caller has locked the product's stock row by writing to it in the same transaction.
///
/// # Errors
///
/// Faults of the store.
pub async fn adjust(
    tx: &mut Tx,
    product: i64,
    quantity: i64,
    explanation: Option<&Explanation>,
    work: &Work,
) -> Result<(), Refusal> {
    let Some(current) = store::quantity(tx, product).await? else {
        return Ok(());
    };
    if current == quantity {
        return Ok(());
    }
    // Both are 0 or more, so their difference fits.
    let entry = Entry {
        product,
        kind: Kind::Adjustment,
        change: quantity - current,
        reference: None,
        supplier: None,
        explanation,
        booked_at: work.now,
        actor: &work.actor,
        now: work.now,
    };
    if let Ok(changed) = ledger::apply(tx, &entry).await? {
        events::after_other(tx, product, changed, work).await?;
    }
    Ok(())
}
