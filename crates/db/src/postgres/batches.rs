//! Group commit on PostgreSQL: changes of one kind that wait at the same time are made in one transaction, while the
//! next gather. A batch in which anything goes wrong is rolled back, and its changes are made one by one.

use std::{
    any::{Any, TypeId},
    cell::RefCell,
    collections::{HashMap, VecDeque},
    mem,
    rc::Rc,
};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::lane::Lane;
use crate::{Batched, Error, ErrorKind, Tx, batched};

/// What waits on a lane to be made: a [`Waiting`] for each kind.
#[derive(Default)]
pub(super) struct Batches(RefCell<HashMap<TypeId, Box<dyn Any + Send>>>);

/// A change that somebody asks for.
pub(super) struct Asked<B: Batched> {
    pub(super) change: B,
    pub(super) caller: Caller<B>,
}

/// Who is to hear of it.
pub(super) struct Caller<B: Batched> {
    pub(super) sender: oneshot::Sender<Result<B::Answer, Error>>,
    /// Held until the change has been made.
    pub(super) place: OwnedSemaphorePermit,
}

struct Waiting<B: Batched> {
    asked: VecDeque<Asked<B>>,
    /// Whether a task makes one batch after the other.
    busy: bool,
}

/// Puts a change among those that wait, and makes batches unless another task does.
pub(super) async fn join<B: Batched>(lane: Rc<Lane>, asked: Asked<B>) {
    let was_busy = lane.batches.of(|waiting: &mut Waiting<B>| {
        waiting.asked.push_back(asked);
        mem::replace(&mut waiting.busy, true)
    });
    if was_busy != Some(false) {
        return;
    }
    let next = || {
        lane.batches
            .of(|waiting: &mut Waiting<B>| waiting.next(lane.batch))
    };
    while let Some(batch) = next().flatten() {
        make(&lane, batch).await;
    }
}

async fn make<B: Batched>(lane: &Lane, batch: Vec<Asked<B>>) {
    let (changes, callers): (Vec<B>, Vec<Caller<B>>) = batch
        .into_iter()
        .map(|asked| (asked.change, asked.caller))
        .unzip();
    let all = async |tx: &mut Tx| together(&changes, tx).await;
    match lane.write(&all).await {
        Ok(answers) => {
            for _ in callers.iter().skip(1) {
                lane.counters.write();
            }
            for (caller, answer) in callers.into_iter().zip(answers) {
                caller.tell(Ok(answer));
            }
        }
        // Another attempt would fail of the same, or may come after a commit whose outcome is not known.
        Err(error) if changes.len() == 1 || *error.kind() == ErrorKind::Unavailable => {
            for caller in callers {
                caller.tell(Err(error.clone()));
            }
        }
        Err(_) => {
            for (change, caller) in changes.iter().zip(callers) {
                let alone = async |tx: &mut Tx| batched::alone(change, tx).await;
                caller.tell(lane.write(&alone).await);
            }
        }
    }
}

async fn together<B: Batched>(changes: &[B], tx: &mut Tx) -> Result<Vec<B::Answer>, Error> {
    let answers = B::make(changes, tx).await?;
    if answers.len() == changes.len() {
        Ok(answers)
    } else {
        Err(batched::unanswered())
    }
}

impl<B: Batched> Caller<B> {
    fn tell(self, made: Result<B::Answer, Error>) {
        let _caller_gone = self.sender.send(made);
        drop(self.place);
    }
}

impl Batches {
    /// Does something with what waits of one kind.
    fn of<B: Batched, T>(&self, act: impl FnOnce(&mut Waiting<B>) -> T) -> Option<T> {
        let mut kinds = self.0.borrow_mut();
        kinds
            .entry(TypeId::of::<B>())
            .or_insert_with(|| {
                Box::new(Waiting::<B> {
                    asked: VecDeque::new(),
                    busy: false,
                })
            })
            .downcast_mut()
            .map(act)
    }
}

impl<B: Batched> Waiting<B> {
    /// The next batch; none, and the work ends, when nobody waits.
    fn next(&mut self, most: usize) -> Option<Vec<Asked<B>>> {
        let count = self.asked.len().min(most);
        self.busy = count > 0;
        self.busy.then(|| self.asked.drain(..count).collect())
    }
}
