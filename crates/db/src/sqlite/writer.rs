//! The one thread that writes. Jobs that wait at the same time share a transaction and its one
//! flush to the disk (group commit), and return only after the commit. A savepoint for each job
//! would copy every page that the job touches. So a batch runs without savepoints. Only when a job
//! fails after it has written, the whole batch runs again, with a savepoint for each job. All jobs
//! run again because the data that they see of each other may be different this time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::{checkpoint::WalKeeper, files::Files};
use crate::{Conn, Counters, Error, Options, Tx, conn::sqlite::Connection, queue::Queue};

/// A job with its caller: run inside a batch, once or more often, answered after it.
pub(crate) trait WriteJob: Send {
    /// When it must have begun, at the latest.
    fn deadline(&self) -> Instant;
    /// Runs the job. Returns whether its writes stay. The result of an earlier run is replaced.
    fn run(&mut self, tx: &mut Tx) -> bool;
    /// Sends the caller the job's result, or the error of the batch.
    fn answer(self: Box<Self>, batch: Result<(), Error>);
}

/// A job of one result type.
pub(crate) struct PendingWrite<T, E, F> {
    body: F,
    deadline: Instant,
    has_begun: bool,
    result: Option<Result<T, E>>,
    caller: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> PendingWrite<T, E, F> {
    /// A job that must begin by `deadline`.
    pub(crate) fn new(body: F, caller: oneshot::Sender<Result<T, E>>, deadline: Instant) -> Self {
        Self {
            body,
            deadline,
            has_begun: false,
            result: None,
            caller,
        }
    }
}

impl<T, E, F> WriteJob for PendingWrite<T, E, F>
where
    F: AsyncFn(&mut Tx) -> Result<T, E> + Send,
    T: Send,
    E: From<Error> + Send,
{
    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn run(&mut self, tx: &mut Tx) -> bool {
        // One that began in time is not late when its batch is run again.
        let is_in_time = if self.has_begun {
            Ok(())
        } else {
            super::in_time(self.deadline)
        };
        let result = match is_in_time {
            Ok(()) => {
                self.has_begun = true;
                tx.run_job(&self.body)
            }
            Err(error) => Err(error.into()),
        };
        let stays = result.is_ok();
        self.result = Some(result);
        stays
    }

    fn answer(self: Box<Self>, batch: Result<(), Error>) {
        let result = match (batch, self.result) {
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(Error::other("a job was answered before it ran").into()),
            (Err(error), _) => Err(error.into()),
        };
        // When the caller has gone away, the writes stay all the same.
        let _caller_gone = self.caller.send(result);
    }
}

/// The writer's state.
pub(crate) struct Writer {
    tx: Tx,
    queue: Arc<Queue<Box<dyn WriteJob>>>,
    log: WalKeeper,
    counters: Arc<Counters>,
    files: Arc<Files>,
    batch: usize,
    batch_time: Duration,
    wait: Duration,
}

/// A job of the batch.
struct BatchedJob {
    job: Box<dyn WriteJob>,
    /// Its time limit stopped it, so it is not run again with the batch.
    was_stopped: bool,
}

impl BatchedJob {
    fn new(job: Box<dyn WriteJob>) -> Self {
        Self {
            job,
            was_stopped: false,
        }
    }
}

/// What undoes the writes of a job that fails.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RollbackScope {
    /// The rollback of the whole batch.
    Batch,
    /// A savepoint of its own.
    Savepoint,
}

/// How one job of a batch ended.
enum JobEnd {
    Kept,
    /// Nothing of it is left: it wrote nothing, or its savepoint was rolled back.
    RolledBack,
    /// It failed, and its writes are mixed with those of the others.
    Tainted,
    /// Its time limit stopped a statement that wrote. SQLite has rolled the whole transaction back
    /// for that.
    Stopped,
    /// SQLite gave the whole transaction up (full disk, failing disk), so nothing of the batch is
    /// left.
    BatchLost(Error),
}

/// How the jobs of a batch ran.
enum BatchRun {
    /// So many succeeded.
    Kept(usize),
    /// The others have to be run again: see [`JobEnd::Tainted`] and [`JobEnd::Stopped`].
    Tainted,
    /// See [`JobEnd::BatchLost`].
    Lost(Error),
}

impl Writer {
    pub(crate) fn new(
        conn: Conn,
        queue: Arc<Queue<Box<dyn WriteJob>>>,
        log: WalKeeper,
        counters: Arc<Counters>,
        files: Arc<Files>,
        options: &Options,
    ) -> Self {
        Self {
            tx: Tx::new(conn),
            queue,
            log,
            counters,
            files,
            batch: options.batch.max(1),
            batch_time: options.batch_time,
            wait: options.wait,
        }
    }

    /// Works until the queue is closed and empty.
    pub(crate) fn run(mut self) {
        while let Some(first) = self.queue.pop() {
            self.run_batch(first);
            if let Ok(connection) = self.tx.sqlite_connection() {
                self.log.check(connection);
            }
        }
    }

    fn run_batch(&mut self, first: Box<dyn WriteJob>) {
        let started = Instant::now();
        let mut jobs = vec![BatchedJob::new(first)];
        let mut outcome = self.attempt(&mut jobs, started, RollbackScope::Batch);
        // With savepoints only a job that exceeds its time limit taints the batch, and each such
        // job does so once.
        while let Ok(BatchRun::Tainted) = outcome {
            outcome = self.attempt(&mut jobs, started, RollbackScope::Savepoint);
        }
        let outcome = match outcome {
            Ok(BatchRun::Kept(0) | BatchRun::Tainted) => {
                self.roll_back();
                Ok(0)
            }
            Ok(BatchRun::Kept(kept)) => self.commit(kept).map(|()| kept),
            Ok(BatchRun::Lost(error)) | Err(error) => {
                self.files.set_writable(!error.is_unavailable());
                Err(error)
            }
        };
        let undone = jobs.len().saturating_sub(*outcome.as_ref().unwrap_or(&0));
        self.counters.rollbacks.add(undone);
        let outcome = outcome.map(drop);
        for waiting in jobs {
            waiting.job.answer(outcome.clone());
        }
    }

