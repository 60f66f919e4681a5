//! Ending sessions, as their owners and operators do.

use db::{Db, Timestamp};

use super::store;
use crate::{access::Actor, accounts::record_change, work::Author};

/// Ends one session of a user; whether there was one.
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

/// Ends every session of a user, but for the one that is kept; how many there were.
pub async fn end_all(
    db: &Db,
    actor: &Actor,
    user: i64,
    kept: Option<i64>,
    now: Timestamp,
) -> Result<u64, db::Error> {
    let author = Author::of(actor.clone(), now);
    // No session has this id.
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
