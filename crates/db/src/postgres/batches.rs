//! Group commit on PostgreSQL: changes of one kind that wait at the same time are made in one transaction, while the
//! next gather. A batch in which anything goes wrong is rolled back, and its changes are made one by one.
//!
//! A batch never waits for a row that another transaction has locked. Changes of such a row have a queue of their own
//! until it is empty, whose batches wait for the row.

use std::{
    any::{Any, TypeId},
    cell::RefCell,
    collections::{HashMap, VecDeque},
    mem,
    rc::Rc,
};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::lane::Lane;
use crate::{Batched, Error, ErrorKind, Locks, Outcome, Tx, batched, job::Job};

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
    /// What waits for each row that was found locked. A task works on each of these queues and removes it when it is empty.
    locked: HashMap<i64, VecDeque<Asked<B>>>,
}

/// Puts a change among those that wait, and makes batches unless another task does.
pub(super) async fn join<B: Batched>(lane: Rc<Lane>, asked: Asked<B>) {
    let is_first = lane.batches.of(|waiting: &mut Waiting<B>| {
        if let Some(queue) = waiting.locked.get_mut(&asked.change.row()) {
            queue.push_back(asked);
            return false;
        }
        waiting.asked.push_back(asked);
        !mem::replace(&mut waiting.busy, true)
    });
    if is_first != Some(true) {
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

async fn make<B: Batched>(lane: &Rc<Lane>, batch: Vec<Asked<B>>) {
    let (changes, callers): (Vec<B>, Vec<Caller<B>>) = apart(batch);
    let mut all = Job::new(async |tx: &mut Tx| together(&changes, Locks::Skip, tx).await);
    let ran = lane.write_briefly(&mut all).await;
    let ended = all.ended(ran);
    let asked = changes
        .into_iter()
        .zip(callers)
        .map(|(change, caller)| Asked { change, caller });
    match ended {
        Ok(outcomes) => {
            let made = outcomes.iter().filter(|outcome| is_made(outcome)).count();
            lane.counters.writes_beside_one(made);
            for (asked, outcome) in asked.zip(outcomes) {
                settle(lane, asked, Ok(outcome));
            }
        }
        // Another attempt would fail of the same, or may come after a commit whose outcome is not known.
        Err(error) if asked.len() == 1 || *error.kind() == ErrorKind::Unavailable => {
            for asked in asked {
                settle(lane, asked, Err(error.clone()));
            }
        }
        Err(_) => {
            for asked in asked {
                let body = async |tx: &mut Tx| batched::alone(&asked.change, Locks::Skip, tx).await;
                let mut alone = Job::new(body);
                let ran = lane.write_briefly(&mut alone).await;
                let ended = alone.ended(ran);
                settle(lane, asked, ended);
            }
        }
    }
}

/// Answers for a change, unless it has to wait for its row.
fn settle<B: Batched>(lane: &Rc<Lane>, asked: Asked<B>, ended: Result<Outcome<B::Answer>, Error>) {
    match ended {
        Ok(Outcome::Made(answer)) => asked.caller.tell(Ok(answer)),
        Ok(Outcome::Locked) => wait_for_row(lane, asked),
        Err(error) if *error.kind() == ErrorKind::Locked => wait_for_row(lane, asked),
        Err(error) => asked.caller.tell(Err(error)),
    }
}

/// Puts a change into the queue of its row, which is begun if there is none.
fn wait_for_row<B: Batched>(lane: &Rc<Lane>, asked: Asked<B>) {
    let row = asked.change.row();
    let is_first = lane.batches.of(|waiting: &mut Waiting<B>| {
        let is_first = !waiting.locked.contains_key(&row);
        waiting.locked.entry(row).or_default().push_back(asked);
        is_first
    });
    if is_first == Some(true) {
        tokio::task::spawn_local(work_off::<B>(Rc::clone(lane), row));
    }
}

/// Makes what waits for a row, until nothing does.
async fn work_off<B: Batched>(lane: Rc<Lane>, row: i64) {
    loop {
        let turn = lane.turn_to_wait().await;
        let next = lane
            .batches
            .of(|waiting: &mut Waiting<B>| waiting.next_of_row(row, lane.batch));
        let Some(batch) = next.flatten() else {
            return;
        };
        match turn {
            Ok(_turn) => make_patiently(&lane, batch).await,
            Err(error) => {
                for asked in batch {
                    asked.caller.tell(Err(error.clone()));
                }
            }
        }
    }
}

async fn make_patiently<B: Batched>(lane: &Lane, batch: Vec<Asked<B>>) {
    let (changes, callers): (Vec<B>, Vec<Caller<B>>) = apart(batch);
    let mut all = Job::new(async |tx: &mut Tx| together(&changes, Locks::Wait, tx).await);
    let ran = lane.write_patiently(&mut all).await;
    match all.ended(ran) {
        Ok(outcomes) => {
            lane.counters.writes_beside_one(outcomes.len());
            for (caller, outcome) in callers.into_iter().zip(outcomes) {
                caller.tell(outcome.after_waiting());
            }
        }
        Err(error) if changes.len() == 1 || error.is_unavailable() => {
            for caller in callers {
                caller.tell(Err(error.clone()));
            }
        }
        Err(_) => {
            for (change, caller) in changes.iter().zip(callers) {
                let body = async |tx: &mut Tx| batched::alone(change, Locks::Wait, tx).await;
                let mut alone = Job::new(body);
                let ran = lane.write_patiently(&mut alone).await;
                let ended = alone.ended(ran);
                caller.tell(ended.and_then(Outcome::after_waiting));
            }
        }
    }
}

fn apart<B: Batched>(batch: Vec<Asked<B>>) -> (Vec<B>, Vec<Caller<B>>) {
    batch
        .into_iter()
        .map(|asked| (asked.change, asked.caller))
        .unzip()
}

async fn together<B: Batched>(
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
                    locked: HashMap::new(),
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

    /// The next batch of a row's queue; none, and the queue ends, when nobody waits.
    fn next_of_row(&mut self, row: i64, most: usize) -> Option<Vec<Asked<B>>> {
        let queue = self.locked.get_mut(&row)?;
        let count = queue.len().min(most);
        if count == 0 {
            self.locked.remove(&row);
            return None;
        }
        Some(queue.drain(..count).collect())
    }
}
