//! A lane: one thread with a runtime of its own and its own connections. Jobs of one lane run
//! beside each other on that thread, so their futures need not be `Send`.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    pin::Pin,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use deadpool::{
    Runtime,
    managed::{Pool, Timeouts},
};
use tokio::{
    sync::{Semaphore, SemaphorePermit, mpsc},
    time::timeout,
};

use super::change_queues::ChangeQueues;
use crate::{
    Conn, Counters, Error, ErrorKind, Options, Tx,
    conn::postgres::{Connector, Epoch, LoaderQueues, PgManager, Session},
    job::Work,
};

/// A job on its way to a lane.
pub(super) type LaneJob = Box<dyn FnOnce(Rc<Lane>) -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// What reaches a lane.
pub(super) enum Message {
    Job(LaneJob),
    Stop,
}

/// How a transaction that writes begins.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
/// How a bulk load begins: no statement is stopped, and indexes are built with more memory.
const BEGIN_LOAD: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = 0; SET LOCAL maintenance_work_mem = '256MB'";
/// Exponential backoff with jitter: the first and the longest pause between two attempts.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// Connections of a lane for look-ups that share statements.
const LOADER_CONNECTIONS: usize = 2;
/// How much later than the server this side gives a statement up.
const GRACE: Duration = Duration::from_secs(2);
/// Bulk loads have no limit.
const NO_LIMIT: Duration = Duration::MAX;
/// Jobs that wait long for a locked row may hold one in so many connections.
const WAITING_SHARE: usize = 4;

/// The connections of a lane and its bounds.
pub(crate) struct Lane {
    jobs: Pool<PgManager>,
    reports: Pool<PgManager>,
    loader_queues: Arc<LoaderQueues>,
    /// One connection for the replica's heartbeats, however busy the others are.
    heartbeats: Pool<PgManager>,
    pub(super) counters: Arc<Counters>,
    pub(super) changes: ChangeQueues,
    /// The most changes that share a commit.
    pub(super) batch: usize,
    retries: u32,
    begin_report: String,
    /// How a transaction begins that waits long for locked rows.
    begin_waiting: String,
    /// One for each connection that a job may hold while it waits long for a locked row.
    lock_wait_permits: Semaphore,
    wait: Duration,
    /// How long the server is waited for. It gives up a statement a little earlier by itself,
    /// unless it does not answer at all.
    statement_limit: Duration,
    report_limit: Duration,
}

/// How one attempt at a job ended, unless the job failed for good.
enum Attempt {
    /// As the job says.
    Ended,
    /// Nothing was committed, and another attempt may succeed.
    Again(Error),
}

impl Lane {
    pub(super) fn new(
        connector: &Connector,
        connections: usize,
        options: &Options,
        counters: &Arc<Counters>,
    ) -> Result<Self, Error> {
        let epoch = Epoch::default();
        let pool = |connector: Connector, size, wait| {
            let manager = PgManager {
                connector,
                counters: Arc::clone(counters),
                epoch: epoch.clone(),
            };
            Pool::builder(manager)
                .max_size(size)
                .runtime(Runtime::Tokio1)
                .timeouts(Timeouts {
                    wait: Some(wait),
                    create: Some(options.wait),
                    recycle: None,
                })
                .build()
                .map_err(|error| Error::other(error.to_string()))
        };
        let statement_limit = options.statement_timeout.saturating_add(GRACE);
        Ok(Self {
            jobs: pool(connector.clone(), connections, options.wait)?,
            reports: pool(connector.for_reports(options), 1, options.report_timeout)?,
            loader_queues: Arc::new(LoaderQueues::new(
                pool(connector.planning_once(), LOADER_CONNECTIONS, options.wait)?,
                statement_limit,
                Arc::clone(counters),
            )),
            heartbeats: pool(connector.clone(), 1, options.wait)?,
            counters: Arc::clone(counters),
            changes: ChangeQueues::default(),
            batch: options.batch.max(1),
            retries: options.retries,
            begin_report: format!(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL max_parallel_workers_per_gather TO DEFAULT;
                 SET LOCAL statement_timeout = {}",
                options.report_timeout.as_millis()
            ),
            begin_waiting: format!(
                "{BEGIN_WRITE}; SET LOCAL lock_timeout = {}",
                options.long_lock_timeout.as_millis()
            ),
            lock_wait_permits: Semaphore::new((connections / WAITING_SHARE).max(1)),
            wait: options.wait,
            statement_limit,
            report_limit: options.report_timeout.saturating_add(GRACE),
        })
    }

