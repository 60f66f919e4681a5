//! Writing movements as part of a larger transaction.

use db::{Timestamp, Tx};

use super::{Movement, MovementRecord, book, check, read_fields, removal::remove};
use crate::{
    rest::{Refusal, fields::Members},
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
