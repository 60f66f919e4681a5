//! What else is known about movements: who booked one, and the period in which there are any.

use db::Timestamp;

use super::{Movement, MovementRecord, store};
use crate::{State, rest::Refusal};

/// Who made a movement, when it was made; none where nobody did, or nobody wrote it down.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn booked_by(
    state: &State,
    movement: Movement,
    record: &MovementRecord,
) -> Result<Option<String>, Refusal> {
    let (product, at, id) = (record.product.id, record.created_at, record.id);
    let read = state
        .db
        .read(async move |conn| store::booked_by(conn, product, at, (movement, id)).await);
    Ok(read.await?.flatten())
}

/// The moments of the first and the last movement.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn span(
    state: &State,
    movement: Movement,
) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
    Ok(state
        .db
        .read(async move |conn| store::span(conn, movement).await)
        .await?)
}