    fn conn(&self, session: Session) -> Conn {
        Conn::postgres(session, Arc::clone(&self.counters))
    }

    /// Runs a job that reads. Of this and its siblings, `Ok` says that the job's own result counts.
    pub(crate) async fn read(&self, job: &mut dyn Work<Conn>) -> Result<(), Error> {
        self.repeat(async || {
            let session = Session::new(&self.jobs, self.statement_limit);
            let mut conn = self.conn(session).with_loader_queues(&self.loader_queues);
            conn.begin_job(false);
            Ok(self.attempt_read(&mut conn, job).await)
        })
        .await
    }

    pub(crate) async fn report(&self, job: &mut dyn Work<Conn>) -> Result<(), Error> {
        self.repeat(async || {
            let mut conn = self.conn(connected(&self.reports, self.report_limit).await?);
            conn.postgres_session()?
                .want_transaction(self.begin_report.clone());
            conn.begin_job(true);
            let ended = self.attempt_read(&mut conn, job).await;
            conn.postgres_session()?.roll_back().await;
            Ok(ended)
        })
        .await
    }

    /// A job that meets a locked row waits for it briefly. If that does not suffice, it is run once
    /// more, and waits long.
    pub(crate) async fn write(&self, job: &mut dyn Work<Tx>) -> Result<(), Error> {
        match self.write_once(job).await {
            Err(error) if *error.kind() == ErrorKind::Locked => {}
            ended => return ended,
        }
        self.counters.retries.increase();
        let _turn = self.lock_wait_permit().await?;
        self.write_waiting(job).await
    }

    /// As [`write`](Self::write), without the second attempt.
    pub(super) async fn write_once(&self, job: &mut dyn Work<Tx>) -> Result<(), Error> {
        self.write_on(&self.jobs, BEGIN_WRITE, job).await
    }

    /// Waits long for locked rows. The caller holds a [`lock_wait_permit`](Self::lock_wait_permit).
    pub(super) async fn write_waiting(&self, job: &mut dyn Work<Tx>) -> Result<(), Error> {
        self.write_on(&self.jobs, &self.begin_waiting, job).await
    }

