//! Further data about movements: the user who booked one, and the period that has movements.

use db::{Conn, Timestamp};

use super::{Movement, MovementEntry, MovementRecord, store};
use crate::{State, rest::Refusal};

/// The ledger entry of a movement, if there is one.
pub(crate) async fn booking(
    state: &State,
    movement: Movement,
    record: &MovementRecord,
) -> Result<Option<MovementEntry>, Refusal> {
    let (product, at, id) = (record.product.id, record.created_at, record.id);
    let read = state
        .db
        .read(async move |conn| store::booking(conn, product, at, (movement, id)).await);
    Ok(read.await?)
}

/// The times of the first and the last movement.
pub(crate) async fn span(
    state: &State,
    movement: Movement,
) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
    let read = async move |conn: &mut Conn| store::list_of(movement).span(conn).await;
    Ok(state.db.read(read).await?)
}
