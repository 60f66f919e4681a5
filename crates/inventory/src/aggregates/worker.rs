//! The worker that compacts deltas into the aggregates. Any number of workers may run at once, in
//! any number of processes.

use std::time::Duration;

use db::{Db, Error, Tx};

use super::{model::Aggregates, store};
use crate::State;

const BATCH: i64 = 1000;
/// How long to wait after a change before compaction, so that a batch collects more deltas. Readers
/// add up the remaining deltas, so the wait must be short.
const GATHERING: Duration = Duration::from_millis(200);
/// How often to compact without a notification. Also finds the deltas that a dead process left.
const POLL_INTERVAL: Duration = Duration::from_secs(30);

pub(crate) async fn work(state: State) {
    let mut version = state.changes.subscribe();
    loop {
        if let Err(error) = compact_all(&state.db).await {
            tracing::warn!(%error, "aggregates: compacting recorded deltas failed; readers stay exact and add the deltas up, retrying in 30 s");
        }
        tokio::select! {
            _ = version.changed() => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = state.shutdown.begun() => return,
        }
        tokio::select! {
            () = tokio::time::sleep(GATHERING) => {}
            () = state.shutdown.begun() => return,
        }
        version.mark_unchanged();
    }
}

/// Compacts batches until no delta is left.
pub async fn compact_all(db: &Db) -> Result<(), Error> {
    while compact_batch(db).await? > 0 {}
    Ok(())
}

/// Compacts one batch in a transaction. Returns the number of deltas in it.
pub async fn compact_batch(db: &Db) -> Result<usize, Error> {
    db.write(async |tx| compact(tx).await).await
}

/// Compacts one batch within a transaction, which deletes the deltas and updates the aggregates.
/// Returns the number of deltas.
pub async fn compact(tx: &mut Tx) -> Result<usize, Error> {
    let deltas = store::take_deltas(tx, BATCH).await?;
    let mut aggregates = Aggregates::default();
    for delta in &deltas {
        aggregates.add(delta);
    }
    store::add(tx, &aggregates).await?;
    Ok(deltas.len())
}
