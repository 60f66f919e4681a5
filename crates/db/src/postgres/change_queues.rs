//! The changes that wait on a lane, in a queue for each kind and for each row that is locked.

use std::{
    any::{Any, TypeId},
    cell::RefCell,
    collections::{HashMap, VecDeque},
};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::{BatchedChange, Error};

/// The changes that wait on a lane: a [`ChangeQueue`] for each kind.
#[derive(Default)]
pub(super) struct ChangeQueues(RefCell<HashMap<TypeId, Box<dyn Any + Send>>>);

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

/// The changes of one kind.
pub(super) struct ChangeQueue<B: BatchedChange> {
    pub(super) pending: VecDeque<PendingChange<B>>,
    /// Whether a task makes one batch after the other.
    pub(super) busy: bool,
    /// The changes of each row that was found locked. A task works on each of these queues and
    /// removes it when it is empty.
    pub(super) locked: HashMap<i64, VecDeque<PendingChange<B>>>,
}

impl<B: BatchedChange> Caller<B> {
    pub(super) fn answer(self, made: Result<B::Answer, Error>) {
        let _caller_gone = self.sender.send(made);
        drop(self.place);
    }
}

impl ChangeQueues {
    /// Works on the queue of one kind.
    pub(super) fn of<B: BatchedChange, T>(
        &self,
        act: impl FnOnce(&mut ChangeQueue<B>) -> T,
    ) -> Option<T> {
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
    pub(super) fn next(&mut self, most: usize) -> Option<Vec<PendingChange<B>>> {
        let count = self.pending.len().min(most);
        self.busy = count > 0;
        self.busy.then(|| self.pending.drain(..count).collect())
    }

    /// The next batch of a row's queue; none, and the queue is removed, when it is empty.
    pub(super) fn next_of_row(&mut self, row: i64, most: usize) -> Option<Vec<PendingChange<B>>> {
        let queue = self.locked.get_mut(&row)?;
        let count = queue.len().min(most);
        if count == 0 {
            self.locked.remove(&row);
            return None;
        }
        Some(queue.drain(..count).collect())
    }
}
