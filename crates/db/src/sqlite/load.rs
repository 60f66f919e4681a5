//! One long transaction on a connection of its own, without a limit of time: tables filled in bulk.

use std::{path::Path, sync::Arc};

use crate::{
    Conn, Counters, Error, Options, Tx,
    conn::sqlite::{Connection, Role},
};

/// Runs `job` in one transaction and commits. Blocks; the writer's jobs wait meanwhile as for
/// another process.
pub(super) fn run<T, E, F>(
    path: &Path,
    options: &Options,
    counters: &Arc<Counters>,
    job: &F,
) -> Result<T, E>
where
    F: AsyncFn(&mut Tx) -> Result<T, E>,
    E: From<Error>,
{
    let connection = Connection::open(path, Role::Maintenance, options)?;
    let mut tx = Tx::new(Conn::sqlite(connection, Arc::clone(counters)));
    tx.sqlite_connection()?.control("BEGIN IMMEDIATE")?;
    let result = tx.run_job(job);
    let connection = tx.sqlite_connection()?;
    match result {
        Ok(value) => {
            connection.control("COMMIT")?;
            counters.commits.increase();
            Ok(value)
        }
        Err(refusal) => {
            counters.rollbacks.increase();
            connection.roll_back();
            Err(refusal)
        }
    }
}
