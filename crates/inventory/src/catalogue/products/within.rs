//! Writing products as part of a larger transaction.

use db::{Error, Timestamp, Tx};

use super::{ProductInput, ProductRecord, change, insert, store};
use crate::{
    access::{Actor, Model},
    audit::{self, Action},
    rest::{
        Refusal,
        fields::{FieldErrors, Members, Mode, read_all},
        given::Given,
    },
    stock::Work,
};

/// Creates a product, as [`create`](super::create) does.
pub(crate) async fn create(
    tx: &mut Tx,
    members: &Members,
    actor: &Actor,
    now: Timestamp,
) -> Result<ProductRecord, Refusal> {
    let (input, errors) = read_all::<ProductRecord>(members, Mode::Whole);
    made(tx, &input, errors, actor, now).await
}

/// Makes a product of fields that were read, and writes down who did.
pub(super) async fn made(
    tx: &mut Tx,
    input: &ProductInput,
    errors: FieldErrors,
    actor: &Actor,
    now: Timestamp,
) -> Result<ProductRecord, Refusal> {
    let id = insert(tx, input, errors, &Given::default(), actor, now).await?;
    let record = store::find(tx, id).await?.ok_or(Refusal::NotFound)?;
    let title = &record.title;
    audit::record(tx, actor, Action::Added, Model::Product, id, title, now).await?;
    Ok(record)
}

/// Changes a product, as [`update`](super::update) does.
pub(crate) async fn update(
    tx: &mut Tx,
    id: i64,
    members: &Members,
    mode: Mode,
    work: &Work,
) -> Result<Option<ProductRecord>, Refusal> {
    let (input, errors) = read_all::<ProductRecord>(members, mode);
    change(tx, id, &input, errors, work).await
}

/// A product, which nobody else changes until the transaction ends.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn held(tx: &mut Tx, id: i64) -> Result<Option<ProductRecord>, Error> {
    store::hold(tx, id).await?;
    store::find(tx, id).await
}
