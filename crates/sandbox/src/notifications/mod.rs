//! Notifications: every change of a payment is posted to its `notification_url`, signed, and
//! retried until it is acknowledged.
//!
//! A worker sends what `announcements` has queued. A timer that ticks ten times a second requeues
//! due retries. Implements section 1.7 of the provider's API. Pending notifications are lost when
//! the sandbox stops.

mod certificates;
mod delivery;
mod signature;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc::Receiver};
use tokio::time::MissedTickBehavior;

use crate::announcements::Announcement;
use crate::state::State;
use delivery::Delivery;
pub use signature::header;

const TICK: Duration = Duration::from_millis(100);
/// The most notifications that are sent concurrently.
const AT_ONCE: usize = 8;

/// Sends queued notifications, and retries them on the schedule, until the sandbox is dropped. One
/// worker at a time holds the queue.
pub(crate) async fn run(state: State, queue: Arc<Mutex<Receiver<Announcement>>>) {
    let mut queue = queue.lock().await;
    let Some(client) = delivery::client() else {
        return;
    };
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        let announced = tokio::select! {
            announced = queue.recv() => match announced {
                Some(announcement) => Some(announcement),
                None => return,
            },
            _ = tick.tick() => {
                // Locking the store expires overdue payments.
                drop(state.store());
                None
            },
        };
        let again = std::iter::from_fn(|| state.retries.due(state.now()));
        for announcement in announced.into_iter().chain(again) {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
                return;
            };
            send(&state, &client, announcement, permit);
        }
    }
}

/// Sends in a separate task. A failed notification is queued for its next attempt.
fn send(
    state: &State,
    client: &delivery::Client,
    announcement: Announcement,
    permit: OwnedSemaphorePermit,
) {
    let sent = Delivery::new(state, &announcement).send(client.clone());
    let state = state.clone();
    tokio::spawn(async move {
        let is_accepted = sent.await;
        drop(permit);
        if !is_accepted {
            let capacity = state.config.notifications_waiting.max(1);
            state.retries.put(announcement, state.now(), capacity);
        }
    });
}
