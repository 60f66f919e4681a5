//! Writing movements as part of a larger transaction.

use db::{Timestamp, Tx};

use super::{
    Movement, MovementInput, MovementRecord, book, check, read_fields, removal::remove, repeat,
};
use crate::{
    rest::{
        Refusal,
        fields::{FieldErrors, Members},
        resource::{Created, Repeatable},
    },
    stock::{Actor, Policy},
};

/// Books a movement, as [`create`](super::create) does.
pub(crate) async fn create(
    tx: &mut Tx,
    movement: Movement,
    members: &Members,
    (actor, policy): (&Actor, Policy),
    now: Timestamp,
) -> Result<MovementRecord, Refusal> {
    let (input, errors) = read_fields(movement, members);
    let record = check(tx, &input, errors, now).await?;
    book(tx, movement, record, actor, policy, now).await
}

/// Books a movement of fields that were read, once under its key.
pub(super) async fn booked(
    tx: &mut Tx,
    movement: Movement,
    (input, errors): (&MovementInput, FieldErrors),
    key: Option<&Repeatable>,
    (actor, policy): (&Actor, Policy),
    now: Timestamp,
) -> Result<Created<MovementRecord>, Refusal> {
    if let Some(key) = key
        && let Some(replayed) = repeat::find(tx, key, now).await?
    {
        return Ok(replayed);
    }
    let record = check(tx, input, errors, now).await?;
    let record = book(tx, movement, record, actor, policy, now).await?;
    if let Some(key) = key {
        repeat::remember(tx, key, &record, now).await?;
    }
    Ok(Created::New(record))
}

/// Deletes a movement and reverses its effect, as [`delete`](super::delete) does.
pub(crate) async fn delete(
    tx: &mut Tx,
    movement: Movement,
    id: i64,
    (actor, policy): (&Actor, Policy),
    now: Timestamp,
) -> Result<bool, Refusal> {
    remove(tx, movement, id, actor, policy, now).await
}
