//! The stream of server-sent events that tells open dashboards that the stock has changed:
//! immediately for changes by this process, within seconds for others. Events carry no figures; the
//! page fetches those.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::response::{
    Sse,
    sse::{Event, KeepAlive},
};
use http::request::Parts;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep, sleep_until},
};
use tokio_stream::{Stream, wrappers::ReceiverStream};
use web::cookie::HostOnly;

use crate::{State, accounts::session, aggregates};

/// The most open streams per process.
const MAX_STREAMS: usize = 200;
/// The most open streams per user, enough for the tabs of a few devices.
const MAX_USER_STREAMS: usize = 10;
/// The maximum duration of a stream. The page then opens the next one.
const LENGTH_MAX: Duration = Duration::from_secs(15 * 60);
/// The interval of heartbeats. Without them, proxies close idle connections.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How often to check that the session is still valid.
const SESSION_CHECK: Duration = Duration::from_secs(20);
/// The minimum time between two events.
const MIN_INTERVAL: Duration = Duration::from_secs(2);
/// How often the ledger is polled for changes by other processes while a stream is open.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// How long a page waits before it reconnects.
const RETRY: Duration = Duration::from_secs(5);

/// The open streams of this process: the user of each. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Streams(Arc<watch::Sender<Vec<i64>>>);

/// Counts one open stream until it is dropped.
#[derive(Debug)]
struct StreamSlot {
    streams: Streams,
    user: i64,
}

impl Streams {
    fn acquire(&self, user: i64) -> Option<StreamSlot> {
        let is_acquired = self.0.send_if_modified(|users| {
            let of_user = users.iter().filter(|other| **other == user).count();
            let is_free = users.len() < MAX_STREAMS && of_user < MAX_USER_STREAMS;
            if is_free {
                users.push(user);
            }
            is_free
        });
        is_acquired.then(|| StreamSlot {
            streams: self.clone(),
            user,
        })
    }

    /// The number of open streams.
    pub fn count(&self) -> usize {
        self.0.borrow().len()
    }

    /// Waits until at least one stream is open.
    async fn wait_for_any(&self) {
        // Cannot fail: the sender lives as long as this value.
        let _ = self.0.subscribe().wait_for(|users| !users.is_empty()).await;
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        self.streams.0.send_modify(|users| {
            if let Some(place) = users.iter().position(|user| *user == self.user) {
                users.swap_remove(place);
            }
        });
    }
}

/// Opens a stream for a user's session. `None` if too many are open.
pub(super) fn open(
    state: &State,
    parts: Parts,
    user: i64,
) -> Option<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>> {
    let slot = state.streams.acquire(user)?;
    // A small buffer is enough: for a slow client, one event stands for several changes.
    let (sender, receiver) = mpsc::channel(2);
    tokio::spawn(send_events(state.clone(), parts, slot, sender));
    let keep_alive = KeepAlive::new().interval(HEARTBEAT);
    Some(Sse::new(ReceiverStream::new(receiver)).keep_alive(keep_alive))
}

type Sender = mpsc::Sender<Result<Event, Infallible>>;

async fn send_events(state: State, parts: Parts, _slot: StreamSlot, sender: Sender) {
    let mut notifications = state.changes.subscribe();
    let end = Instant::now() + LENGTH_MAX;
    // The first event carries the version, so that the page notices changes between reading its
    // figures and opening this stream.
    if !send_version(&state, &sender).await {
        return;
    }
    loop {
        let has_moved = tokio::select! {
            changed = notifications.changed() => changed.is_ok(),
            () = sleep(SESSION_CHECK) => false,
            () = sender.closed() => return,
            () = sleep_until(end) => return,
            () = state.shutdown.begun() => return,
        };
        if !is_logged_in(&state, &parts).await {
            return;
        }
        if has_moved {
            if !send_version(&state, &sender).await {
                return;
            }
            tokio::select! {
                () = sleep(MIN_INTERVAL) => {}
                () = sender.closed() => return,
                () = state.shutdown.begun() => return,
            }
        }
    }
}

/// Sends the id of the newest ledger entry. Returns false if the stream must end.
async fn send_version(state: &State, sender: &Sender) -> bool {
    match state.db.read(aggregates::ledger_end).await {
        Ok(version) => {
            let event = Event::default()
                .event("stock")
                .data(version.to_string())
                .retry(RETRY);
            sender.send(Ok(event)).await.is_ok()
        }
        Err(error) => {
            tracing::warn!(%error, "dashboard stream: reading the ledger failed; the stream ends and the page opens another");
            false
        }
    }
}

async fn is_logged_in(state: &State, parts: &Parts) -> bool {
    let session = session::find(state, HostOnly::of(parts)).await;
    session.is_ok_and(|session| session.is_some_and(|session| session.caller().is_some()))
}

/// Polls the ledger for changes by other processes while any stream is open.
pub(crate) async fn poll_ledger(state: State) {
    let mut seen = None;
    loop {
        tokio::select! {
            () = state.streams.wait_for_any() => {}
            () = state.shutdown.begun() => return,
        }
        tokio::select! {
            () = sleep(POLL_INTERVAL) => {}
            () = state.shutdown.begun() => return,
        }
        notify_of_change(&state, &mut seen).await;
    }
}

/// Notifies all streams if the ledger has grown since the last call.
async fn notify_of_change(state: &State, seen: &mut Option<i64>) {
    match state.db.read(aggregates::ledger_end).await {
        Ok(end) => {
            if seen.replace(end).is_some_and(|before| before != end) {
                state.changes.notify();
            }
        }
        Err(error) => {
            tracing::warn!(%error, "dashboard stream: polling the ledger failed, retrying in 5 s");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_bounded_and_their_slots_are_released() {
        let streams = Streams::default();
        let users = (0..).flat_map(|user| [user; MAX_USER_STREAMS]);
        let slots: Vec<_> = users
            .take(MAX_STREAMS)
            .map(|user| streams.acquire(user).unwrap())
            .collect();
        assert!(streams.acquire(-1).is_none());
        drop(slots);
        assert_eq!(streams.count(), 0);
        assert!(streams.acquire(-1).is_some());
    }

    #[test]
    fn one_user_does_not_take_every_stream() {
        let streams = Streams::default();
        let slots: Vec<_> = (0..MAX_USER_STREAMS)
            .map(|_| streams.acquire(1).unwrap())
            .collect();
        assert!(streams.acquire(1).is_none());
        assert!(streams.acquire(2).is_some());
        drop(slots);
        assert!(streams.acquire(1).is_some());
    }
}
