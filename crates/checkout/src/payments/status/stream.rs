//! A stream of server-sent events: the current status, then each change, until the payment or the
//! stream ends.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use db::Db;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use web::client::Origin;
use web::server::Shutdown;

use super::broadcaster::{Follower, POLL_EVERY, StatusBroadcaster, StatusView};
use crate::payments::{StoredPayment, read};

/// The longest stream. The page reconnects after it.
const LENGTH_MAX: Duration = Duration::from_secs(15 * 60);
/// The interval of keep-alive comments. Proxies close silent connections.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The delay before a page reconnects.
const RETRY: Duration = Duration::from_secs(3);

/// Opens a stream for a payment whose status is `now`. `None` if too many streams are open.
pub(crate) fn open_stream(
    statuses: &StatusBroadcaster,
    shutdown: &Shutdown,
    id: &str,
    now: StatusView,
    origin: Origin,
) -> Option<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>> {
    let follower = statuses.follow(id, now, origin)?;
    // A small buffer: a slow reader gets the newest state, not each one that it missed.
    let (sender, receiver) = mpsc::channel(2);
    tokio::spawn(send_updates(follower, origin, sender, shutdown.clone()));
    let keep_alive = KeepAlive::new().interval(HEARTBEAT);
    Some(Sse::new(ReceiverStream::new(receiver)).keep_alive(keep_alive))
}

async fn send_updates(
    mut follower: Follower,
    origin: Origin,
    sender: mpsc::Sender<Result<Event, Infallible>>,
    shutdown: Shutdown,
) {
    let end = Instant::now() + LENGTH_MAX;
    loop {
        let view = follower.current().shown_to(origin);
        if sender.send(Ok(event(&view))).await.is_err() || view.status.is_final() {
            return;
        }
        tokio::select! {
            biased;
            () = shutdown.begun() => return,
            () = sender.closed() => return,
            () = follower.changed() => {}
            () = tokio::time::sleep_until(end) => return,
        }
    }
}

fn event(view: &StatusView) -> Event {
    let event = Event::default().event("status").retry(RETRY);
    event.json_data(view).unwrap_or_default()
}

/// Polls the followed payments for changes by other processes. Sleeps while nothing is followed.
pub(crate) async fn watch_statuses(db: Db, statuses: StatusBroadcaster, shutdown: Shutdown) {
    loop {
        tokio::select! {
            biased;
            () = shutdown.begun() => return,
            () = statuses.any() => {}
        }
        if timeout(POLL_EVERY, shutdown.begun()).await.is_ok() {
            return;
        }
        let ids = statuses.followed();
        if ids.is_empty() {
            continue;
        }
        match read::find_all_stored(&db, ids).await {
            Ok(found) => {
                for StoredPayment { id, snapshot, .. } in &found {
                    statuses.publish(id, snapshot.state, &snapshot.status_detail);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "status streams: reading the followed payments failed, retrying in 2 s");
            }
        }
    }
}
