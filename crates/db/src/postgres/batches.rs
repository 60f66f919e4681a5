//! Group commit on PostgreSQL: changes of one kind that wait at the same time share a transaction.
//! When one change of a batch fails, the batch is rolled back, and its changes are made one by one.
//!
//! A batch never waits for a row that another transaction has locked. Changes of such a row go to a
//! queue of that row, whose batches wait for it.

use std::{
    any::{Any, TypeId},
    cell::RefCell,
    collections::{HashMap, VecDeque},
    mem,
    rc::Rc,
};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::lane::Lane;
use crate::{BatchedChange, Error, ErrorKind, Locks, Outcome, Tx, batched, job::Job};

/// The changes that wait on a lane: a [`ChangeQueue`] for each kind.
#[derive(Default)]
pub(super) struct Batches(RefCell<HashMap<TypeId, Box<dyn Any + Send>>>);

/// A change and its caller.
pub(super) struct PendingChange<B: BatchedChange> {
    pub(super) change: B,
    pub(super) caller: Caller<B>,
}

/// Gets the answer.
pub(super) struct Caller<B: BatchedChange> {
    pub(super) sender: oneshot::Sender<Result<B::Answer, Error>>,
    /// Held until the change has been made.
    pub(super) place: OwnedSemaphorePermit,
}

struct ChangeQueue<B: BatchedChange> {
    pending: VecDeque<PendingChange<B>>,
    /// Whether a task makes one batch after the other.
    busy: bool,
    /// The changes of each row that was found locked. A task works on each of these queues and
    /// removes it when it is empty.
    locked: HashMap<i64, VecDeque<PendingChange<B>>>,
}

/// Adds a change to its queue, and commits batches unless another task does.
pub(super) async fn enqueue<B: BatchedChange>(lane: Rc<Lane>, pending: PendingChange<B>) {
    let is_first = lane.batches.of(|waiting: &mut ChangeQueue<B>| {
        if let Some(queue) = waiting.locked.get_mut(&pending.change.row()) {
            queue.push_back(pending);
            return false;
        }
        waiting.pending.push_back(pending);
        !mem::replace(&mut waiting.busy, true)
    });
    if is_first != Some(true) {
        return;
    }
    let next = || {
        lane.batches
            .of(|waiting: &mut ChangeQueue<B>| waiting.next(lane.batch))
    };
    while let Some(batch) = next().flatten() {
        commit_batch(&lane, batch).await;
    }
}

async fn commit_batch<B: BatchedChange>(lane: &Rc<Lane>, batch: Vec<PendingChange<B>>) {
    let (changes, callers): (Vec<B>, Vec<Caller<B>>) = apart(batch);
    let mut all = Job::new(async |tx: &mut Tx| together(&changes, Locks::Skip, tx).await);
    let ran = lane.write_once(&mut all).await;
    let ended = all.ended(ran);
    let pending = changes
        .into_iter()
        .zip(callers)
        .map(|(change, caller)| PendingChange { change, caller });
    match ended {
        Ok(outcomes) => {
            let made = outcomes.iter().filter(|outcome| is_made(outcome)).count();
            // The transaction was counted as one write already.
            lane.counters.writes.add(made.saturating_sub(1));
            for (pending, outcome) in pending.zip(outcomes) {
                finish(lane, pending, Ok(outcome));
            }
        }
        // A second attempt would fail the same way, or may follow a commit whose outcome is not
        // known.
        Err(error) if pending.len() == 1 || *error.kind() == ErrorKind::Unavailable => {
            for pending in pending {
                finish(lane, pending, Err(error.clone()));
            }
        }
        Err(_) => {
            for pending in pending {
                let body =
                    async |tx: &mut Tx| batched::alone(&pending.change, Locks::Skip, tx).await;
                let mut alone = Job::new(body);
                let ran = lane.write_once(&mut alone).await;
                let ended = alone.ended(ran);
                finish(lane, pending, ended);
            }
        }
    }
}

/// Answers the caller of a change, unless the change has to wait for its row.
fn finish<B: BatchedChange>(
    lane: &Rc<Lane>,
    pending: PendingChange<B>,
    ended: Result<Outcome<B::Answer>, Error>,
) {
    match ended {
        Ok(Outcome::Made(answer)) => pending.caller.answer(Ok(answer)),
        Ok(Outcome::Locked) => queue_for_row(lane, pending),
        Err(error) if *error.kind() == ErrorKind::Locked => queue_for_row(lane, pending),
        Err(error) => pending.caller.answer(Err(error)),
    }
}

