//! A lane: one thread with a runtime of its own and its own connections. Jobs of one lane run beside each other on
//! that thread, so their futures need not be `Send`.

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
use tokio::sync::{Semaphore, mpsc};

use super::{
    batches::Batches, connect::Connector, link::Links, look_ups::LookUps, session::Session,
};
use crate::{Conn, Counters, Error, ErrorKind, Options, Tx, job};

/// A job on its way to a lane.
pub(super) type LaneJob = Box<dyn FnOnce(Rc<Lane>) -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// What reaches a lane.
pub(super) enum Message {
    Job(LaneJob),
    Stop,
}

/// How a transaction that writes begins.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
/// And one that fills tables: no statement is stopped, and indexes are built with memory of their own.
const BEGIN_LOAD: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = 0; SET LOCAL maintenance_work_mem = '256MB'";
/// Waits between two attempts grow from this to the longest, by doubling, each shortened by chance.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// Connections of a lane for look-ups that share statements.
const LOOKING_UP: usize = 2;

/// The connections of a lane and its bounds.
pub(crate) struct Lane {
    jobs: Pool<Links>,
    reports: Pool<Links>,
    look_ups: Arc<LookUps>,
    /// One connection, opened on one lane, on which the replica shows that it lives, however busy the others are.
    heartbeats: Pool<Links>,
    pub(super) counters: Arc<Counters>,
    pub(super) batches: Batches,
    /// The most changes that share a commit.
    pub(super) batch: usize,
    retries: u32,
    begin_report: String,
}

/// How one attempt at a job ended.
enum Attempt<T, E> {
    Ended(Result<T, E>),
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
        let pool = |connector: Connector, size, wait| {
            let links = Links {
                connector,
                counters: Arc::clone(counters),
            };
            Pool::builder(links)
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
        Ok(Self {
            jobs: pool(connector.clone(), connections, options.wait)?,
            reports: pool(connector.clone(), 1, options.report_timeout)?,
            look_ups: Arc::new(LookUps::new(
                pool(connector.planning_once(), LOOKING_UP, options.wait)?,
                Arc::clone(counters),
            )),
            heartbeats: pool(connector.clone(), 1, options.wait)?,
            counters: Arc::clone(counters),
            batches: Batches::default(),
            batch: options.batch.max(1),
            retries: options.retries,
            begin_report: format!(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL max_parallel_workers_per_gather TO DEFAULT;
                 SET LOCAL statement_timeout = {}",
                options.report_timeout.as_millis()
            ),
        })
    }

    fn conn(&self, session: Session) -> Conn {
        Conn::postgres(session, Arc::clone(&self.counters))
    }

    pub(super) async fn read<T, E, F>(&self, job: &F) -> Result<T, E>
    where
        F: AsyncFn(&mut Conn) -> Result<T, E>,
        E: From<Error>,
    {
        self.repeat(async || {
            let mut conn = self.conn(Session::new(&self.jobs).with_look_ups(&self.look_ups));
            conn.begin_job(false);
            Ok(self.attempt_read(&mut conn, job).await)
        })
        .await
    }

    pub(super) async fn report<T, E, F>(&self, job: &F) -> Result<T, E>
    where
        F: AsyncFn(&mut Conn) -> Result<T, E>,
        E: From<Error>,
    {
        self.repeat(async || {
            let mut conn = self.conn(connected(&self.reports).await?);
            conn.postgres_session()?
                .want_transaction(self.begin_report.clone());
            conn.begin_job(true);
            let ended = self.attempt_read(&mut conn, job).await;
            conn.postgres_session()?.roll_back().await;
            Ok(ended)
        })
        .await
    }

    pub(super) async fn write<T, E, F>(&self, job: &F) -> Result<T, E>
    where
        F: AsyncFn(&mut Tx) -> Result<T, E>,
        E: From<Error>,
    {
        self.repeat(async || {
            let conn = self.conn(connected(&self.jobs).await?);
            self.attempt_write(Tx::new(conn), BEGIN_WRITE, job).await
        })
        .await
    }

    pub(super) async fn write_apart<T, E, F>(&self, job: &F) -> Result<T, E>
    where
        F: AsyncFn(&mut Tx) -> Result<T, E>,
        E: From<Error>,
    {
        self.repeat(async || {
            let conn = self.conn(connected(&self.heartbeats).await?);
            self.attempt_write(Tx::new(conn), BEGIN_WRITE, job).await
        })
        .await
    }

