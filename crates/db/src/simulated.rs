//! A database for simulations: real SQLite in memory. Its jobs run on the calling thread, so that a
//! run can be repeated exactly. Each handle has an [`Interference`], which delays jobs, loses their
//! results, or ends their process.

use std::{
    path::Path,
    pin::Pin,
    sync::{Arc, Mutex},
};

use crate::{
    Conn, Counters, Engine, Error, Migrations, Options, Statistics, Tx, conn::sqlite::Connection,
    job, lock_mutex, sqlite::migrate,
};

/// Ends when the [`Interference`] lets the job go on. Its value says whether the connection holds.
pub type Moment<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// Faults around the jobs of one handle. A moment that never ends is a process that died.
pub trait Interference: Send + Sync + 'static {
    /// Before a job begins. Without a connection the job does not run, and its caller gets
    /// `Unavailable`.
    fn before(&self, kind: JobKind) -> Moment<'_>;

    /// After a job has committed. Without a connection its caller gets `Unavailable` all the same,
    /// as when a connection is lost during the commit.
    fn after(&self, kind: JobKind) -> Moment<'_>;
}

/// What a job is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// The work of a caller.
    Work,
    /// A heartbeat, one every second.
    Heartbeat,
}

/// A migrated database in memory. Every handle of it stands for one process.
pub struct MemoryDatabase {
    /// One transaction that is never committed. Rolling it back gives an empty database with all
    /// statements still prepared. A panic in a job is caught, and rolls the job back.
    tx: Mutex<Tx>,
    counters: Arc<Counters>,
}

impl MemoryDatabase {
    /// An empty database with these tables.
    ///
    /// # Errors
    /// What the migrations fail of.
    pub fn new(migrations: &Migrations) -> Result<Self, Error> {
        let connection = Connection::in_memory()?;
        connection.control("BEGIN")?;
        migrate::apply(
            &connection,
            Path::new(":memory:"),
            &Options::default(),
            migrations,
        )?;
        connection.control("COMMIT")?;
        connection.control("BEGIN")?;
        let counters = Arc::default();
        Ok(Self {
            tx: Mutex::new(Tx::new(Conn::sqlite(connection, Arc::clone(&counters)))),
            counters,
        })
    }

    /// Empties it.
    ///
    /// # Errors
    /// None, unless memory runs out.
    pub fn rewind(&self) -> Result<(), Error> {
        let tx = lock_mutex(&self.tx);
        control(&tx, "ROLLBACK")?;
        control(&tx, "BEGIN")
    }
}

/// One process's side of a [`MemoryDatabase`].
pub(crate) struct Simulated {
    pub(crate) memory: Arc<MemoryDatabase>,
    pub(crate) engine: Engine,
    pub(crate) interference: Arc<dyn Interference>,
}

impl Simulated {
    pub(crate) fn statistics(&self) -> Statistics {
        self.memory.counters.snapshot(0, 0)
    }

    pub(crate) async fn read<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Conn) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.around(JobKind::Work, move |memory| {
            let mut tx = lock_mutex(&memory.tx);
            memory.counters.reads.increase();
            tx.begin_job(false);
            job::finish_at_once(job(&mut tx), &memory.counters)
        })
        .await
    }

    pub(crate) async fn write<T, E, F>(&self, kind: JobKind, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Tx) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.around(kind, move |memory| {
            let mut tx = lock_mutex(&memory.tx);
            control(&tx, "SAVEPOINT job")?;
            let result = tx.run_job(&job);
            if result.is_ok() {
                memory.counters.writes.increase();
            } else {
                control(&tx, "ROLLBACK TO job")?;
            }
            control(&tx, "RELEASE job")?;
            result
        })
        .await
    }

    async fn around<T, E: From<Error>>(
        &self,
        kind: JobKind,
        job: impl FnOnce(&MemoryDatabase) -> Result<T, E>,
    ) -> Result<T, E> {
        if !self.interference.before(kind).await {
            return Err(Error::unavailable("no connection to the simulated database").into());
        }
        let result = job(&self.memory);
        if !self.interference.after(kind).await {
            return Err(Error::unavailable("the simulated connection was lost").into());
        }
        result
    }
}

fn control(tx: &Tx, sql: &'static str) -> Result<(), Error> {
    tx.sqlite_connection()?.control(sql)
}
