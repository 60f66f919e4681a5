//! SQLite: one file, a few threads that read it, one that reads it for reports, one that writes it
//! and one that keeps its log short. A job's future runs on such a thread and never waits. How a
//! connection works is in `conn::sqlite`.

pub(crate) mod backup;
mod checkpoint;
mod files;
mod load;
pub(crate) mod migrate;
mod pool;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use self::{
    checkpoint::WalKeeper,
    files::Files,
    pool::{Pool, Slot},
    writer::{PendingWrite, WriteJob, Writer},
};
use crate::{
    Conn, Counters, Error, Options, Statistics, Tx,
    conn::sqlite::{Connection, Role, create_private},
    job,
    queue::{PushError, Queue},
    threads::Threads,
};

/// A job for a thread that reads.
pub(crate) type ReadJob = Box<dyn FnOnce(&mut Conn) + Send>;

/// A SQLite database in use.
pub(crate) struct Sqlite {
    path: PathBuf,
    files: Arc<Files>,
    options: Options,
    counters: Arc<Counters>,
    reads: Arc<Queue<ReadJob>>,
    inline_reads: Pool,
    reports: Arc<Queue<ReadJob>>,
    writes: Arc<Queue<Box<dyn WriteJob>>>,
    checkpoints: Arc<Queue<()>>,
    threads: Threads,
    checkpointer: Threads,
}

