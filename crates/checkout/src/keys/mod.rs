//! Merchants' API keys: made, listed, revoked, checked. A key is 256 random bits, shown once when
//! it is made; the store has its SHA-256 and its first characters. Keys of the configuration are
//! accepted as well.

mod store;

use std::sync::Arc;

use db::{Db, Timestamp};
use web::{Clock, Random};

use crate::digest;
use crate::secret::Secret;

/// What every key begins with, so that leaked ones can be recognised.
const KEY_PREFIX: &str = "balcao_";
/// How many characters of a key are stored and listed.
const PREFIX_LENGTH: usize = KEY_PREFIX.len() + 8;
/// The longest name.
const NAME_MAX: usize = 100;

/// A key as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Whose it is.
    pub name: String,
    /// Its first characters.
    pub prefix: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
}

/// A key that was just made.
#[derive(Clone, PartialEq, Eq)]
pub struct NewKey {
    /// The key itself: shown now and never again.
    pub key: String,
    /// Its first characters.
    pub prefix: String,
}

/// Why no key is made.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// The name is blank, too long, or has control characters.
    #[error("a name has 1 to {NAME_MAX} characters, none of them a control character")]
    Name,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// The keys that are in force: those of the configuration, and those of the store.
#[derive(Clone)]
pub(crate) struct ApiKeys {
    db: Db,
    /// Digests of the configuration's keys.
    configured: Arc<[String]>,
}

impl ApiKeys {
    pub(crate) fn new(db: Db, configured: &[Secret]) -> Self {
        let configured = configured.iter().map(Secret::sha256).collect();
        Self { db, configured }
    }

    /// Is a key with this SHA-256 in force?
    pub(crate) async fn is_valid(&self, digest: &str) -> Result<bool, db::Error> {
        // Digests of equal length are compared, all of them: the time tells nothing of the key.
        let mut is_configured = false;
        for configured in &*self.configured {
            is_configured |= digest::is_equal(configured, digest);
        }
        if is_configured {
            return Ok(true);
        }
        let digest = digest.to_owned();
        self.db
            .read(async move |conn| store::is_in_force(conn, &digest).await)
            .await
    }
}

/// Makes a key for the merchant's server called `name`.
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

/// Every key of the store, newest first.
pub async fn list(db: &Db) -> Result<Vec<ApiKey>, db::Error> {
    db.read(async move |conn| store::list_keys(conn).await)
        .await
}

/// Revokes a key, named by its first characters as they are listed, or by the whole of it: who
/// found a leaked one has that in hand. False when no key in force is meant.
pub async fn revoke(db: &Db, clock: &Clock, key: &str) -> Result<bool, db::Error> {
    let (prefix, now) = (key.trim().to_owned(), clock.now());
    let digest = digest::sha256(&prefix);
    db.write(async move |tx| store::revoke_key(tx, &prefix, &digest, now).await)
        .await
}

/// As much of a key as may be shown: what it is listed by.
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
