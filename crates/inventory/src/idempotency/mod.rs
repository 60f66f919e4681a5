//! Idempotency keys: what was answered to a request is stored under its key for 72 hours, so that a
//! repetition is answered the same and writes nothing. `work` runs a write under its key.

mod store;

use std::time::Duration;

use db::{Error, Timestamp, Tx};
use serde::{Serialize, de::DeserializeOwned};

/// How long a key is stored.
const RETENTION: Duration = Duration::from_secs(72 * 60 * 60);

/// The same key by the same user at the same address is the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// Who sends it.
    pub user: i64,
    /// The resource's place in addresses.
    pub path: &'static str,
    /// The key: of the header, or of a form's token.
    pub key: String,
    /// What the request asks for, as a digest.
    pub fingerprint: String,
}

/// Why a key cannot be used.
#[derive(Debug)]
pub(crate) enum KeyError {
    /// It was used for another request.
    Reused,
    /// The store failed.
    Database(Error),
}

impl From<Error> for KeyError {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

/// What was stored under this key, if anything.
pub(crate) async fn find<R: DeserializeOwned>(
    tx: &mut Tx,
    key: &IdempotencyKey,
    now: Timestamp,
) -> Result<Option<R>, KeyError> {
    match store::find(tx, key, now - RETENTION).await? {
        None => Ok(None),
        Some((fingerprint, body)) if fingerprint == key.fingerprint => {
            let stored =
                serde_json::from_str(&body).map_err(|error| Error::other(error.to_string()))?;
            Ok(Some(stored))
        }
        Some(_) => Err(KeyError::Reused),
    }
}

/// Stores what a repetition needs. A key past its time makes room for its new use.
pub(crate) async fn store(
    tx: &mut Tx,
    key: &IdempotencyKey,
    stored: &impl Serialize,
    now: Timestamp,
) -> Result<(), Error> {
    let body = serde_json::to_string(stored).map_err(|error| Error::other(error.to_string()))?;
    store::forget(tx, key, now - RETENTION).await?;
    store::insert(tx, key, &body, now).await
}
