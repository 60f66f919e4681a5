//! Ending sessions, by their owners and by operators.

use db::{Db, Timestamp};

use super::store;
use crate::{access::Actor, accounts::record_change, work::Author};

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
