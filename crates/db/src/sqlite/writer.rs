//! The one thread that writes: jobs that wait at the same time share a transaction and its one flush to the disk
//! (group commit), each within a savepoint of its own, and hear of their success only after the commit.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::checkpoint::LogKeeper;
use crate::{Conn, Counters, Error, Options, Tx, job, queue::Queue};

/// A job with its caller: run inside a batch, answered after it.
pub(crate) trait WriteJob: Send {
    /// Runs the job and says whether what it wrote stays.
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

/// How one job of a batch ended.
enum Ended {
    Kept,
    RolledBack,
    /// SQLite gave the whole transaction up (full disk, failing disk), so nothing of the batch is left.
    BatchLost(Error),
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
        if let Err(error) = self.control("BEGIN IMMEDIATE") {
            self.counters.rollback();
            first.answer(Err(error));
            return;
        }
        let started = Instant::now();
        let mut jobs = Vec::new();
        let mut kept = 0_u32;
        let mut lost = None;
        let mut next = Some(first);
        while let Some(mut job) = next.take() {
            let ended = self.run_job(job.as_mut());
            jobs.push(job);
            match ended {
                Ended::Kept => kept += 1,
                Ended::RolledBack => self.counters.rollback(),
                Ended::BatchLost(error) => {
                    lost = Some(error);
                    break;
                }
            }
            if jobs.len() < self.batch && started.elapsed() < self.batch_time {
                next = self.queue.pop_now();
            }
        }
        let outcome = match lost {
            Some(error) => Err(error),
            None if kept == 0 => self.control("ROLLBACK"),
            None => self.commit(kept),
        };
        for job in jobs {
            job.answer(outcome.clone());
        }
    }

    fn run_job(&mut self, job: &mut dyn WriteJob) -> Ended {
        if let Err(error) = self.control("SAVEPOINT job") {
            return Ended::BatchLost(error);
        }
        let stays = job.run(&mut self.tx, &self.counters);
        if !stays && self.is_idle() {
            let gone = "SQLite gave the transaction of the batch up: the disk is full or fails";
            return Ended::BatchLost(Error::unavailable(gone));
        }
        let ended = if stays {
            self.control("RELEASE job").map(|()| Ended::Kept)
        } else {
            self.control("ROLLBACK TO job")
                .and_then(|()| self.control("RELEASE job"))
                .map(|()| Ended::RolledBack)
        };
        ended.unwrap_or_else(|error| {
            self.roll_back();
            Ended::BatchLost(error.context("the transaction of the batch was lost"))
        })
    }

    fn commit(&mut self, kept: u32) -> Result<(), Error> {
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

    fn control(&mut self, sql: &'static str) -> Result<(), Error> {
        self.tx.sqlite_connection()?.control(sql)
    }
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
