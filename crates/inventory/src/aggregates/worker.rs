//! The worker that compacts deltas into the aggregates. Any number of them, in any number of
//! processes, may run at once.

use std::time::Duration;

use db::{Db, Error, Tx};

use super::{model::Aggregates, store};
use crate::State;

/// Changes that are compacted in one transaction.
const BATCH: i64 = 1000;
/// Changes gather for so long before they are compacted: a reader adds up those that wait, and that
/// must stay quick.
const GATHERING: Duration = Duration::from_millis(200);
/// What a process left behind that died is compacted by another after this time.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Compacts what is recorded, until the service stops.
pub(crate) async fn work(state: State) {
    let mut version = state.changes.subscribe();
    loop {
        if let Err(error) = compact_all(&state.db).await {
            tracing::warn!(%error, "aggregates: compacting recorded deltas failed; readers stay exact and add the deltas up, retrying in 30 s");
        }
        tokio::select! {
            _ = version.changed() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = state.shutdown.begun() => return,
        }
        tokio::select! {
            () = tokio::time::sleep(GATHERING) => {}
            () = state.shutdown.begun() => return,
        }
        version.mark_unchanged();
    }
}

/// Compacts until nothing is recorded.
pub async fn compact_all(db: &Db) -> Result<(), Error> {
    while compact_batch(db).await? > 0 {}
    Ok(())
}

/// Compacts one batch: how many changes it had.
pub async fn compact_batch(db: &Db) -> Result<usize, Error> {
    db.write(async |tx| compact(tx).await).await
}

/// Compacts one batch within a transaction: taking the deltas out and adding them up commit
/// together.
pub async fn compact(tx: &mut Tx) -> Result<usize, Error> {
    let changes = store::take_deltas(tx, BATCH).await?;
    let mut aggregates = Aggregates::default();
    for change in &changes {
        aggregates.take(change);
    }
    for (key, aggregate) in &aggregates.days {
        store::add_to_day(tx, key, aggregate).await?;
    }
    for (key, aggregate) in &aggregates.stock {
        store::add_to_stock(tx, key, aggregate).await?;
    }
    for (key, span) in &aggregates.id_ranges {
        store::widen_id_range(tx, key, *span).await?;
    }
    if aggregates.low != 0 {
        store::low::add(tx, aggregates.low).await?;
    }
    Ok(changes.len())
}
