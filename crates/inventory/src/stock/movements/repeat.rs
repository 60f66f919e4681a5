//! Idempotency: the answer to a movement that was booked under an `Idempotency-Key`, stored for 72 hours. The key commits with the
//! movement, so there is never one without the other. Forms that create other records use it too, so that a double tap creates one.

use std::time::Duration;

use db::{Conn, Timestamp, Tx};
use serde::Serialize;

use super::store;
use crate::{
    State,
    rest::{
        Refusal,
        resource::{Created, Repeatable},
    },
    retry,
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

/// Writes a record and remembers its id under the key, in one transaction. Of a record that was written under this key before, `again`
/// reads the answer.
///
/// # Errors
///
/// Those of `write` and `again`; a key that was used with other values.
pub(crate) async fn once<T, W, A>(
    state: &State,
    key: Option<Repeatable>,
    write: W,
    again: A,
) -> Result<T, Refusal>
where
    T: Send + 'static,
    W: AsyncFn(&mut Tx) -> Result<(i64, T), Refusal> + Clone + Send + 'static,
    A: AsyncFn(&mut Tx, i64) -> Result<T, Refusal> + Clone + Send + 'static,
{
    let (now, is_keyed) = (state.clock.now(), key.is_some());
    let work = async move |tx: &mut Tx| {
        if let Some(key) = &key
            && let Some(id) = created(tx, key, now).await?
        {
            return again(tx, id).await;
        }
        let (id, record) = write(tx).await?;
        if let Some(key) = &key {
            remember(tx, key, &serde_json::json!({ "id": id }), now).await?;
        }
        Ok(record)
    };
    match retry::on_conflict(&state.db, work.clone()).await {
        // The first of two taps may have taken a unique value between our look at the key and our check.
        Err(Refusal::Fields(_)) if is_keyed => state.db.write(work).await,
        done => done,
    }
}

/// The id in a remembered answer.
pub(crate) fn id_in(body: &str) -> Result<Option<i64>, Refusal> {
    let answer: serde_json::Value =
        serde_json::from_str(body).map_err(|error| db::Error::other(error.to_string()))?;
    Ok(answer.get("id").and_then(serde_json::Value::as_i64))
}
