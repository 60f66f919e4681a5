//! PostgreSQL: a few lanes, each a thread with its own connections. A job runs on its lane to its
//! end, whether or not its caller still waits, and a job that must be retried is run again. How a
//! connection works is in `conn::postgres`.

mod batches;
mod change_queues;
mod lane;
pub(crate) mod migrate;

use std::{
    pin::Pin,
    rc::Rc,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use self::{
    change_queues::{Caller, PendingChange},
    lane::{Lane, Message},
};
use crate::{
    BatchedChange, Counters, Error, Options, PostgresAddress, Statistics,
    conn::postgres::Connector,
    job::{Job, Work},
    threads::Threads,
};

/// The lane of inline reads, whose batch loaders share statements, and of heartbeats. The more reads
/// there are on one lane, the fewer statements they need. Other jobs go to all lanes in turns.
pub(crate) const LOADER_LANE: u64 = 0;
/// The lane of batched changes, which share commits.
const BATCH_LANE: u64 = 1;

/// A job that a lane runs.
pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Result<(), Error>> + 'a>>;

/// A PostgreSQL database in use.
pub(crate) struct Postgres {
    connector: Connector,
    counters: Arc<Counters>,
    lanes: Vec<mpsc::Sender<Message>>,
    next: AtomicU64,
    /// One place for each job that waits or runs.
    room: Arc<Semaphore>,
    places: usize,
    closed: AtomicBool,
    threads: Threads,
    /// Why the last heartbeat could not be written, if it could not.
    pub(crate) heartbeat_error: Mutex<Option<Error>>,
}

impl Postgres {
    /// Connects once, to report a wrong address early, and starts the lanes.
    pub(crate) async fn open(address: &PostgresAddress, options: &Options) -> Result<Self, Error> {
        let connector = Connector::new(address, options)?;
        connector.try_once().await?;
        let counters = Arc::default();
        let places = options.queue.clamp(1, Semaphore::MAX_PERMITS >> 32);
        let mut postgres = Self {
            connector,
            counters,
            lanes: Vec::new(),
            next: AtomicU64::new(0),
            room: Arc::new(Semaphore::new(places)),
            places,
            closed: AtomicBool::new(false),
            threads: Threads::default(),
            heartbeat_error: Mutex::default(),
        };
        let lanes = options.lanes.max(1);
        let connections = options.connections.div_ceil(lanes).max(1);
        for number in 0..lanes {
            postgres.start_lane(number, connections, options)?;
        }
        Ok(postgres)
    }

    fn start_lane(
        &mut self,
        number: usize,
        connections: usize,
        options: &Options,
    ) -> Result<(), Error> {
        let (sender, messages) = mpsc::channel(self.places + 1);
        let lane = Lane::new(&self.connector, connections, options, &self.counters)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| {
                Error::unavailable(format!("cannot start a database thread's runtime: {error}"))
            })?;
        let (room, places) = (Arc::clone(&self.room), self.places());
        self.threads.start(&format!("db-lane-{number}"), move || {
            let local = tokio::task::LocalSet::new();
            local.block_on(&runtime, lane::run(Rc::new(lane), messages, room, places));
        })?;
        self.lanes.push(sender);
        Ok(())
    }

    fn places(&self) -> u32 {
        u32::try_from(self.places).unwrap_or(u32::MAX)
    }

    /// Makes a change in one batch with others of its kind.
    pub(crate) async fn write_batched<B: BatchedChange>(
        &self,
        change: B,
    ) -> Result<B::Answer, Error> {
        let (sender, answer) = oneshot::channel();
        let caller = Caller {
            sender,
            place: self.place()?,
        };
        let pending = PendingChange { change, caller };
        self.send_to(BATCH_LANE, move |lane| {
            Box::pin(batches::enqueue(lane, pending))
        })?;
        answer.await.map_err(|_| closed())?
    }

    /// The next lane in turn.
    pub(crate) fn turn(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Has the lane of this turn `run` a job, and waits for its answer.
    pub(crate) async fn send<C, T, E, F>(
        &self,
        turn: u64,
        job: F,
        run: for<'a> fn(&'a Lane, &'a mut dyn Work<C>) -> Running<'a>,
    ) -> Result<T, E>
    where
        C: 'static,
        F: AsyncFn(&mut C) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let mut job = Job::new(job);
        let (caller, answer) = oneshot::channel();
        let place = self.place()?;
        self.send_to(turn, move |lane| {
            Box::pin(async move {
                let ran = run(&lane, &mut job).await;
                let _caller_gone = caller.send(job.into_result(ran));
                drop(place);
            })
        })?;
        answer.await.map_err(|_| closed())?
    }

    /// A place for a job, at once or not at all.
    fn place(&self) -> Result<OwnedSemaphorePermit, Error> {
        Arc::clone(&self.room)
            .try_acquire_owned()
            .map_err(|_| self.refuse())
    }

    fn send_to(
        &self,
        turn: u64,
        job: impl FnOnce(Rc<Lane>) -> Pin<Box<dyn Future<Output = ()>>> + Send + 'static,
    ) -> Result<(), Error> {
        let lanes = self.lanes.len().max(1) as u64;
        let lane = usize::try_from(turn % lanes).unwrap_or(0);
        match self.lanes.get(lane) {
            Some(lane) if !self.closed.load(Ordering::Relaxed) => {
                let message = Message::Job(Box::new(job));
                lane.try_send(message).map_err(|_| closed())
            }
            _ => Err(closed()),
        }
    }

    fn refuse(&self) -> Error {
        if self.closed.load(Ordering::Relaxed) {
            return closed();
        }
        self.counters.refusals.increase();
        Error::unavailable("too many jobs wait for the database")
    }

    /// Opens a connection outside of the lanes: for migrations.
    pub(crate) fn connector(&self) -> &Connector {
        &self.connector
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.counters
            .snapshot(self.places - self.room.available_permits(), 0)
    }

    /// Takes no more jobs, and waits for those that it has. Returns how many threads had panicked.
    pub(crate) fn close(&self) -> usize {
        self.closed.store(true, Ordering::Relaxed);
        for lane in &self.lanes {
            // A lane whose thread has ended needs no message.
            let _ended = lane.try_send(Message::Stop);
        }
        self.threads.join()
    }
}

fn closed() -> Error {
    Error::unavailable("the database is closed")
}
