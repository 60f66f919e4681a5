//! The one thread that writes: jobs that wait at the same time share a transaction and its one flush to the disk
//! (group commit), and hear of their success only after the commit. A savepoint for each of them would copy every page
//! that it touches; so they run without, and only when one fails after it has written is the batch done again with.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::checkpoint::LogKeeper;
use crate::{Conn, Counters, Error, Options, Tx, job, queue::Queue};

/// A job with its caller: run inside a batch, once or twice, answered after it.
pub(crate) trait WriteJob: Send {
    /// Runs the job and says whether what it wrote stays. What an earlier run came to is forgotten.
    fn run(&mut self, tx: &mut Tx, counters: &Counters) -> bool;
    /// Tells the caller how it ended: as the job did, unless the batch failed.
    fn answer(self: Box<Self>, batch: Result<(), Error>);
}

/// A job of a certain result.
pub(crate) struct Job<T, E, F> {
    body: F,
    latest: Instant,
    result: Option<Result<T, E>>,
    caller: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> Job<T, E, F> {
    /// A job that must begin by `latest`.
    pub(crate) fn new(body: F, caller: oneshot::Sender<Result<T, E>>, latest: Instant) -> Self {
        Self {
            body,
            latest,
            result: None,
            caller,
        }
    }
}

impl<T, E, F> WriteJob for Job<T, E, F>
where
    F: AsyncFn(&mut Tx) -> Result<T, E> + Send,
    T: Send,
    E: From<Error> + Send,
{
    fn run(&mut self, tx: &mut Tx, counters: &Counters) -> bool {
        tx.begin_job(true);
        let mut result = match super::in_time(self.latest) {
            Ok(()) => job::finish_at_once((self.body)(tx), counters),
            Err(error) => Err(error.into()),
        };
        if let (Some(error), Ok(_)) = (tx.end_job(), &result) {
            result = Err(error.into());
        }
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
        // A caller that went away hears nothing; what was written stays.
        let _caller_gone = self.caller.send(result);
    }
}

/// The writer's state.
pub(crate) struct Writer {
    tx: Tx,
    queue: Arc<Queue<Box<dyn WriteJob>>>,
    log: LogKeeper,
    counters: Arc<Counters>,
    batch: usize,
    batch_time: Duration,
}

/// A job of the batch.
struct Waiting {
    job: Box<dyn WriteJob>,
    /// It is not run again: what it failed at was there before the batch or stays in it.
    has_failed: bool,
}

impl Waiting {
    fn new(job: Box<dyn WriteJob>) -> Self {
        Self {
            job,
            has_failed: false,
        }
    }
}

/// What takes back the writing of a job that fails.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// The rollback of the whole batch.
    Batch,
    /// A savepoint of its own.
    Savepoint,
}

/// How one job of a batch ended.
enum Ended {
    Kept,
    /// Nothing of it is left: it wrote nothing, or its savepoint took it back.
    RolledBack,
    /// It failed, and what it wrote stands among what the others wrote.
    Spoilt,
    /// SQLite gave the whole transaction up (full disk, failing disk), so nothing of the batch is left.
    BatchLost(Error),
}

/// How the jobs of a batch ran.
enum Ran {
    /// So many succeeded.
    Kept(usize),
    /// See [`Ended::Spoilt`].
    Spoilt,
    /// See [`Ended::BatchLost`].
    Lost(Error),
}

impl Writer {
    pub(crate) fn new(
        conn: Conn,
        queue: Arc<Queue<Box<dyn WriteJob>>>,
        log: LogKeeper,
        counters: Arc<Counters>,
        options: &Options,
    ) -> Self {
        Self {
            tx: Tx::new(conn),
            queue,
            log,
            counters,
            batch: options.batch.max(1),
            batch_time: options.batch_time,
        }
    }

    /// Works until the queue is closed and empty.
    pub(crate) fn run(mut self) {
        while let Some(first) = self.queue.pop() {
            self.run_batch(first);
            match self.tx.sqlite_connection() {
                Ok(connection) => self.log.look(connection),
                Err(error) => tracing::error!(%error, "no SQLite connection to write with"),
            }
        }
    }

