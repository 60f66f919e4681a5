//! Changes of payments that are to be posted to their `notification_url`. Announcing one only puts
//! it into a bounded queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::lock::lock;
use crate::model::{Change, Payment};
use crate::values::Moment;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
/// Seconds from each failure to the next attempt; after the last one the announcement is given up.
const WAITS: [u64; 7] = [
    15 * MINUTE,
    30 * MINUTE,
    6 * HOUR,
    48 * HOUR,
    96 * HOUR,
    96 * HOUR,
    96 * HOUR,
];

/// A change to be posted, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Announcement {
    pub(crate) payment_id: u64,
    pub(crate) is_new: bool,
    pub(crate) url: Box<str>,
    /// How often it was tried before.
    pub(crate) retry: usize,
}

/// Takes announcements into the queue and never waits.
pub(crate) struct Notifier {
    announcements: Sender<Announcement>,
    usual_url: Option<Box<str>>,
    dropped: AtomicUsize,
}

/// The queue's other end, for the worker.
pub(crate) struct Queue {
    pub(crate) announcements: Receiver<Announcement>,
    pub(crate) workers: usize,
    pub(crate) capacity: usize,
}

/// A queue for so many announcements. Those of payments that name no address themselves go to
/// `usual_url`.
pub(crate) fn queue(capacity: usize, workers: usize, usual_url: Option<&str>) -> (Notifier, Queue) {
    let capacity = capacity.max(1);
    let (sender, receiver) = channel(capacity);
    let notifier = Notifier {
        announcements: sender,
        usual_url: usual_url.map(Into::into),
        dropped: AtomicUsize::new(0),
    };
    (
        notifier,
        Queue {
            announcements: receiver,
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
        let announcement = Announcement {
            payment_id: payment.id,
            is_new: change == Change::Created,
            url: url.clone(),
            retry: 0,
        };
        if self.announcements.try_send(announcement).is_err() {
            let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
            if dropped.is_power_of_two() {
                tracing::warn!(
                    dropped,
                    "sandbox: too many notifications wait, newer ones are dropped"
                );
            }
        }
    }
}

/// Announcements that were not accepted and wait for their next attempt, soonest first.
#[derive(Default)]
pub(crate) struct RetryQueue(Mutex<BinaryHeap<Reverse<(Moment, Announcement)>>>);

impl RetryQueue {
    /// Queues an announcement for its next attempt, unless it had its last or too many wait.
    pub(crate) fn put(&self, announcement: Announcement, now: Moment, capacity: usize) {
        let Some(seconds) = WAITS.get(announcement.retry).copied() else {
            return;
        };
        let mut waiting = lock(&self.0);
        if waiting.len() < capacity {
            let due = now.plus(Duration::from_secs(seconds));
            waiting.push(Reverse((
                due,
                Announcement {
                    retry: announcement.retry + 1,
                    ..announcement
                },
            )));
        }
    }

    pub(crate) fn due(&self, now: Moment) -> Option<Announcement> {
        let mut waiting = lock(&self.0);
        let is_due = waiting.peek().is_some_and(|Reverse((due, _))| *due <= now);
        if is_due {
            waiting.pop().map(|Reverse((_, announcement))| announcement)
        } else {
            None
        }
    }

    /// What waits, soonest first, as the sandbox's interface shows it.
    pub(crate) fn shown(&self) -> Vec<Value> {
        let mut waiting = lock(&self.0).clone().into_vec();
        waiting.sort_by(|left, right| right.cmp(left));
        let shown = |Reverse((due, announcement)): &Reverse<(Moment, Announcement)>| json!({"payment_id": announcement.payment_id, "url": announcement.url, "retry": announcement.retry, "due": due});
        waiting.iter().map(shown).collect()
    }
}