/// Adds a change to the queue of its row, which is created if there is none.
fn queue_for_row<B: BatchedChange>(lane: &Rc<Lane>, pending: PendingChange<B>) {
    let row = pending.change.row();
    let is_first = lane.batches.of(|waiting: &mut ChangeQueue<B>| {
        let is_first = !waiting.locked.contains_key(&row);
        waiting.locked.entry(row).or_default().push_back(pending);
        is_first
    });
    if is_first == Some(true) {
        tokio::task::spawn_local(drain_row_queue::<B>(Rc::clone(lane), row));
    }
}

/// Makes the changes of a row until its queue is empty.
async fn drain_row_queue<B: BatchedChange>(lane: Rc<Lane>, row: i64) {
    loop {
        let turn = lane.lock_wait_permit().await;
        let next = lane
            .batches
            .of(|waiting: &mut ChangeQueue<B>| waiting.next_of_row(row, lane.batch));
        let Some(batch) = next.flatten() else {
            return;
        };
        match turn {
            Ok(_turn) => commit_waiting(&lane, batch).await,
            Err(error) => {
                for pending in batch {
                    pending.caller.answer(Err(error.clone()));
                }
            }
        }
    }
}

async fn commit_waiting<B: BatchedChange>(lane: &Lane, batch: Vec<PendingChange<B>>) {
    let (changes, callers): (Vec<B>, Vec<Caller<B>>) = apart(batch);
    let mut all = Job::new(async |tx: &mut Tx| together(&changes, Locks::Wait, tx).await);
    let ran = lane.write_waiting(&mut all).await;
    match all.ended(ran) {
        Ok(outcomes) => {
            // The transaction was counted as one write already.
            lane.counters.writes.add(outcomes.len().saturating_sub(1));
            for (caller, outcome) in callers.into_iter().zip(outcomes) {
                caller.answer(outcome.after_waiting());
            }
        }
        Err(error) if changes.len() == 1 || error.is_unavailable() => {
            for caller in callers {
                caller.answer(Err(error.clone()));
            }
        }
        Err(_) => {
            for (change, caller) in changes.iter().zip(callers) {
                let body = async |tx: &mut Tx| batched::alone(change, Locks::Wait, tx).await;
                let mut alone = Job::new(body);
                let ran = lane.write_waiting(&mut alone).await;
                let ended = alone.ended(ran);
                caller.answer(ended.and_then(Outcome::after_waiting));
            }
        }
    }
}

fn apart<B: BatchedChange>(batch: Vec<PendingChange<B>>) -> (Vec<B>, Vec<Caller<B>>) {
    batch
        .into_iter()
        .map(|pending| (pending.change, pending.caller))
        .unzip()
}

async fn together<B: BatchedChange>(
    changes: &[B],
    locks: Locks,
    tx: &mut Tx,
) -> Result<Vec<Outcome<B::Answer>>, Error> {
    let outcomes = B::make(changes, locks, tx).await?;
    if outcomes.len() == changes.len() {
        Ok(outcomes)
    } else {
        Err(batched::unanswered())
    }
}

fn is_made<A>(outcome: &Outcome<A>) -> bool {
    matches!(outcome, Outcome::Made(_))
}

impl<B: BatchedChange> Caller<B> {
    fn answer(self, made: Result<B::Answer, Error>) {
        let _caller_gone = self.sender.send(made);
        drop(self.place);
    }
}

impl Batches {
    /// Works on the queue of one kind.
    fn of<B: BatchedChange, T>(&self, act: impl FnOnce(&mut ChangeQueue<B>) -> T) -> Option<T> {
        let mut kinds = self.0.borrow_mut();
        kinds
            .entry(TypeId::of::<B>())
            .or_insert_with(|| {
                Box::new(ChangeQueue::<B> {
                    pending: VecDeque::new(),
                    busy: false,
                    locked: HashMap::new(),
                })
            })
            .downcast_mut()
            .map(act)
    }
}

impl<B: BatchedChange> ChangeQueue<B> {
    /// The next batch; none, and the work ends, when the queue is empty.
    fn next(&mut self, most: usize) -> Option<Vec<PendingChange<B>>> {
        let count = self.pending.len().min(most);
        self.busy = count > 0;
        self.busy.then(|| self.pending.drain(..count).collect())
    }

    /// The next batch of a row's queue; none, and the queue is removed, when it is empty.
    fn next_of_row(&mut self, row: i64, most: usize) -> Option<Vec<PendingChange<B>>> {
        let queue = self.locked.get_mut(&row)?;
        let count = queue.len().min(most);
        if count == 0 {
            self.locked.remove(&row);
            return None;
        }
        Some(queue.drain(..count).collect())
    }
}
