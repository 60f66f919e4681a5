//! Sessions as users and operators see them, and how these end them.

use db::{Db, Timestamp};

use super::store;
use crate::{access::Actor, accounts::record_change, work::Author};

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The session's id.
    pub id: i64,
    /// The client's address at the login.
    pub address: String,
    /// The `User-Agent` header; see [`super::agent::words`].
    pub agent: String,
    /// When it began.
    pub created_at: Timestamp,
    /// The last visit, accurate to an hour.
    pub last_seen_at: Timestamp,
}

/// The sessions of a user that have not ended, most recently seen first.
pub async fn of_user(db: &Db, user: i64, now: Timestamp) -> Result<Vec<Listed>, db::Error> {
    db.read(async move |conn| store::of_user(conn, user, now).await)
        .await
}

/// Ends one session of a user. Returns whether it existed.
pub async fn end(
    db: &Db,
    actor: &Actor,
    (id, user): (i64, i64),
    now: Timestamp,
) -> Result<bool, db::Error> {
    let author = Author::of(actor.clone(), now);
    db.write(async move |tx| {
        let ended = store::delete_one(tx, id, user).await?;
        if ended {
            record_change(&mut author.work(tx), user, &["sessions"]).await?;
        }
        Ok(ended)
    })
    .await
}

/// Ends all sessions of a user, except `kept`. Returns how many.
pub async fn end_all(
    db: &Db,
    actor: &Actor,
    user: i64,
    kept: Option<i64>,
    now: Timestamp,
) -> Result<u64, db::Error> {
    let author = Author::of(actor.clone(), now);
    // No session has the id 0.
    let kept = kept.unwrap_or(0);
    db.write(async move |tx| {
        let ended = store::delete_others(tx, user, kept).await?;
        if ended > 0 {
            record_change(&mut author.work(tx), user, &["sessions"]).await?;
        }
        Ok(ended)
    })
    .await
}
