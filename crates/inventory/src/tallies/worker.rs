//! The worker that folds notes into the tallies. Any number of them, in any number of processes, may run at once.

use std::time::Duration;

use db::{Db, Error, Tx};

use super::{model::Tallies, store};
use crate::State;

/// Changes that are folded in one transaction.
const BATCH: i64 = 1000;
/// Changes gather for so long before they are folded: a reader adds up those that wait, and that must stay quick.
const GATHERING: Duration = Duration::from_millis(200);
/// What a process left behind that died is folded by another after this time.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Folds what is noted, until the service stops.
pub(crate) async fn work(state: State) {
    let mut beats = state.pulse.follow();
    loop {
        if let Err(error) = fold_all(&state.db).await {
            tracing::warn!(%error, "noted changes could not be folded; they are counted all the same");
        }
        tokio::select! {
            _ = beats.changed() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = state.shutdown.begun() => return,
        }
        tokio::select! {
            () = tokio::time::sleep(GATHERING) => {}
            () = state.shutdown.begun() => return,
        }
        beats.mark_unchanged();
    }
}

/// Folds until nothing is noted.
///
/// # Errors
///
/// Faults of the store.
pub async fn fold_all(db: &Db) -> Result<(), Error> {
    while step(db).await? > 0 {}
    Ok(())
}

/// Folds one batch: how many changes it had.
///
/// # Errors
///
/// Faults of the store.
pub async fn step(db: &Db) -> Result<usize, Error> {
    db.write(async |tx| fold(tx).await).await
}

/// Folds one batch within a transaction: taking the notes out and adding them up commit together.
///
/// # Errors
///
/// Faults of the store.
pub async fn fold(tx: &mut Tx) -> Result<usize, Error> {
    let changes = store::take_changes(tx, BATCH).await?;
    let mut tallies = Tallies::default();
    for change in &changes {
        tallies.take(change);
    }
    for (key, tally) in &tallies.days {
        store::add_to_day(tx, key, tally).await?;
    }
    for (key, tally) in &tallies.stock {
        store::add_to_stock(tx, key, tally).await?;
    }
    for (key, span) in &tallies.spans {
        store::widen_span(tx, key, *span).await?;
    }
    if tallies.low != 0 {
        store::low::add(tx, tallies.low).await?;
    }
    Ok(changes.len())
}
