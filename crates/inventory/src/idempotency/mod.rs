//! Idempotency keys: the result of a request is stored under its key for 72 hours, so that a retry
//! gets the same response and writes nothing. `work` runs a write under a key.

mod store;

use std::time::Duration;

use db::{Error, Timestamp, Tx};
use serde::{Serialize, de::DeserializeOwned};

use crate::rest::Refusal;

/// How long a key is stored.
const RETENTION: Duration = Duration::from_secs(72 * 60 * 60);

/// An idempotency key. Requests of one user to one path with the same key are the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdempotencyKey {
    /// The user's id.
    pub user: i64,
    /// The resource's path.
    pub path: &'static str,
    /// The key in the request header, or one derived from a form's token.
    pub key: String,
    /// A digest of the request. A key must not be used again with another one.
    pub fingerprint: String,
}

/// Finds the stored result of a key. 422 if the key was used for a different request.
pub(crate) async fn find<R: DeserializeOwned>(
    tx: &mut Tx,
    key: &IdempotencyKey,
    now: Timestamp,
) -> Result<Option<R>, Refusal> {
    match store::find(tx, key, now - RETENTION).await? {
        None => Ok(None),
        Some((fingerprint, body)) if fingerprint == key.fingerprint => {
            Ok(Some(serde_json::from_str(&body).map_err(Error::other)?))
        }
        Some(_) => Err(Refusal::KeyReused),
    }
}

/// Deletes expired keys.
pub(crate) async fn forget_expired(tx: &mut Tx, now: Timestamp) -> Result<(), Error> {
    store::forget_expired(tx, now - RETENTION).await
}

/// Stores the result of a request under its key. Replaces an expired one.
pub(crate) async fn store(
    tx: &mut Tx,
    key: &IdempotencyKey,
    stored: &impl Serialize,
    now: Timestamp,
) -> Result<(), Error> {
    let body = web::json::write(web::json::RECORD_BYTES, stored).map_err(Error::other)?;
    let body = String::from_utf8(body).map_err(Error::other)?;
    store::forget(tx, key, now - RETENTION).await?;
    store::insert(tx, key, &body, now).await
}
