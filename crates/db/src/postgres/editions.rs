//! In which edition the database is, told by one statement to all who ask at the same time.
//!
//! A snapshot says whose transactions it sees: all that were completed before `xmax`, but those that it lists as in progress
//! (<https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT>). So two that are equal see the same; and as completed
//! transactions stay so, whatever was read between them saw it too. Another server, one that was restarted among them, may count
//! anew: it has another time of start. So may one that recovered from the crash of a process: it has ended all connections, and a new
//! one has another number. One that follows another does not list what is in progress there, and engines that only speak PostgreSQL's
//! protocol may mean something else: neither is asked.

use std::{
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::oneshot, time::timeout};

use super::{lane::Lane, session::Session};
use crate::{Edition, Error, Row, Sql, Timestamp, job};

const EDITION: &str =
    "SELECT pg_postmaster_start_time(), concat(pg_backend_pid(), ' ', pg_current_snapshot())
     WHERE NOT pg_is_in_recovery() AND version() ~ '^PostgreSQL [0-9.]+ '";

/// How long a statement may take. Who asks could have been answered without an edition by then.
const PATIENCE: Duration = Duration::from_millis(250);

/// Who waits for the next edition that is told. Nobody is answered by a statement that was sent before they asked.
#[derive(Default)]
pub(super) struct Editions(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    callers: Vec<oneshot::Sender<Edition>>,
    /// Whether a task sends one statement after the other.
    busy: bool,
}

impl Editions {
    /// Where the edition will be told, and whether nobody is there to tell it.
    pub(super) fn ask(&self) -> (oneshot::Receiver<Edition>, bool) {
        let (caller, answer) = oneshot::channel();
        let mut waiting = self.waiting();
        waiting.callers.push(caller);
        (answer, !mem::replace(&mut waiting.busy, true))
    }

    /// Nobody will come who tells: whoever waits learns it.
    pub(super) fn give_up(&self) {
        *self.waiting() = Waiting::default();
    }

    /// Sends statements until nobody waits.
    pub(super) async fn tell(&self, lane: &Lane) {
        while let Some(callers) = self.next() {
            let asked = job::finish(ask(lane), &lane.counters);
            // Who waits is told by the silence when there is none.
            if let Ok(Ok(Some(edition))) = timeout(PATIENCE, asked).await {
                for caller in callers {
                    let _caller_gone = caller.send(edition);
                }
            }
        }
    }

    /// Who waits for the next statement; nobody, and the work ends.
    fn next(&self) -> Option<Vec<oneshot::Sender<Edition>>> {
        let mut waiting = self.waiting();
        waiting.busy = !waiting.callers.is_empty();
        waiting.busy.then(|| mem::take(&mut waiting.callers))
    }

    /// Nothing panics while the lock is held, so a poisoned one still guards a sound state.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn ask(lane: &Lane) -> Result<Option<Edition>, Error> {
    let mut edition = None;
    let mut take = |row: &Row<'_>| {
        let (started, snapshot) = (row.get::<Timestamp>(0)?, row.get::<String>(1)?);
        let told = [&started.micros().to_be_bytes(), snapshot.as_bytes()].concat();
        edition = Edition::of(&told);
        Ok(())
    };
    let mut session = Session::new(&lane.editions);
    session.each(Sql::Literal(EDITION), &[], &mut take).await?;
    Ok(edition)
}
