//! Archived products: in no list of goods and never low, and nothing of them comes in or goes out,
//! until they are unarchived. What is left of one stays in the ledger and in the shop's value, and
//! may be adjusted. Carries no rule of the specification: the API shows archived products as all
//! others, and has an address of its own for whether one is.

use db::{Conn, Error, Timestamp};
use resource::{Field, truth};

use super::{LockedStock, store};
use crate::{
    State,
    access::{Caller, Model},
    aggregates, analysis,
    audit::{self, Action},
    rest::{Message, Refusal, fields::FieldErrors},
    work::{Work, write},
};

/// Whether the shop no longer sells a product. No answer shows it.
pub(crate) const IS_ARCHIVED: &Field = &truth("Arquivado", "Archived").named("archived");

/// Why nothing of a product moves.
pub(super) const ARCHIVED: Message = Message::fixed(
    "Este produto está arquivado. Desarquive-o antes de registrar entradas ou saídas.",
    "This product is archived. Unarchive it before booking goods in or out.",
);

/// Whether these are about an archived product.
pub(super) fn is_refused(errors: &FieldErrors) -> bool {
    let mut messages = errors.iter().flat_map(|(_, messages)| messages);
    messages.any(|message| *message == ARCHIVED)
}

/// Whether a product is archived.
pub(super) async fn is_archived(conn: &mut Conn, product: i64) -> Result<bool, Error> {
    let since = store::archived_at(conn, product).await?;
    Ok(since.flatten().is_some())
}

/// Since when a product is archived; the outer `None` is an unknown product.
pub(crate) async fn archived_at(
    state: &State,
    product: i64,
) -> Result<Option<Option<Timestamp>>, Refusal> {
    let read = async move |conn: &mut Conn| store::archived_at(conn, product).await;
    Ok(state.db.read(read).await?)
}

/// Archives a product or unarchives it: its title, and whether it was otherwise before.
///
/// # Errors
///
/// [`Refusal::NotFound`], and faults of the store.
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
    let (tx, now) = (&mut *work.tx, work.now);
    let before = store::lock_quantity(tx, product).await?;
    let titled = super::movements::store::product(tx, product).await?;
    let (Some(before), Some(titled)) = (before, titled) else {
        return Err(Refusal::NotFound);
    };
    let title = titled.title;
    if before.is_archived == is_archived {
        return Ok((title, false));
    }
    store::set_archived_at(tx, product, is_archived.then_some(now), now).await?;
    aggregates::note_change(tx, product).await?;
    let after = LockedStock {
        is_archived,
        ..before
    };
    super::record_level(tx, product, before, after).await?;
    if is_archived {
        analysis::withdraw(tx, product).await?;
    }
    let action = Action::Changed(&[IS_ARCHIVED.name]);
    audit::record(work, action, Model::Product, product, &title).await?;
    Ok((title, true))
}
