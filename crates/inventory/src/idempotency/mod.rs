//! Writes that happen once, whoever else writes at the same time and however often they are sent. The rules of the database settle who was
//! first. What was written under a key is remembered for 72 hours, in the same transaction, so there is never one without the other.

mod store;

use std::time::Duration;

use db::{Db, Error, Timestamp, Tx};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    State,
    rest::{Refusal, resource::Repeatable},
};

/// How long a key is remembered.
const KEPT: Duration = Duration::from_secs(72 * 60 * 60);

/// Why a write was refused.
pub(crate) trait WriteError: From<Error> + From<Refusal> {
    /// The error of the database, if it is one.
    fn database(&self) -> Option<&Error>;

    /// Whether something is wrong with what was sent, as far as a check can tell.
    fn is_invalid(&self) -> bool;
}

impl WriteError for Refusal {
    fn database(&self) -> Option<&Error> {
        match self {
            Self::Database(error) => Some(error),
            _ => None,
        }
    }

    fn is_invalid(&self) -> bool {
        matches!(self, Self::Fields(_))
    }
}

/// Runs a write, and once more when a rule of the database refused it. Another request then came between its check and its write, and
/// the check of the second run tells what that request did.
///
/// # Errors
///
/// Those of the write.
pub(crate) async fn on_conflict<T, E, F>(db: &Db, write: F) -> Result<T, E>
where
    F: AsyncFn(&mut Tx) -> Result<T, E> + Clone + Send + 'static,
    T: Send + 'static,
    E: WriteError + Send + 'static,
{
    match db.write(write.clone()).await {
        Err(error) if error.database().is_some_and(Error::is_conflict) => db.write(write).await,
        written => written,
    }
}

/// As [`on_conflict`], of a write that answers what it made and what to remember of it under the key. Of what was written under this key
/// before, `again` reads the answer.
///
/// # Errors
///
/// Those of `write` and `again`; a key that was used with other values.
pub(crate) async fn once<T, S, R, E, W, A>(
    state: &State,
    key: Option<Repeatable>,
    write: W,
    again: A,
) -> Result<T, E>
where
    T: Send + 'static,
    S: Serialize,
    R: DeserializeOwned,
    E: WriteError + Send + 'static,
    W: AsyncFn(&mut Tx) -> Result<(S, T), E> + Clone + Send + 'static,
    A: AsyncFn(&mut Tx, R) -> Result<T, E> + Clone + Send + 'static,
{
    let (now, is_keyed) = (state.clock.now(), key.is_some());
    let work = async move |tx: &mut Tx| {
        let Some(key) = &key else {
            return Ok(write(tx).await?.1);
        };
        if let Some(remembered) = find(tx, key, now).await? {
            return again(tx, remembered).await;
        }
        let (remembered, made) = write(tx).await?;
        remember(tx, key, &remembered, now).await?;
        Ok(made)
    };
    match on_conflict(&state.db, work.clone()).await {
        // The first of two taps may have taken a unique value between our look at the key and our check.
        Err(error) if is_keyed && error.is_invalid() => state.db.write(work).await,
        done => done,
    }
}

/// What was remembered under this key, if anything.
async fn find<R: DeserializeOwned>(
    tx: &mut Tx,
    key: &Repeatable,
    now: Timestamp,
) -> Result<Option<R>, Refusal> {
    match store::find(tx, key, now - KEPT).await? {
        None => Ok(None),
        Some((fingerprint, body)) if fingerprint == key.fingerprint => {
            let remembered = serde_json::from_str(&body);
            Ok(Some(remembered.map_err(|error| unreadable(&error))?))
        }
        Some(_) => Err(Refusal::KeyReused),
    }
}

/// A key past its time makes room for its new use.
async fn remember(
    tx: &mut Tx,
    key: &Repeatable,
    remembered: &impl Serialize,
    now: Timestamp,
) -> Result<(), Error> {
    let body = serde_json::to_string(remembered).map_err(|error| unreadable(&error))?;
    store::forget(tx, key, now - KEPT).await?;
    store::insert(tx, key, &body, now).await
}

fn unreadable(error: &serde_json::Error) -> Error {
    Error::other(error.to_string())
}
