//! The worker that adds noted changes to the counts of their days. Any number of them, in any number of processes, may run at once.

use std::time::Duration;

use db::{Db, Error};

use super::store;
use crate::app::State;

/// Changes gather for so long: a reader adds up those that wait, and that must stay quick.
const EVERY: Duration = Duration::from_secs(10);
/// Changes that are added in one transaction.
const BATCH: i64 = 1000;

/// Works until the service stops.
pub(crate) async fn run(state: State) {
    loop {
        if let Err(error) = fold_all(&state.db).await {
            tracing::warn!(%error, "lists: changes could not be added to the counts of their days; they are counted all the same");
        }
        tokio::select! {
            biased;
            () = state.shutdown.begun() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
    }
}

/// Adds all changes to their days. While there are none it is one read.
///
/// # Errors
/// When the database fails.
pub async fn fold_all(db: &Db) -> Result<(), Error> {
    if db.read(store::has_changes).await? {
        while db.write(async |tx| store::fold(tx, BATCH).await).await? > 0 {}
    }
    Ok(())
}
