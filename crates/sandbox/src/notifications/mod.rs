//! Notifications: every change of a payment is posted to its `notification_url`, signed, and repeated until it is accepted.
//!
//! Announcing a change only puts it into a bounded queue and never waits. A worker sends, and a timer that ticks ten times a second brings back
//! what is due again. Carries section 1.7 of the provider's interface. Pending notifications are lost when the sandbox stops.

mod certificates;
mod delivery;
mod signature;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::MissedTickBehavior;

use crate::payments::model::Payment;
use crate::state::{State, lock};
use crate::store::Change;
use crate::values::Moment;
use delivery::Delivery;
pub use signature::header;

const TICK: Duration = Duration::from_millis(100);
const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
/// Seconds from each failure to the next attempt; after the last one the note is given up.
const WAITS: [u64; 7] = [
    15 * MINUTE,
    30 * MINUTE,
    6 * HOUR,
    48 * HOUR,
    96 * HOUR,
    96 * HOUR,
    96 * HOUR,
];

/// What is to be told, and to whom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Note {
    payment_id: u64,
    is_new: bool,
    url: Box<str>,
    /// How often it was tried before.
    retry: usize,
}

/// The way in: takes announcements and never waits.
pub(crate) struct Notifier {
    notes: Sender<Note>,
    usual_url: Option<Box<str>>,
    dropped: AtomicUsize,
}

/// The way out, to be run by [`run`].
pub(crate) struct Queue {
    notes: Receiver<Note>,
    workers: usize,
    capacity: usize,
}

/// A queue for so many notes. `usual_url` hears of payments that name no address themselves.
pub(crate) fn queue(capacity: usize, workers: usize, usual_url: Option<&str>) -> (Notifier, Queue) {
    let capacity = capacity.max(1);
    let (sender, receiver) = channel(capacity);
    let notifier = Notifier {
        notes: sender,
        usual_url: usual_url.map(Into::into),
        dropped: AtomicUsize::new(0),
    };
    (
        notifier,
        Queue {
            notes: receiver,
            workers: workers.max(1),
            capacity,
        },
    )
}

impl Notifier {
    pub(crate) fn announce(&self, payment: &Payment, change: Change) {
        let url = payment
            .notification_url
            .as_ref()
            .or(self.usual_url.as_ref());
        let Some(url) = url.filter(|url| !url.is_empty()) else {
            return;
        };
        let note = Note {
            payment_id: payment.id,
            is_new: change == Change::Created,
            url: url.clone(),
            retry: 0,
        };
        if self.notes.try_send(note).is_err() {
            let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
            if dropped.is_power_of_two() {
                tracing::warn!(
                    dropped,
                    "too many notifications wait: newer ones are dropped"
                );
            }
        }
    }
}

/// Notes that were not heard and wait for their next attempt, soonest first.
#[derive(Default)]
pub(crate) struct Waiting(Mutex<BinaryHeap<Reverse<(Moment, Note)>>>);

impl Waiting {
    /// Puts a note back until its next time, unless it had its last or too many wait.
    fn put(&self, note: Note, now: Moment, capacity: usize) {
        let Some(seconds) = WAITS.get(note.retry).copied() else {
            return;
        };
        let mut waiting = lock(&self.0);
        if waiting.len() < capacity {
            let due = now.plus(Duration::from_secs(seconds));
            waiting.push(Reverse((
                due,
                Note {
                    retry: note.retry + 1,
                    ..note
                },
            )));
        }
    }

    fn due(&self, now: Moment) -> Option<Note> {
        let mut waiting = lock(&self.0);
        let is_due = waiting.peek().is_some_and(|Reverse((due, _))| *due <= now);
        if is_due {
            waiting.pop().map(|Reverse((_, note))| note)
        } else {
            None
        }
    }

    /// What waits, soonest first, for whoever asks the sandbox.
    pub(crate) fn shown(&self) -> Vec<Value> {
        let mut waiting = lock(&self.0).clone().into_vec();
        waiting.sort_by(|left, right| right.cmp(left));
        let shown = |Reverse((due, note)): &Reverse<(Moment, Note)>| json!({"payment_id": note.payment_id, "url": note.url, "retry": note.retry, "due": due});
        waiting.iter().map(shown).collect()
    }
}

/// Sends what is announced, again and again on the schedule, until the sandbox is gone. One at a time has the queue.
pub(crate) async fn run(state: State, queue: Arc<tokio::sync::Mutex<Queue>>) {
    let mut queue = queue.lock().await;
    let Some(client) = delivery::client() else {
        return;
    };
    let permits = Arc::new(Semaphore::new(queue.workers));
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        let note = tokio::select! {
            note = queue.notes.recv() => match note {
                Some(note) => Some(note),
                None => return,
            },
            _ = tick.tick() => {
                // Locking the memory expires what is due.
                drop(state.store());
                None
            },
        };
        let again = std::iter::from_fn(|| state.waiting.due(state.now()));
        for note in note.into_iter().chain(again) {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
                return;
            };
            send(&state, &client, note, permit, queue.capacity);
        }
    }
}

/// Sends in a task of its own; what fails waits for its next time.
fn send(
    state: &State,
    client: &delivery::Client,
    note: Note,
    permit: OwnedSemaphorePermit,
    capacity: usize,
) {
    let sent = Delivery::new(state, &note).send(client.clone());
    let state = state.clone();
    tokio::spawn(async move {
        let heard = sent.await;
        drop(permit);
        if !heard {
            state.waiting.put(note, state.now(), capacity);
        }
    });
}
