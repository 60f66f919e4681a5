//! The stream of server-sent events that tells open dashboards that stock has changed: at once when this process changed it, within seconds
//! when another did. It carries no figures: the page fetches those.

use std::{collections::HashMap, convert::Infallible, sync::Arc, time::Duration};

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

/// Streams that are open at once, for all readers of this process.
const MOST: usize = 200;
/// Of these for one user: the tabs of a few devices.
const MOST_OF_A_USER: usize = 10;
/// A stream ends after this time; the page opens the next.
const LENGTH_MAX: Duration = Duration::from_secs(15 * 60);
/// A sign of life for what stands between, which closes silent connections.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// A session that has ended is noticed within this time.
const SESSION_EVERY: Duration = Duration::from_secs(20);
/// A busy shop is told of no more often than this.
const PAUSE: Duration = Duration::from_secs(2);
/// What other processes moved is looked for this often, while anybody looks.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// After which time a page opens the next stream.
const RETRY: Duration = Duration::from_secs(5);

/// The places for streams. Clones share them.
#[derive(Debug, Clone)]
pub struct Streams(Arc<watch::Sender<Open>>);

/// The open streams.
#[derive(Debug, Default)]
struct Open {
    count: usize,
    by_user: HashMap<i64, usize>,
}

/// A place that is taken until it is dropped.
#[derive(Debug)]
struct Place {
    streams: Streams,
    user: i64,
}

impl Default for Streams {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(Open::default())))
    }
}

impl Streams {
    fn enter(&self, user: i64) -> Option<Place> {
        let has_entered = self.0.send_if_modified(|open| {
            let of_user = open.by_user.get(&user).copied().unwrap_or(0);
            let is_free = open.count < MOST && of_user < MOST_OF_A_USER;
            if is_free {
                open.count += 1;
                open.by_user.insert(user, of_user + 1);
            }
            is_free
        });
        has_entered.then(|| Place {
            streams: self.clone(),
            user,
        })
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        self.0.borrow().count
    }

    async fn any(&self) {
        // The sender lives as long as this value.
        let _ = self.0.subscribe().wait_for(|open| open.count > 0).await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.streams.0.send_modify(|open| {
            open.count = open.count.saturating_sub(1);
            if let Some(of_user) = open.by_user.get_mut(&self.user) {
                *of_user -= 1;
                if *of_user == 0 {
                    open.by_user.remove(&self.user);
                }
            }
        });
    }
}

/// Opens a stream for the session of a request, which is the user's; none when too many are open.
pub(super) fn open(
    state: &State,
    parts: Parts,
    user: i64,
) -> Option<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>> {
    let place = state.streams.enter(user)?;
    // Few: a reader that does not keep up is told once that something moved.
    let (sender, receiver) = mpsc::channel(2);
    tokio::spawn(tell(state.clone(), parts, place, sender));
    let keep_alive = KeepAlive::new().interval(HEARTBEAT);
    Some(Sse::new(ReceiverStream::new(receiver)).keep_alive(keep_alive))
}

type Sender = mpsc::Sender<Result<Event, Infallible>>;

async fn tell(state: State, parts: Parts, _place: Place, sender: Sender) {
    let mut beats = state.changes.subscribe();
    let end = Instant::now() + LENGTH_MAX;
    // The page knows from the version whether anything moved between its figures and this stream.
    if !say(&state, &sender).await {
        return;
    }
    loop {
        let has_moved = tokio::select! {
            changed = beats.changed() => changed.is_ok(),
            () = sleep(SESSION_EVERY) => false,
            () = sender.closed() => return,
            () = sleep_until(end) => return,
            () = state.shutdown.begun() => return,
        };
        if !is_logged_in(&state, &parts).await {
            return;
        }
        if has_moved {
            if !say(&state, &sender).await {
                return;
            }
            tokio::select! {
                () = sleep(PAUSE) => {}
                () = sender.closed() => return,
                () = state.shutdown.begun() => return,
            }
        }
    }
}

/// Says where the ledger stands; whether anybody still listens.
async fn say(state: &State, sender: &Sender) -> bool {
    let read = state
        .db
        .read(async |conn| aggregates::ledger_end(conn).await)
        .await;
    match read {
        Ok(version) => {
            let event = Event::default()
                .event("stock")
                .data(version.to_string())
                .retry(RETRY);
            sender.send(Ok(event)).await.is_ok()
        }
        Err(error) => {
            tracing::warn!(%error, "open dashboards cannot be told of what moved");
            false
        }
    }
}

async fn is_logged_in(state: &State, parts: &Parts) -> bool {
    let session = session::find(state, HostOnly::of(parts)).await;
    session.is_ok_and(|session| session.is_some_and(|session| session.caller().is_some()))
}

/// Looks for what other processes moved, while any stream is open.
pub(crate) async fn look_out(state: State) {
    let mut seen = None;
    loop {
        tokio::select! {
            () = state.streams.any() => {}
            () = state.shutdown.begun() => return,
        }
        tokio::select! {
            () = sleep(LOOK_EVERY) => {}
            () = state.shutdown.begun() => return,
        }
        look(&state, &mut seen).await;
    }
}

/// One look: tells everybody when the ledger has grown since the last.
async fn look(state: &State, seen: &mut Option<i64>) {
    let read = state
        .db
        .read(async |conn| aggregates::ledger_end(conn).await)
        .await;
    match read {
        Ok(end) => {
            if seen.replace(end).is_some_and(|before| before != end) {
                state.changes.notify();
            }
        }
        Err(error) => tracing::warn!(%error, "the ledger could not be looked at"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_bounded_and_their_places_come_back() {
        let streams = Streams::default();
        let users = (0..).flat_map(|user| [user; MOST_OF_A_USER]);
        let places: Vec<_> = users
            .take(MOST)
            .map(|user| streams.enter(user).unwrap())
            .collect();
        assert!(streams.enter(-1).is_none());
        drop(places);
        assert_eq!(streams.count(), 0);
        assert!(streams.enter(-1).is_some());
    }

    #[test]
    fn one_user_does_not_take_every_stream() {
        let streams = Streams::default();
        let places: Vec<_> = (0..MOST_OF_A_USER)
            .map(|_| streams.enter(1).unwrap())
            .collect();
        assert!(streams.enter(1).is_none());
        assert!(streams.enter(2).is_some());
        drop(places);
        assert!(streams.enter(1).is_some());
    }
}
