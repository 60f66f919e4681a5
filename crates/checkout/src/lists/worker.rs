//! The worker that compacts the deltas of day counts. Any number of them, in any number of
//! processes, may run at once.

use std::time::Duration;

use db::{Db, Error};
use web::server::Shutdown;

use super::store;

/// How often deltas are compacted. A reader adds up those that wait, so there must not be many.
const EVERY: Duration = Duration::from_secs(10);
/// Deltas of one transaction.
const BATCH: i64 = 1000;

/// Works until the service stops.
pub(crate) async fn run(db: Db, shutdown: Shutdown) {
    loop {
        if let Err(error) = compact(&db).await {
            tracing::warn!(%error, "lists: adding up the day counts failed, retrying in 10 s; until then lists are slower, their counts stay right");
        }
        tokio::select! {
            biased;
            () = shutdown.begun() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
    }
}

/// Adds all deltas to the counts of their days. While there are none it is one read.
pub async fn compact(db: &Db) -> Result<(), Error> {
    if db.read(store::has_deltas).await? {
        while db.write(async |tx| store::compact(tx, BATCH).await).await? > 0 {}
    }
    Ok(())
}
