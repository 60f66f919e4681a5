//! Adjusts a product's stock to a counted quantity, with the reason for the difference from the
//! ledger.

pub(crate) mod model;

pub use model::{Explanation, Reason};
pub(super) use model::{MAX_COUNTED, MAX_NOTE};

use resource::Value;
use serde::{Deserialize, Serialize};

use super::{
    events, ledger,
    model::{EntryKind, NewEntry},
    movements, store,
};
use crate::{
    State,
    access::{Caller, Model},
    audit::{self, FieldChange},
    idempotency::IdempotencyKey,
    rest::{Refusal, json::Titled},
    work::{Work, write_once},
};
use model::Adjustment;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AdjustmentResult {
    pub(crate) title: String,
    pub(crate) before: i64,
    pub(crate) after: i64,
}

/// Sets the quantity in stock of a product. A retry with the same idempotency key returns the first
/// result. 409 if the stock changed since the user saw it.
pub(crate) async fn book(
    state: &State,
    caller: &Caller,
    product: i64,
    adjustment: Adjustment,
    key: Option<IdempotencyKey>,
) -> Result<AdjustmentResult, Refusal> {
    let job = async move |work: &mut Work<'_>| {
        let result = set_quantity(work, product, &adjustment).await?;
        Ok((result.clone(), result))
    };
    let replay = async |_: &mut Work<'_>, result: AdjustmentResult| Ok(result);
    write_once(state, caller, key, job, replay).await
}

async fn set_quantity(
    work: &mut Work<'_>,
    product: i64,
    adjustment: &Adjustment,
) -> Result<AdjustmentResult, Refusal> {
    let stock = store::lock_quantity(work, product).await?;
    let titled = movements::store::product(work.tx, product).await?;
    let (Some(stock), Some(titled)) = (stock, titled) else {
        return Err(Refusal::NotFound);
    };
    let before = stock.quantity;
    adjustment.check(before).map_err(Refusal::Conflict)?;
    let (after, explanation) = (adjustment.quantity, &adjustment.explanation);
    if after != before {
        explain(work, &titled, (before, after), explanation).await?;
    }
    Ok(AdjustmentResult {
        title: titled.title,
        before,
        after,
    })
}

/// Sets a product's quantity as [`adjust`] does, and records the reason in the audit log.
pub(super) async fn explain(
    work: &mut Work<'_>,
    product: &Titled,
    (before, after): (i64, i64),
    explanation: &Explanation,
) -> Result<(), db::Error> {
    adjust(work, product.id, after, Some(explanation)).await?;
    let (old, new) = (Value::Integer(before), Value::Integer(after));
    let changes = [FieldChange::of(explanation.reason.field().name, old, new)];
    let (model, title) = (Model::Product, &product.title);
    audit::record_changes(work, &changes, model, product.id, title).await
}

/// Sets a product's quantity; a difference becomes an adjustment in the ledger. The caller has
/// locked the stock row by writing to it in the same transaction.
pub(crate) async fn adjust(
    work: &mut Work<'_>,
    product: i64,
    quantity: i64,
    explanation: Option<&Explanation>,
) -> Result<(), db::Error> {
    let Some(current) = store::quantity(work.tx, product).await? else {
        return Ok(());
    };
    if current == quantity {
        return Ok(());
    }
    // Both are at least 0, so the difference cannot overflow.
    let change = quantity - current;
    let entry = NewEntry {
        explanation,
        ..NewEntry::new(product, EntryKind::Adjustment, change)
    };
    if let Ok(stock) = ledger::apply(work, &entry).await? {
        events::after_other(work, product, stock.before(change), stock).await?;
    }
    Ok(())
}
