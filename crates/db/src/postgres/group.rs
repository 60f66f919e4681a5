//! Group commit on PostgreSQL: jobs that wait at the same time share one transaction, and their statements travel
//! together, so that a row that everybody wants is locked, and the log flushed, once for all of them. A batch in which
//! anything goes wrong is rolled back, and its jobs are run one by one.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::{
    lane::{BEGIN_WRITE, Lane},
    session::Session,
};
use crate::{Conn, Counters, Error, ErrorKind, Tx, job};

type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The jobs of a lane that wait for the next batch.
#[derive(Default)]
pub(super) struct Group {
    waiting: RefCell<VecDeque<(i64, Box<dyn GroupJob>)>>,
    /// Whether a task works on batches, one after the other.
    busy: Cell<bool>,
}

/// A job with its caller.
pub(super) trait GroupJob: Send {
    /// Runs the job in the batch's transaction and says whether it may be committed.
    fn run(&mut self, tx: Tx, counters: Arc<Counters>) -> LocalFuture<'_, bool>;
    /// Runs the job by itself and tells the caller.
    fn run_alone(self: Box<Self>, lane: Rc<Lane>) -> LocalFuture<'static, ()>;
    /// Tells the caller how it ended: as the job did, unless the commit failed.
    fn answer(self: Box<Self>, committed: Result<(), Error>);
}

/// A job of a certain result.
pub(super) struct Grouped<T, E, F> {
    pub(super) body: F,
    pub(super) result: Option<Result<T, E>>,
    pub(super) caller: oneshot::Sender<Result<T, E>>,
    /// Held until the job has ended.
    pub(super) place: OwnedSemaphorePermit,
}

impl<T, E, F> GroupJob for Grouped<T, E, F>
where
    F: AsyncFn(&mut Tx) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: From<Error> + Send + 'static,
{
    fn run(&mut self, mut tx: Tx, counters: Arc<Counters>) -> LocalFuture<'_, bool> {
        Box::pin(async move {
            tx.begin_job(true);
            let result = job::finish((self.body)(&mut tx), &counters).await;
            let good = result.is_ok() && tx.end_job().is_none();
            self.result = Some(result);
            good
        })
    }

    fn run_alone(self: Box<Self>, lane: Rc<Lane>) -> LocalFuture<'static, ()> {
        Box::pin(async move {
            let result = lane.write(&self.body).await;
            let _caller_gone = self.caller.send(result);
            drop(self.place);
        })
    }

    fn answer(self: Box<Self>, committed: Result<(), Error>) {
        let result = match (committed, self.result) {
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(Error::other("a job was answered before it ran").into()),
            (Err(error), _) => Err(error.into()),
        };
        let _caller_gone = self.caller.send(result);
    }
}

/// How a batch ended.
enum Ended {
    Committed,
    /// Nothing of it was committed, and its jobs may succeed by themselves.
    RolledBack,
    /// The commit was sent and its outcome is not known, or there was no connection at all.
    Failed(Error),
}

/// Puts a job among those that wait, and works on batches unless another task does.
pub(super) async fn join(lane: Rc<Lane>, key: i64, job: Box<dyn GroupJob>) {
    lane.group.waiting.borrow_mut().push_back((key, job));
    if lane.group.busy.replace(true) {
        return;
    }
    loop {
        let batch = lane.group.next_batch(lane.batch);
        if batch.is_empty() {
            lane.group.busy.set(false);
            return;
        }
        run_batch(&lane, batch).await;
    }
}

impl Group {
    /// The next jobs, in the order of their keys: batches of several processes then lock rows in the same order.
    fn next_batch(&self, most: usize) -> Vec<Box<dyn GroupJob>> {
        let mut waiting = self.waiting.borrow_mut();
        let count = waiting.len().min(most);
        let mut batch: Vec<_> = waiting.drain(..count).collect();
        batch.sort_by_key(|(key, _)| *key);
        batch.into_iter().map(|(_, job)| job).collect()
    }
}

async fn run_batch(lane: &Rc<Lane>, mut jobs: Vec<Box<dyn GroupJob>>) {
    let ended = if jobs.len() == 1 {
        Ended::RolledBack
    } else {
        match lane.session().await {
            Ok(mut session) => run_together(lane, &mut session, &mut jobs).await,
            Err(error) => Ended::Failed(error),
        }
    };
    match ended {
        Ended::Committed => jobs.into_iter().for_each(|job| job.answer(Ok(()))),
        Ended::Failed(error) => {
            for job in jobs {
                job.answer(Err(error.clone()));
            }
        }
        Ended::RolledBack => {
            for job in jobs {
                job.run_alone(Rc::clone(lane)).await;
            }
        }
    }
}

async fn run_together(lane: &Lane, session: &mut Session, jobs: &mut [Box<dyn GroupJob>]) -> Ended {
    let count = jobs.len();
    let shared: Vec<Session> = jobs.iter().map(|_| session.share()).collect();
    let mut running: Vec<Option<LocalFuture<'_, bool>>> = Vec::with_capacity(count + 1);
    // First in the row, so that it is sent before every statement of the jobs.
    running.push(Some(Box::pin(async {
        session.begin(BEGIN_WRITE).await.is_ok()
    })));
    for (job, share) in jobs.iter_mut().zip(shared) {
        let tx = Tx::new(Conn::postgres(share, Arc::clone(&lane.counters)));
        running.push(Some(job.run(tx, Arc::clone(&lane.counters))));
    }
    let all_good = poll_fn(|context| poll_in_order(&mut running, context)).await;
    drop(running);
    if !all_good {
        lane.counters.rollback();
        session.roll_back().await;
        return Ended::RolledBack;
    }
    match session.commit().await {
        Ok(()) => {
            lane.counters.commit();
            for _ in 0..count {
                lane.counters.write();
            }
            Ended::Committed
        }
        Err(error) if *error.kind() == ErrorKind::Retry => Ended::RolledBack,
        Err(error) => Ended::Failed(error),
    }
}

/// Polls what has not ended, in the order of the row; ready when all have, with whether all were good.
fn poll_in_order(
    running: &mut [Option<LocalFuture<'_, bool>>],
    context: &mut Context<'_>,
) -> Poll<bool> {
    let mut waiting = false;
    let mut good = true;
    for slot in running {
        let Some(future) = slot else { continue };
        match future.as_mut().poll(context) {
            Poll::Ready(ended_well) => {
                good &= ended_well;
                *slot = None;
            }
            Poll::Pending => waiting = true,
        }
    }
    if waiting {
        Poll::Pending
    } else {
        Poll::Ready(good)
    }
}
