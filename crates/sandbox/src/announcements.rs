//! The queue of payment changes to be posted to a `notification_url`. It is bounded, and adding a
//! change never waits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use db::lock_mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::model::{Change, Payment};
use crate::values::Moment;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
/// Seconds from each failure to the next attempt. After the last one the notification is given up.
const WAITS: [u64; 7] = [
    15 * MINUTE,
    30 * MINUTE,
    6 * HOUR,
    48 * HOUR,
    96 * HOUR,
    96 * HOUR,
    96 * HOUR,
];

/// A payment change to be posted to an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Announcement {
    pub(crate) payment_id: u64,
    pub(crate) is_new: bool,
    pub(crate) url: Box<str>,
    /// The number of earlier attempts.
    pub(crate) retry: usize,
}

/// Adds changes to the queue without waiting.
pub(crate) struct Notifier {
    announcements: Sender<Announcement>,
    usual_url: Option<Box<str>>,
    dropped: AtomicUsize,
}

/// A queue with this capacity, and its receiving end for the worker. Changes of payments without a
/// `notification_url` are posted to `usual_url`.
pub(crate) fn queue(
    capacity: usize,
    usual_url: Option<&str>,
) -> (Notifier, Receiver<Announcement>) {
    let (sender, receiver) = channel(capacity.max(1));
    let notifier = Notifier {
        announcements: sender,
        usual_url: usual_url.map(Into::into),
        dropped: AtomicUsize::new(0),
    };
    (notifier, receiver)
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

/// Failed notifications that wait for their next attempt, soonest first.
#[derive(Default)]
pub(crate) struct RetryQueue(Mutex<BinaryHeap<Reverse<(Moment, Announcement)>>>);

impl RetryQueue {
    /// Queues a failed notification for its next attempt. Drops it after the last attempt, or when
    /// the queue is full.
    pub(crate) fn put(&self, announcement: Announcement, now: Moment, capacity: usize) {
        let Some(seconds) = WAITS.get(announcement.retry).copied() else {
            return;
        };
        let mut waiting = lock_mutex(&self.0);
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
        let mut waiting = lock_mutex(&self.0);
        let is_due = waiting.peek().is_some_and(|Reverse((due, _))| *due <= now);
        if is_due {
            waiting.pop().map(|Reverse((_, announcement))| announcement)
        } else {
            None
        }
    }

    /// The waiting notifications, soonest first, for the sandbox's API.
    pub(crate) fn shown(&self) -> Vec<Value> {
        let mut waiting = lock_mutex(&self.0).clone().into_vec();
        waiting.sort_by(|left, right| right.cmp(left));
        let shown = |Reverse((due, announcement)): &Reverse<(Moment, Announcement)>| json!({"payment_id": announcement.payment_id, "url": announcement.url, "retry": announcement.retry, "due": due});
        waiting.iter().map(shown).collect()
    }
}
