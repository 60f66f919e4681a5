//! Idempotency: the answer to a movement that was booked under an `Idempotency-Key`, stored for 72 hours. The key commits with the
//! movement, so there is never one without the other. Forms that create other records use it too, so that a double tap creates one.

use std::time::Duration;

use db::{Conn, Timestamp, Tx};
use serde::Serialize;

use super::store;
use crate::rest::{
    Refusal,
    resource::{Created, Repeatable},
};

/// How long a key is remembered.
pub(super) const KEPT: Duration = Duration::from_secs(72 * 60 * 60);

/// The answer that was given under this key, if any.
pub(crate) async fn find<T>(
    conn: &mut Conn,
    repeatable: &Repeatable,
    now: Timestamp,
) -> Result<Option<Created<T>>, Refusal> {
    match store::find_key(conn, repeatable, now - KEPT).await? {
        None => Ok(None),
        Some((fingerprint, body)) if fingerprint == repeatable.fingerprint => {
            Ok(Some(Created::Replayed(body)))
        }
        Some(_) => Err(Refusal::KeyReused),
    }
}

/// Remembers the answer, in the transaction that made it. A key past its time makes room for its new use.
pub(crate) async fn remember<T: Serialize + Sync>(
    tx: &mut Tx,
    repeatable: &Repeatable,
    record: &T,
    now: Timestamp,
) -> Result<(), Refusal> {
    let body =
        serde_json::to_string(record).map_err(|error| db::Error::other(error.to_string()))?;
    store::forget_key(tx, repeatable, now - KEPT).await?;
    store::insert_key(tx, repeatable, &body, now).await?;
    Ok(())
}

/// The id of the record that was created under this key, if any.
pub(crate) async fn created(
    conn: &mut Conn,
    repeatable: &Repeatable,
    now: Timestamp,
) -> Result<Option<i64>, Refusal> {
    match find::<()>(conn, repeatable, now).await? {
        Some(Created::Replayed(body)) => id_in(&body),
        _ => Ok(None),
    }
}

/// The id in a remembered answer.
pub(crate) fn id_in(body: &str) -> Result<Option<i64>, Refusal> {
    let answer: serde_json::Value =
        serde_json::from_str(body).map_err(|error| db::Error::other(error.to_string()))?;
    Ok(answer.get("id").and_then(serde_json::Value::as_i64))
}