    fn run_batch(&mut self, first: Box<dyn WriteJob>) {
        let started = Instant::now();
        let mut jobs = vec![Waiting::new(first)];
        let mut outcome = self.attempt(&mut jobs, started, Guard::Batch);
        if let Ok(Ran::Spoilt) = outcome {
            outcome = self.attempt(&mut jobs, started, Guard::Savepoint);
        }
        let outcome = match outcome {
            Ok(Ran::Kept(0) | Ran::Spoilt) => {
                self.roll_back();
                Ok(0)
            }
            Ok(Ran::Kept(kept)) => self.commit(kept).map(|()| kept),
            Ok(Ran::Lost(error)) | Err(error) => Err(error),
        };
        let undone = jobs.len().saturating_sub(*outcome.as_ref().unwrap_or(&0));
        for _ in 0..undone {
            self.counters.rollback();
        }
        let outcome = outcome.map(drop);
        for waiting in jobs {
            waiting.job.answer(outcome.clone());
        }
    }

    /// Begins a transaction and runs the jobs in it, and those that come meanwhile.
    fn attempt(
        &mut self,
        jobs: &mut Vec<Waiting>,
        started: Instant,
        guard: Guard,
    ) -> Result<Ran, Error> {
        self.control("BEGIN IMMEDIATE")?;
        let (mut kept, mut place) = (0, 0);
        loop {
            if place == jobs.len() && place < self.batch && started.elapsed() < self.batch_time {
                jobs.extend(self.queue.pop_now().map(Waiting::new));
            }
            let Some(waiting) = jobs.get_mut(place) else {
                return Ok(Ran::Kept(kept));
            };
            place += 1;
            if waiting.has_failed {
                continue;
            }
            let ended = self.run_job(waiting.job.as_mut(), guard);
            waiting.has_failed = !matches!(ended, Ended::Kept);
            match ended {
                Ended::Kept => kept += 1,
                Ended::RolledBack => {}
                // Alone in the transaction: to roll that back is to roll the job back.
                Ended::Spoilt if kept == 0 => return Ok(Ran::Kept(0)),
                Ended::Spoilt => {
                    self.control("ROLLBACK")?;
                    return Ok(Ran::Spoilt);
                }
                Ended::BatchLost(error) => return Ok(Ran::Lost(error)),
            }
        }
    }

    fn run_job(&mut self, job: &mut dyn WriteJob, guard: Guard) -> Ended {
        match guard {
            Guard::Batch => self.run_bare(job),
            Guard::Savepoint => self.run_guarded(job).unwrap_or_else(|error| {
                self.roll_back();
                Ended::BatchLost(error.context("the transaction of the batch was lost"))
            }),
        }
    }

    fn run_bare(&mut self, job: &mut dyn WriteJob) -> Ended {
        let before = self.changes();
        if job.run(&mut self.tx, &self.counters) {
            Ended::Kept
        } else if self.is_idle() {
            Ended::BatchLost(given_up())
        } else if self.changes() == before {
            Ended::RolledBack
        } else {
            Ended::Spoilt
        }
    }

    fn run_guarded(&mut self, job: &mut dyn WriteJob) -> Result<Ended, Error> {
        self.control("SAVEPOINT job")?;
        let stays = job.run(&mut self.tx, &self.counters);
        if !stays && self.is_idle() {
            return Ok(Ended::BatchLost(given_up()));
        }
        if !stays {
            self.control("ROLLBACK TO job")?;
        }
        self.control("RELEASE job")?;
        Ok(if stays {
            Ended::Kept
        } else {
            Ended::RolledBack
        })
    }

    fn commit(&mut self, kept: usize) -> Result<(), Error> {
        let committed = self.control("COMMIT");
        match &committed {
            Ok(()) => {
                self.counters.commit();
                for _ in 0..kept {
                    self.counters.write();
                }
            }
            Err(error) => {
                tracing::error!(%error, "a batch could not be committed");
                self.roll_back();
            }
        }
        committed
    }

    fn roll_back(&mut self) {
        if let Ok(connection) = self.tx.sqlite_connection() {
            connection.roll_back();
        }
    }

    fn is_idle(&mut self) -> bool {
        self.tx
            .sqlite_connection()
            .is_ok_and(|connection| connection.is_idle())
    }

    /// Rows that this connection has changed since it was opened.
    fn changes(&mut self) -> Option<u64> {
        let connection = self.tx.sqlite_connection().ok()?;
        Some(connection.changes())
    }

    fn control(&mut self, sql: &'static str) -> Result<(), Error> {
        self.tx.sqlite_connection()?.control(sql)
    }
}

fn given_up() -> Error {
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