    /// Begins a transaction and runs the jobs in it, and those that come meanwhile.
    fn attempt(
        &mut self,
        jobs: &mut Vec<BatchedJob>,
        started: Instant,
        scope: RollbackScope,
    ) -> Result<BatchRun, Error> {
        self.begin(jobs, scope)?;
        let (mut kept, mut place) = (0, 0);
        loop {
            if place == jobs.len() && place < self.batch && started.elapsed() < self.batch_time {
                jobs.extend(self.queue.pop_now().map(BatchedJob::new));
            }
            let Some(waiting) = jobs.get_mut(place) else {
                return Ok(BatchRun::Kept(kept));
            };
            place += 1;
            if waiting.was_stopped {
                continue;
            }
            let ended = self.run_job(waiting.job.as_mut(), scope);
            waiting.was_stopped = matches!(ended, JobEnd::Stopped);
            match ended {
                JobEnd::Kept => kept += 1,
                JobEnd::RolledBack => {}
                // No other job has written or is left to run, so rolling back the transaction rolls
                // back the job.
                JobEnd::Tainted | JobEnd::Stopped if kept == 0 && place == jobs.len() => {
                    return Ok(BatchRun::Kept(0));
                }
                JobEnd::Tainted | JobEnd::Stopped => {
                    self.roll_back();
                    return Ok(BatchRun::Tainted);
                }
                JobEnd::BatchLost(error) => return Ok(BatchRun::Lost(error)),
            }
        }
    }

    /// Begins a transaction. It waits for another process's transaction until the first job's
    /// deadline, so that each job gets its answer by its own deadline.
    fn begin(&self, jobs: &[BatchedJob], scope: RollbackScope) -> Result<(), Error> {
        self.files.check()?;
        let wait = match (scope, jobs.first()) {
            (RollbackScope::Batch, Some(first)) => first
                .job
                .deadline()
                .saturating_duration_since(Instant::now()),
            _ => self.wait,
        };
        self.tx.sqlite_connection()?.set_wait(wait)?;
        self.control("BEGIN IMMEDIATE")
    }

    fn run_job(&mut self, job: &mut dyn WriteJob, scope: RollbackScope) -> JobEnd {
        match scope {
            RollbackScope::Batch => self.run_in_batch(job),
            RollbackScope::Savepoint => self.run_with_savepoint(job).unwrap_or_else(|error| {
                self.roll_back();
                JobEnd::BatchLost(error.context("the transaction of the batch was lost"))
            }),
        }
    }

    fn run_in_batch(&mut self, job: &mut dyn WriteJob) -> JobEnd {
        let before = self.changes();
        if job.run(&mut self.tx) {
            JobEnd::Kept
        } else if self.is_idle() {
            self.lost()
        } else if self.changes() == before {
            JobEnd::RolledBack
        } else {
            JobEnd::Tainted
        }
    }

    fn run_with_savepoint(&mut self, job: &mut dyn WriteJob) -> Result<JobEnd, Error> {
        self.control("SAVEPOINT job")?;
        let stays = job.run(&mut self.tx);
        if !stays && self.is_idle() {
            return Ok(self.lost());
        }
        if !stays {
            self.control("ROLLBACK TO job")?;
        }
        self.control("RELEASE job")?;
        Ok(if stays {
            JobEnd::Kept
        } else {
            JobEnd::RolledBack
        })
    }

    /// Why SQLite has ended the transaction under a job.
    fn lost(&self) -> JobEnd {
        let connection = self.tx.sqlite_connection();
        if connection.is_ok_and(Connection::was_stopped) {
            JobEnd::Stopped
        } else {
            JobEnd::BatchLost(transaction_lost())
        }
    }

    fn commit(&self, kept: usize) -> Result<(), Error> {
        let committed = self.control("COMMIT");
        match &committed {
            Ok(()) => {
                self.files.set_writable(true);
                self.counters.commits.increase();
                self.counters.writes.add(kept);
            }
            Err(error) => {
                tracing::error!(%error, "writes could not be committed and were rolled back: each caller gets this error");
                self.files.set_writable(!error.is_unavailable());
                self.roll_back();
            }
        }
        committed
    }

    fn roll_back(&self) {
        if let Ok(connection) = self.tx.sqlite_connection() {
            connection.roll_back();
        }
    }

    fn is_idle(&self) -> bool {
        self.tx.sqlite_connection().is_ok_and(Connection::is_idle)
    }

    /// Rows that this connection has changed since it was opened.
    fn changes(&self) -> Option<u64> {
        let connection = self.tx.sqlite_connection().ok()?;
        Some(connection.changes())
    }

    fn control(&self, sql: &'static str) -> Result<(), Error> {
        self.tx.sqlite_connection()?.control(sql)
    }
}

fn transaction_lost() -> Error {
    Error::unavailable("SQLite gave the transaction of the batch up: the disk is full or fails")
}

/// Runs one reading job; a transaction that it left open is not left to the next one.
pub(crate) fn run_reader(mut conn: Conn, queue: &Queue<super::ReadJob>) {
    while let Some(job) = queue.pop() {
        job(&mut conn);
        if let Ok(connection) = conn.sqlite_connection() {
            connection.roll_back();
        }
    }
}
