//! Merchants' API keys: created, listed, revoked, checked. A key is 256 random bits and is shown
//! only once. The database has its SHA-256 and its first characters. Keys from the configuration
//! are accepted as well.

mod store;

use std::sync::Arc;

use db::{Db, Timestamp};
use web::{Clock, Random};

use crate::digest;
use crate::secret::Secret;

/// The prefix of every key, by which secret scanners recognise a leaked one.
const KEY_PREFIX: &str = "balcao_";
/// How many characters of a key are stored and listed.
const PREFIX_LENGTH: usize = KEY_PREFIX.len() + 8;
/// The longest name, in characters.
const NAME_MAX: usize = 100;

/// A key in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The name of the key's owner.
    pub name: String,
    /// Its first characters.
    pub prefix: String,
    /// When the key was created.
    pub created_at: Timestamp,
    /// When the key was revoked. `None` while it is valid.
    pub revoked_at: Option<Timestamp>,
}

/// A key that was just created.
#[derive(Clone, PartialEq, Eq)]
pub struct NewKey {
    /// The key itself. It cannot be shown again.
    pub key: String,
    /// Its first characters.
    pub prefix: String,
}

/// Why no key is created.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// The name is blank, too long, or contains control characters.
    #[error("a name has 1 to {NAME_MAX} characters, none of them a control character")]
    Name,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// The valid keys: those of the configuration, and those in the database.
#[derive(Clone)]
pub(crate) struct ApiKeys {
    db: Db,
    /// SHA-256 digests of the configuration's keys.
    configured: Arc<[String]>,
}

impl ApiKeys {
    pub(crate) fn new(db: Db, configured: &[Secret]) -> Self {
        let configured = configured.iter().map(Secret::sha256).collect();
        Self { db, configured }
    }

    /// Whether a valid key has this SHA-256.
    pub(crate) async fn is_valid(&self, digest: &str) -> Result<bool, db::Error> {
        Ok(self.is_configured(digest) || self.is_stored(digest).await?)
    }

    /// Whether a key in the database that is in force has this SHA-256.
    pub(crate) async fn is_stored(&self, digest: &str) -> Result<bool, db::Error> {
        let digest = digest.to_owned();
        self.db
            .read(async move |conn| store::is_in_force(conn, &digest).await)
            .await
    }

    /// Whether a key of the configuration has this SHA-256.
    pub(crate) fn is_configured(&self, digest: &str) -> bool {
        // All digests are compared, each in constant time, so timing reveals nothing about a key.
        let mut is_configured = false;
        for configured in &*self.configured {
            is_configured |= digest::is_equal(configured, digest);
        }
        is_configured
    }
}

/// Creates a key for the merchant's server `name`.
pub async fn add(db: &Db, clock: &Clock, random: &Random, name: &str) -> Result<NewKey, AddError> {
    let name = name.trim().to_owned();
    let is_plain = !name.chars().any(char::is_control);
    if name.is_empty() || name.chars().count() > NAME_MAX || !is_plain {
        return Err(AddError::Name);
    }
    let key = format!("{KEY_PREFIX}{}", random.token());
    let prefix = shown(&key);
    let (digest, stored, now) = (digest::sha256(&key), prefix.clone(), clock.now());
    db.write(async move |tx| store::insert_key(tx, &name, &stored, &digest, now).await)
        .await?;
    Ok(NewKey { key, prefix })
}

/// Every key in the database, newest first.
pub async fn list(db: &Db) -> Result<Vec<ApiKey>, db::Error> {
    db.read(async move |conn| store::list_keys(conn).await)
        .await
}

/// Revokes a key. `key` is its prefix from the list, or the whole key, as found in a leak. Returns
/// false if no valid key matches.
pub async fn revoke(db: &Db, clock: &Clock, key: &str) -> Result<bool, db::Error> {
    let (prefix, now) = (key.trim().to_owned(), clock.now());
    let digest = digest::sha256(&prefix);
    db.write(async move |tx| store::revoke_key(tx, &prefix, &digest, now).await)
        .await
}

/// The prefix of a key, which may be shown.
pub fn shown(key: &str) -> String {
    key.trim().chars().take(PREFIX_LENGTH).collect()
}

impl std::fmt::Debug for NewKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("NewKey")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}
