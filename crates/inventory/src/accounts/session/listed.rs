//! Sessions as their owner and operators see them: where somebody is logged in, and putting them out.

use db::{Db, Timestamp};

use super::store;

/// A session of somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: i64,
    /// The address that it began from.
    pub address: String,
    /// What the browser called itself: see [`super::agent::words`].
    pub agent: String,
    /// When it began.
    pub created_at: Timestamp,
    /// The last visit that was written down, to the hour.
    pub last_seen_at: Timestamp,
}

/// The sessions of a user that have not ended, the last seen first.
///
/// # Errors
///
/// Faults of the store.
pub async fn of_user(db: &Db, user: i64, now: Timestamp) -> Result<Vec<Listed>, db::Error> {
    db.read(async move |conn| store::of_user(conn, user, now).await)
        .await
}

/// Ends one session of a user; whether there was one.
///
/// # Errors
///
/// Faults of the store.
pub async fn end(db: &Db, id: i64, user: i64) -> Result<bool, db::Error> {
    db.write(async move |tx| store::delete_one(tx, id, user).await)
        .await
}

/// Ends every session of a user but the one that is kept (0 keeps none); how many there were.
///
/// # Errors
///
/// Faults of the store.
pub async fn end_others(db: &Db, user: i64, kept: i64) -> Result<u64, db::Error> {
    db.write(async move |tx| store::delete_others(tx, user, kept).await)
        .await
}