    pub(super) async fn load<T, E, F>(&self, job: &F) -> Result<T, E>
    where
        F: AsyncFn(&mut Tx) -> Result<T, E>,
        E: From<Error>,
    {
        self.repeat(async || {
            let conn = self.conn(connected(&self.reports).await?);
            self.attempt_write(Tx::new(conn), BEGIN_LOAD, job).await
        })
        .await
    }

    /// Attempts until the job has ended or the bounds are reached.
    async fn repeat<T, E: From<Error>>(
        &self,
        attempt: impl AsyncFn() -> Result<Attempt<T, E>, Error>,
    ) -> Result<T, E> {
        let mut connections_lost = 0;
        for number in 0..=self.retries {
            let error = match attempt().await? {
                Attempt::Ended(result) => return result,
                Attempt::Again(error) => error,
            };
            if *error.kind() != ErrorKind::Retry {
                // One connection lost is all lost where a server restarted: the next attempt opens a new one.
                connections_lost += 1;
                self.jobs.retain(|_, _| false);
                self.reports.retain(|_, _| false);
            }
            if number == self.retries || connections_lost > 1 {
                return Err(error.into());
            }
            self.counters.retry();
            tokio::time::sleep(pause(number)).await;
        }
        Err(Error::new(ErrorKind::Retry, "no attempt was made").into())
    }

    async fn attempt_read<T, E, F>(&self, conn: &mut Conn, job: &F) -> Attempt<T, E>
    where
        F: AsyncFn(&mut Conn) -> Result<T, E>,
        E: From<Error>,
    {
        self.counters.read();
        let result = job::finish(job(conn), &self.counters).await;
        match conn.end_job() {
            Some(error) if is_repeatable(conn, &error) => Attempt::Again(error),
            _ => Attempt::Ended(result),
        }
    }

    async fn attempt_write<T, E, F>(
        &self,
        mut tx: Tx,
        begin: &str,
        job: &F,
    ) -> Result<Attempt<T, E>, Error>
    where
        F: AsyncFn(&mut Tx) -> Result<T, E>,
        E: From<Error>,
    {
        tx.postgres_session()?.want_transaction(begin.to_owned());
        tx.begin_job(true);
        let result = job::finish(job(&mut tx), &self.counters).await;
        let failure = tx.end_job();
        let result = match (result, &failure) {
            (Ok(_), Some(error)) => Err(error.clone().into()),
            (result, _) => result,
        };
        match (result, failure) {
            (Ok(value), _) => Ok(match tx.postgres_session()?.commit().await {
                Ok(()) => {
                    self.counters.commit();
                    self.counters.write();
                    Attempt::Ended(Ok(value))
                }
                Err(error) if *error.kind() == ErrorKind::Retry => Attempt::Again(error),
                Err(error) => Attempt::Ended(Err(error.into())),
            }),
            (Err(refusal), failure) => {
                self.counters.rollback();
                tx.postgres_session()?.roll_back().await;
                Ok(match failure {
                    Some(error) if is_repeatable(&mut tx, &error) => Attempt::Again(error),
                    _ => Attempt::Ended(Err(refusal)),
                })
            }
        }
    }
}

/// A session with its connection.
async fn connected(pool: &Pool<Links>) -> Result<Session, Error> {
    let session = Session::new(pool);
    session.connect().await?;
    Ok(session)
}

/// Whether nothing was done and a further attempt may succeed: the server asked for it, or the connection broke
/// before any commit was sent.
fn is_repeatable(conn: &mut Conn, error: &Error) -> bool {
    *error.kind() == ErrorKind::Retry
        || conn
            .postgres_session()
            .is_ok_and(|session| session.is_lost())
}

impl Conn {
    fn postgres_session(&mut self) -> Result<&mut Session, Error> {
        self.as_postgres()
            .ok_or_else(|| Error::other("a connection of the other engine"))
    }
}

/// Runs a lane until it is told to stop or nobody can send to it; then waits for the jobs that it has.
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

/// A random part of a time that doubles with each attempt, so that transactions that met do not meet again.
fn pause(attempt: u32) -> Duration {
    let longest = FIRST_PAUSE
        .saturating_mul(2_u32.saturating_pow(attempt))
        .min(LONGEST_PAUSE);
    // The standard library seeds each of these anew: chance enough to scatter waits.
    let chance = RandomState::new().build_hasher().finish();
    let share = u32::try_from(chance % 1000).unwrap_or(0);
    longest.saturating_mul(share) / 1000
}
