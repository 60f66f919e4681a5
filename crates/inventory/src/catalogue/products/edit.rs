//! Changing a product as its form does: with its own threshold, in one transaction, and only if the product as it stands lets it be.

use db::Tx;

use super::{ProductRecord, taken, within};
use crate::{
    State,
    access::Caller,
    idempotency::on_conflict,
    rest::{
        Refusal,
        fields::{FieldErrors, Members, Mode, Setting},
    },
    stock::{self, Work},
};

/// What a form writes of a product.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    /// Its fields; those that are absent stay as they are.
    pub(crate) members: Members,
    /// Its own threshold.
    pub(crate) threshold: Setting<Option<i64>>,
}

/// Changes a product and its own threshold; `None` when it is gone. `refused` is asked about the product and its threshold as they stand:
/// nobody else changes them until they are written.
///
/// # Errors
///
/// What is refused, invalid fields, and faults of the store.
pub(crate) async fn edit(
    state: &State,
    caller: &Caller,
    id: i64,
    edit: Edit,
    refused: impl Fn(&ProductRecord, Option<i64>) -> FieldErrors + Clone + Send + 'static,
) -> Result<Option<ProductRecord>, Refusal> {
    let work = Work::of(state, caller);
    let write = async move |tx: &mut Tx| {
        let Some(before) = within::held(tx, id).await? else {
            return Ok(None);
        };
        let own = stock::own_threshold_held(tx, id).await?;
        let own = own.map(|own| own.threshold);
        let errors = refused(&before, own);
        if !errors.is_empty() {
            return Err(Refusal::from(errors));
        }
        let changed = within::update(tx, id, &edit.members, Mode::Partial, &work).await?;
        if let Setting::Set(threshold) = edit.threshold
            && threshold != own
        {
            stock::threshold_set_within(tx, id, threshold, &work).await?;
        }
        Ok(changed)
    };
    let changed = on_conflict(&state.db, write).await.map_err(taken)?;
    if changed.is_some() {
        state.changes.notify();
    }
    Ok(changed)
}