impl Sqlite {
    /// Opens the file, creating it and its folder if absent, and starts the threads. Blocks on the
    /// disk.
    pub(crate) fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        create_private(path)?;
        let sqlite = Self {
            path: path.to_owned(),
            files: Arc::new(Files::of(path)?),
            options: options.clone(),
            counters: Arc::default(),
            reads: Arc::new(Queue::new(options.queue)),
            inline_reads: Pool::new(options.readers.max(1)),
            reports: Arc::new(Queue::new(options.queue)),
            writes: Arc::new(Queue::new(options.queue)),
            checkpoints: Arc::new(Queue::new(1)),
            threads: Threads::default(),
            checkpointer: Threads::default(),
        };
        sqlite.start_writer()?;
        sqlite.start_checkpointer()?;
        for number in 0..options.readers.max(1) {
            sqlite.start_reader(&format!("db-read-{number}"), Role::Reader, &sqlite.reads)?;
        }
        sqlite.start_reader("db-report", Role::Report, &sqlite.reports)?;
        Ok(sqlite)
    }

    fn connect(&self, role: Role) -> Result<Connection, Error> {
        let connection = Connection::open(&self.path, role, &self.options)?;
        self.counters.connections.increase();
        Ok(connection)
    }

    fn start_writer(&self) -> Result<(), Error> {
        let connection = self.connect(Role::Writer)?;
        if let Err(error) = checkpoint::preallocate_log(&connection, &self.path, &self.options) {
            tracing::warn!(%error, "no room could be reserved for the write-ahead log: it grows as it is written, which is slower");
        }
        self.files.log_is_open();
        let log = WalKeeper::new(
            &connection,
            &self.options,
            Arc::clone(&self.checkpoints),
            Arc::clone(&self.counters),
        )?;
        let conn = Conn::sqlite(connection, Arc::clone(&self.counters));
        let writer = Writer::new(
            conn,
            Arc::clone(&self.writes),
            log,
            Arc::clone(&self.counters),
            Arc::clone(&self.files),
            &self.options,
        );
        self.threads.start("db-write", move || writer.run())
    }

    fn start_checkpointer(&self) -> Result<(), Error> {
        let connection = self.connect(Role::Maintenance)?;
        let signals = Arc::clone(&self.checkpoints);
        self.checkpointer.start("db-checkpoint", move || {
            checkpoint::run(&connection, &signals);
        })
    }

    fn start_reader(
        &self,
        name: &str,
        role: Role,
        queue: &Arc<Queue<ReadJob>>,
    ) -> Result<(), Error> {
        let conn = Conn::sqlite(self.connect(role)?, Arc::clone(&self.counters));
        let queue = Arc::clone(queue);
        self.threads
            .start(name, move || writer::run_reader(conn, &queue))
    }

    pub(crate) async fn read<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Conn) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.lend(&self.reads, self.options.wait, move |conn, counters| {
            job::finish_at_once(job(conn), counters)
        })
        .await
    }

    /// As [`read_statement`](Self::read_statement), of several statements, which all see one
    /// snapshot.
    pub(crate) async fn read_inline<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Conn) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.read_statement(async move |conn: &mut Conn| {
            // The pool ends the transaction when the connection is released.
            conn.sqlite_connection()?.control("BEGIN")?;
            job(conn).await
        })
        .await
    }

    /// Runs a job of one statement on the calling thread, or as [`read`](Self::read) does when all
    /// connections for that are in use.
    pub(crate) async fn read_statement<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Conn) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.files.check_database()?;
        let mut conn = match self.inline_reads.acquire()? {
            Slot::Conn(conn) => conn,
            Slot::Open => {
                let connection = self.connect(Role::Reader);
                let connection = connection.inspect_err(|_| self.inline_reads.forget())?;
                Conn::sqlite(connection, Arc::clone(&self.counters))
            }
            Slot::None => return Box::pin(self.read(job)).await,
        };
        self.counters.reads.increase();
        conn.begin_job(false);
        let result = job::finish_at_once(job(&mut conn), &self.counters);
        self.inline_reads.release(conn);
        result
    }

    pub(crate) async fn report<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Conn) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.lend(
            &self.reports,
            self.options.report_timeout,
            move |conn, counters| {
                // The first statement takes the snapshot; the thread rolls back after the job.
                conn.sqlite_connection()?.control("BEGIN")?;
                conn.begin_job(true);
                job::finish_at_once(job(conn), counters)
            },
        )
        .await
    }

    async fn lend<T, E>(
        &self,
        queue: &Queue<ReadJob>,
        patience: Duration,
        job: impl FnOnce(&mut Conn, &Counters) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        let (counters, files) = (Arc::clone(&self.counters), Arc::clone(&self.files));
        let deadline = Instant::now() + patience;
        let pushed = queue.push(Box::new(move |conn| {
            // Nobody waits for it any more, and a read leaves nothing behind.
            if caller.is_closed() {
                return;
            }
            counters.reads.increase();
            conn.begin_job(false);
            let result = match in_time(deadline).and_then(|()| files.check_database()) {
                Ok(()) => job(conn, &counters),
                Err(error) => Err(error.into()),
            };
            let _caller_gone = caller.send(result);
        }));
        pushed.map_err(|refused| self.refuse(refused))?;
        answer.await.map_err(|_| closed_early())?
    }

    pub(crate) async fn write<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Tx) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        let pushed = self.writes.push(Box::new(PendingWrite::new(
            job,
            caller,
            Instant::now() + self.options.wait,
        )));
        pushed.map_err(|refused| self.refuse(refused))?;
        answer.await.map_err(|_| closed_early())?
    }

    pub(crate) async fn load<T, E, F>(&self, job: F) -> Result<T, E>
    where
        F: AsyncFn(&mut Tx) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.files.check()?;
        let (path, options) = self.place();
        let counters = Arc::clone(&self.counters);
        let done = tokio::task::spawn_blocking(move || load::run(&path, &options, &counters, &job));
        done.await
            .map_err(|error| Error::other(format!("a load was cut short: {error}")))?
    }

    fn refuse(&self, refused: PushError) -> Error {
        match refused {
            PushError::Full => {
                self.counters.refusals.increase();
                Error::unavailable("too many jobs wait for the database")
            }
            PushError::Closed => Error::unavailable("the database is closed"),
        }
    }

    /// Whether writes reach the disk. After one that did not, this writes again, because a load
    /// balancer may send no requests to a service that is not ready.
    pub(crate) async fn writable(&self) -> Result<(), Error> {
        self.files.check()?;
        if self.files.is_writable() {
            return Ok(());
        }
        // Writes the first page, even if nothing changes in it.
        self.write(async |tx: &mut Tx| tx.execute("PRAGMA user_version = 0", &[]).await)
            .await
            .map(drop)
    }

    /// The file and the options, for work that opens a connection of its own.
    pub(crate) fn place(&self) -> (PathBuf, Options) {
        (self.path.clone(), self.options.clone())
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.counters
            .snapshot(self.reads.len() + self.reports.len(), self.writes.len())
    }

    fn stop(&self) {
        self.reads.close();
        self.inline_reads.close();
        self.reports.close();
        self.writes.close();
    }

    /// Takes no more jobs, and waits for those that it has. Returns how many threads had panicked.
    pub(crate) fn close(&self) -> usize {
        self.stop();
        let panicked = self.threads.join();
        // The last connection to close copies the log into the file and removes it. Of two that
        // close at once, neither does, so one closes after all others.
        self.checkpoints.close();
        panicked + self.checkpointer.join()
    }
}

impl Drop for Sqlite {
    /// The threads finish their jobs and end, but are not joined.
    fn drop(&mut self) {
        self.stop();
        self.checkpoints.close();
    }
}

/// Refuses to begin a job that has waited too long: under overload its caller has given up, or will
/// soon.
fn in_time(deadline: Instant) -> Result<(), Error> {
    if Instant::now() > deadline {
        return Err(Error::unavailable(
            "the job waited too long for the database",
        ));
    }
    Ok(())
}

fn closed_early() -> Error {
    Error::unavailable("the database was closed before the job was run")
}