    /// A permit to hold a connection while waiting long for a locked row.
    ///
    /// # Errors
    /// `Unavailable` when too many others wait.
    pub(super) async fn lock_wait_permit(&self) -> Result<SemaphorePermit<'_>, Error> {
        let turn = timeout(self.wait, self.lock_wait_permits.acquire()).await;
        turn.ok()
            .and_then(Result::ok)
            .ok_or_else(|| Error::unavailable("too many jobs wait for locked rows"))
    }

    pub(crate) async fn write_heartbeat(&self, job: &mut dyn Work<Tx>) -> Result<(), Error> {
        self.write_on(&self.heartbeats, BEGIN_WRITE, job).await
    }

    async fn write_on(
        &self,
        pool: &Pool<PgManager>,
        begin: &str,
        job: &mut dyn Work<Tx>,
    ) -> Result<(), Error> {
        self.repeat(async || {
            let conn = self.conn(connected(pool, self.statement_limit).await?);
            self.attempt_write(Tx::new(conn), begin, job).await
        })
        .await
    }

    pub(crate) async fn load(&self, job: &mut dyn Work<Tx>) -> Result<(), Error> {
        self.repeat(async || {
            let conn = self.conn(connected(&self.reports, NO_LIMIT).await?);
            self.attempt_write(Tx::new(conn), BEGIN_LOAD, job).await
        })
        .await
    }

    /// Attempts until the job has ended or the bounds are reached.
    async fn repeat(
        &self,
        mut attempt: impl AsyncFnMut() -> Result<Attempt, Error>,
    ) -> Result<(), Error> {
        let mut connections_lost = 0;
        for number in 0..=self.retries {
            let Attempt::Again(error) = attempt().await? else {
                return Ok(());
            };
            if *error.kind() != ErrorKind::Retry {
                // A server that restarted has closed all connections: the next attempt opens a new
                // one.
                connections_lost += 1;
                self.jobs.retain(|_, _| false);
                self.reports.retain(|_, _| false);
                self.heartbeats.retain(|_, _| false);
            }
            if number == self.retries || connections_lost > 1 {
                return Err(error);
            }
            self.counters.retries.increase();
            tokio::time::sleep(pause(number)).await;
        }
        Err(Error::retry("no attempt was made"))
    }

    async fn attempt_read(&self, conn: &mut Conn, job: &mut dyn Work<Conn>) -> Attempt {
        self.counters.reads.increase();
        job.run(conn, &self.counters).await;
        match conn.end_job() {
            Some(error) if is_repeatable(conn, &error) => Attempt::Again(error),
            _ => Attempt::Ended,
        }
    }

    async fn attempt_write(
        &self,
        mut tx: Tx,
        begin: &str,
        job: &mut dyn Work<Tx>,
    ) -> Result<Attempt, Error> {
        tx.postgres_session()?.want_transaction(begin.to_owned());
        tx.begin_job(true);
        let has_succeeded = job.run(&mut tx, &self.counters).await;
        let failure = tx.end_job();
        if has_succeeded && failure.is_none() {
            return match tx.postgres_session()?.commit().await {
                Ok(()) => {
                    self.counters.commits.increase();
                    self.counters.writes.increase();
                    Ok(Attempt::Ended)
                }
                Err(error) if *error.kind() == ErrorKind::Retry => Ok(Attempt::Again(error)),
                Err(error) => Err(error),
            };
        }
        self.counters.rollbacks.increase();
        tx.postgres_session()?.roll_back().await;
        match failure {
            Some(error) if is_repeatable(&mut tx, &error) => Ok(Attempt::Again(error)),
            Some(error) if *error.kind() == ErrorKind::Locked => Err(error),
            // The job ignored that a statement failed, but nothing of it was committed.
            Some(error) if has_succeeded => Err(error),
            _ => Ok(Attempt::Ended),
        }
    }
}

/// A session with its connection.
async fn connected(pool: &Pool<PgManager>, limit: Duration) -> Result<Session, Error> {
    let session = Session::new(pool, limit);
    session.connect().await?;
    Ok(session)
}

/// Whether nothing was done and a further attempt may succeed: the server asked for it, or the
/// connection broke before any commit was sent.
fn is_repeatable(conn: &mut Conn, error: &Error) -> bool {
    *error.kind() == ErrorKind::Retry
        || conn
            .postgres_session()
            .is_ok_and(|session| session.is_lost())
}

/// Runs a lane until it gets [`Message::Stop`] or all senders are dropped. Then waits for its jobs.
pub(super) async fn run(
    lane: Rc<Lane>,
    mut messages: mpsc::Receiver<Message>,
    room: Arc<Semaphore>,
    jobs: u32,
) {
    while let Some(Message::Job(job)) = messages.recv().await {
        tokio::task::spawn_local(job(Rc::clone(&lane)));
    }
    messages.close();
    while let Some(message) = messages.recv().await {
        if let Message::Job(job) = message {
            tokio::task::spawn_local(job(Rc::clone(&lane)));
        }
    }
    // Each job holds a place until it has ended, so all places free means that none is left.
    let _all_ended = room.acquire_many(jobs).await;
}

/// A random part of a time that doubles with each attempt, so that transactions that conflicted do
/// not conflict again.
fn pause(attempt: u32) -> Duration {
    let longest = FIRST_PAUSE
        .saturating_mul(2_u32.saturating_pow(attempt))
        .min(LONGEST_PAUSE);
    // The standard library seeds each of these anew: chance enough to scatter waits.
    let chance = RandomState::new().build_hasher().finish();
    let share = u32::try_from(chance % 1000).unwrap_or(0);
    longest.saturating_mul(share) / 1000
}
