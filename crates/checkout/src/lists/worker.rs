//! The worker that compacts the deltas of day counts. Any number of them may run at once, in any
//! number of processes.

use std::time::Duration;

use db::{Db, Error};
use tokio::time::timeout;
use web::server::Shutdown;

use super::store;

/// The interval of compactions. Each list request sums the pending deltas, so there must be few.
const EVERY: Duration = Duration::from_secs(10);
/// Deltas of one transaction.
const BATCH: i64 = 1000;

/// Runs the worker until the service stops.
pub(crate) async fn run(db: Db, shutdown: Shutdown) {
    loop {
        if let Err(error) = compact(&db).await {
            tracing::warn!(%error, "lists: compacting the day counts failed, retrying in 10 s; until then lists are slower, their counts stay right");
        }
        if timeout(EVERY, shutdown.begun()).await.is_ok() {
            return;
        }
    }
}

/// Adds all deltas to their day counts. Without deltas it costs one read.
pub async fn compact(db: &Db) -> Result<(), Error> {
    if db.read(store::has_deltas).await? {
        while db.write(async |tx| store::compact(tx, BATCH).await).await? > 0 {}
    }
    Ok(())
}
