//! Merchants' API keys: made, listed, revoked, checked. A key is 256 random bits, shown once when it is made; the store
//! has its SHA-256 and its first characters. Keys of the configuration are accepted as well.

mod store;

use db::{Db, Timestamp};
use web::{Clock, Random};

use crate::app::State;
use crate::digest;

/// What every key begins with, so that leaked ones can be recognised.
const MARK: &str = "balcao_";
/// How much of a key is kept to know it by.
const PREFIX_LENGTH: usize = MARK.len() + 8;
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

/// Makes a key for the merchant's server called `name`.
///
/// # Errors
/// See [`AddError`].
pub async fn add(db: &Db, clock: &Clock, random: &Random, name: &str) -> Result<NewKey, AddError> {
    let name = name.trim().to_owned();
    let is_plain = !name.chars().any(char::is_control);
    if name.is_empty() || name.chars().count() > NAME_MAX || !is_plain {
        return Err(AddError::Name);
    }
    let key = format!("{MARK}{}", random.token());
    let prefix = shown(&key);
    let (digest, stored, now) = (digest::sha256(key.as_bytes()), prefix.clone(), clock.now());
    db.write(async move |tx| store::insert_key(tx, &name, &stored, &digest, now).await)
        .await?;
    Ok(NewKey { key, prefix })
}

/// Every key of the store, newest first.
///
/// # Errors
/// When the database fails.
pub async fn list(db: &Db) -> Result<Vec<ApiKey>, db::Error> {
    db.read(async move |conn| store::list_keys(conn).await)
        .await
}

/// Revokes a key, named by its first characters as they are listed, or by the whole of it: who found a leaked one has that in hand.
/// False when no key in force is meant.
///
/// # Errors
/// When the database fails.
pub async fn revoke(db: &Db, clock: &Clock, key: &str) -> Result<bool, db::Error> {
    let (prefix, now) = (key.trim().to_owned(), clock.now());
    let digest = digest::sha256(prefix.as_bytes());
    db.write(async move |tx| store::revoke_key(tx, &prefix, &digest, now).await)
        .await
}

/// As much of a key as may be shown: what it is listed by.
pub fn shown(key: &str) -> String {
    key.trim().chars().take(PREFIX_LENGTH).collect()
}

/// Is it a key of the configuration or one of the store that is in force?
pub(crate) async fn is_valid(state: &State, key: &str) -> Result<bool, db::Error> {
    let digest = digest::sha256(key.as_bytes());
    // Digests of equal length are compared, so that neither time nor length tells anything of the key.
    let mut is_configured = false;
    for configured in &state.api_key_digests {
        is_configured |= digest::is_equal(configured, &digest);
    }
    if is_configured {
        return Ok(true);
    }
    state
        .db
        .read(async move |conn| store::is_in_force(conn, &digest).await)
        .await
}

impl std::fmt::Debug for NewKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("NewKey")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}
