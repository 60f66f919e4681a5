//! Group commit on PostgreSQL: changes of one kind that wait at the same time share a transaction.
//! When one change of a batch fails, the batch is rolled back, and its changes are made one by one.
//!
//! A batch never waits for a row that another transaction has locked. Changes of such a row go to a
//! queue of that row, whose batches wait for it.

use std::{mem, rc::Rc};

use super::{
    change_queues::{Caller, ChangeQueue, PendingChange},
    lane::Lane,
};
use crate::{BatchedChange, Error, ErrorKind, Locks, Outcome, Tx, batched, job::Job};

/// Adds a change to its queue, and commits batches unless another task does.
pub(super) async fn enqueue<B: BatchedChange>(lane: Rc<Lane>, pending: PendingChange<B>) {
    let is_first = lane.changes.of(|waiting: &mut ChangeQueue<B>| {
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
        lane.changes
            .of(|waiting: &mut ChangeQueue<B>| waiting.next(lane.batch))
    };
    while let Some(batch) = next().flatten() {
        commit_batch(&lane, batch, Locks::Skip).await;
    }
}

/// Makes the changes of a batch, together or else one by one, and answers their callers.
async fn commit_batch<B: BatchedChange>(
    lane: &Rc<Lane>,
    batch: Vec<PendingChange<B>>,
    locks: Locks,
) {
    let (changes, callers): (Vec<B>, Vec<Caller<B>>) = batch
        .into_iter()
        .map(|pending| (pending.change, pending.caller))
        .unzip();
    let all = async |tx: &mut Tx| together(&changes, locks, tx).await;
    let ended = write(lane, locks, all).await;
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
                finish(lane, pending, Ok(outcome), locks);
            }
        }
        // A second attempt would fail the same way, or may follow a commit whose outcome is not
        // known.
        Err(error) if pending.len() == 1 || is_over(&error, locks) => {
            for pending in pending {
                finish(lane, pending, Err(error.clone()), locks);
            }
        }
        Err(_) => {
            for pending in pending {
                let change = &pending.change;
                let alone = async |tx: &mut Tx| batched::alone(change, locks, tx).await;
                let ended = write(lane, locks, alone).await;
                finish(lane, pending, ended, locks);
            }
        }
    }
}

/// Runs a job that skips locked rows, or waits for them.
async fn write<T, F>(lane: &Lane, locks: Locks, job: F) -> Result<T, Error>
where
    F: AsyncFn(&mut Tx) -> Result<T, Error>,
{
    let mut job = Job::new(job);
    let ran = match locks {
        Locks::Skip => lane.write_once(&mut job).await,
        Locks::Wait => lane.write_waiting(&mut job).await,
    };
    job.into_result(ran)
}

/// Whether the changes of a failed batch are not made one by one.
fn is_over(error: &Error, locks: Locks) -> bool {
    match locks {
        Locks::Skip => *error.kind() == ErrorKind::Unavailable,
        Locks::Wait => error.is_unavailable(),
    }
}

/// Answers the caller of a change, unless the change has to wait for its row.
fn finish<B: BatchedChange>(
    lane: &Rc<Lane>,
    pending: PendingChange<B>,
    ended: Result<Outcome<B::Answer>, Error>,
    locks: Locks,
) {
    let is_locked = match &ended {
        Ok(outcome) => !is_made(outcome),
        Err(error) => *error.kind() == ErrorKind::Locked,
    };
    if is_locked && locks == Locks::Skip {
        queue_for_row(lane, pending);
    } else {
        pending
            .caller
            .answer(ended.and_then(Outcome::after_waiting));
    }
}

/// Adds a change to the queue of its row, which is created if there is none.
fn queue_for_row<B: BatchedChange>(lane: &Rc<Lane>, pending: PendingChange<B>) {
    let row = pending.change.row();
    let is_first = lane.changes.of(|waiting: &mut ChangeQueue<B>| {
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
            .changes
            .of(|waiting: &mut ChangeQueue<B>| waiting.next_of_row(row, lane.batch));
        let Some(batch) = next.flatten() else {
            return;
        };
        match turn {
            Ok(_turn) => commit_batch(&lane, batch, Locks::Wait).await,
            Err(error) => {
                for pending in batch {
                    pending.caller.answer(Err(error.clone()));
                }
            }
        }
    }
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
