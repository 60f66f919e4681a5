//! Archived products. They are never low, are in no list of goods, and inflows and outflows of them
//! are refused until they are unarchived. Their remaining stock stays in the ledger and in the
//! shop's value, and may be adjusted. Carries no rule of the specification: in the API archived
//! products look like all others, and a separate route reads and writes the state.

use db::{Conn, Error};
use resource::{Field, Value, truth};

use super::{LockedStock, events, store};
use crate::{
    State,
    access::{Caller, Model},
    aggregates, analysis,
    audit::{self, FieldChange},
    rest::{Message, Refusal, fields::FieldErrors},
    work::{Work, write},
};

/// Whether the product is archived. A field of forms and of the audit log; no API response has it.
pub(crate) const IS_ARCHIVED: &Field = &truth("Arquivado", "Archived").named("archived");

/// Why inflows and outflows of a product are refused.
pub(super) const ARCHIVED: Message = Message::fixed(
    "Este produto está arquivado. Desarquive-o antes de registrar entradas ou saídas.",
    "This product is archived. Unarchive it before booking goods in or out.",
);

/// Whether an error says that the product is archived.
pub(super) fn is_refused(errors: &FieldErrors) -> bool {
    let mut messages = errors.iter().flat_map(|(_, messages)| messages);
    messages.any(|message| *message == ARCHIVED)
}

/// Whether a product is archived. False for an unknown product.
pub(super) async fn is_archived(conn: &mut Conn, product: i64) -> Result<bool, Error> {
    let states = store::stock_states(conn, &[product]).await?;
    Ok(states.values().any(|state| state.is_archived()))
}

/// Archives or unarchives a product. Returns its title and whether the state changed.
pub(crate) async fn set(
    state: &State,
    caller: &Caller,
    product: i64,
    is_archived: bool,
) -> Result<(String, bool), Refusal> {
    let job = async move |work: &mut Work<'_>| set_archived(work, product, is_archived).await;
    write(state, caller, job).await
}

async fn set_archived(
    work: &mut Work<'_>,
    product: i64,
    is_archived: bool,
) -> Result<(String, bool), Refusal> {
    let before = store::lock_quantity(work, product).await?;
    let (tx, now) = (&mut *work.tx, work.now);
    let titled = super::movements::store::product(tx, product).await?;
    let (Some(before), Some(titled)) = (before, titled) else {
        return Err(Refusal::NotFound);
    };
    let title = titled.title;
    if before.state.is_archived() == is_archived {
        return Ok((title, false));
    }
    aggregates::note_change(tx, product).await?;
    let mut after = LockedStock {
        updated_at: now,
        ..before
    };
    after.state.archived_at = is_archived.then_some(now);
    super::write_state(tx, product, before, after).await?;
    if is_archived {
        analysis::withdraw(tx, product).await?;
    } else {
        events::after_other(work, product, before, after).await?;
    }
    let (old, new) = (!is_archived, is_archived);
    let change = FieldChange::of(IS_ARCHIVED.name, Value::Truth(old), Value::Truth(new));
    audit::record_changes(work, &[change], Model::Product, product, &title).await?;
    Ok((title, true))
}
