//! The server: accepts connections, plain or with TLS, within limits, and stops without dropping
//! anybody's request.
//!
//! An accept loop of our own over hyper (HTTP/1.1), which counts connections before it reads from
//! them, has a deadline for a request's head apart from the idle time, disconnects clients that
//! stall, and ends event streams when the server stops.

mod connection;
mod deadline_stream;
mod draining_body;
mod listener;
mod peers;
mod shutdown;
mod tls;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::client::Proxies;
use listener::Failures;
pub use listener::Listener;
use peers::Peers;
pub use shutdown::Shutdown;
pub use tls::{Tls, TlsError, TlsFiles};

/// How often idle connections are looked for while all places are taken.
const MAKE_ROOM_EVERY: Duration = Duration::from_millis(250);

/// How a server runs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Certificate and key, see [`Tls::watch`]; `None` for plain HTTP.
    pub tls: Option<Tls>,
    /// Limits on connections.
    pub limits: Limits,
    /// Proxies, whose connections serve many clients: one proxy may have all connections.
    pub proxies: Proxies,
}

/// Limits on connections. Those on requests are in [`crate::limits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most connections at once; more wait in the system's queue.
    pub connections: usize,
    /// The most connections of one peer: an IPv4 address or an IPv6 /48. Its oldest idle one makes
    /// room for the next.
    pub connections_of_a_peer: usize,
    /// The time for a TLS handshake.
    pub handshake: Duration,
    /// The time for the head of a request, from its first byte; for the first request from the
    /// beginning of the connection.
    pub head: Duration,
    /// How long a connection may wait for its next request.
    pub idle: Duration,
    /// How long a reader may take nothing of a response.
    pub stall: Duration,
    /// How long requests may go on after shutdown has begun.
    pub drain: Duration,
    /// How long a new connection may take to its first request during shutdown and when places are
    /// few. A proxy connects when it has a request, and may not be able to repeat it.
    pub first: Duration,
    /// How long a client may stall within its request during shutdown.
    pub silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        // Proxies keep connections for 60 seconds and see an error when we close first.
        Self {
            connections: 4096,
            connections_of_a_peer: 1024,
            handshake: seconds(10),
            head: seconds(10),
            idle: seconds(75),
            stall: seconds(30),
            drain: seconds(30),
            first: seconds(1),
            silence: seconds(5),
        }
    }
}

/// Serves a router until shutdown begins, then finishes the requests at hand, within
/// [`Limits::drain`].
pub async fn serve(listener: Listener, router: Router, options: Options, shutdown: Shutdown) {
    let Options {
        tls,
        limits,
        proxies,
    } = options;
    let peers = Peers::new(limits, proxies);
    let permits = Arc::new(Semaphore::new(limits.connections));
    let mut connections = JoinSet::new();
    let mut failures = Failures::default();
    let connection = |peer, slot| connection::Connection {
        router: router.clone(),
        tls: tls.clone(),
        limits,
        shutdown: shutdown.clone(),
        peer,
        slot,
    };
    loop {
        let next = async {
            let permit = permit(&permits, &peers).await;
            (listener.accept(&mut failures).await, permit)
        };
        let ((stream, peer), permit) = tokio::select! {
            next = next => next,
            () = shutdown.begun() => break,
        };
        while connections.try_join_next().is_some() {}
        let Some(slot) = peers.enter(peer) else {
            tracing::debug!(%peer, "a peer has too many connections, its next one is closed");
            continue;
        };
        let connection = connection(peer, slot);
        connections.spawn(async move {
            connection.serve(stream).await;
            drop(permit);
        });
    }
    // From here on the port refuses connections, so that a load balancer turns to another replica.
    // Connections that the system has accepted before are served: the balancer may have sent a
    // request that it cannot repeat.
    for (stream, peer) in listener.close() {
        if let Some(slot) = peers.enter(peer) {
            connections.spawn(connection(peer, slot).serve(stream));
        }
    }
    drain(connections, limits.drain).await;
}

/// A permit for the next connection. Idle connections make room when few are left.
async fn permit(
    permits: &Arc<Semaphore>,
    peers: &Peers,
) -> Result<OwnedSemaphorePermit, AcquireError> {
    loop {
        peers.make_room();
        tokio::select! {
            permit = Arc::clone(permits).acquire_owned() => return permit,
            () = sleep(MAKE_ROOM_EVERY) => {}
        }
    }
}

async fn drain(mut connections: JoinSet<()>, bound: Duration) {
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(bound, all).await.is_err() {
        tracing::warn!(
            connections = connections.len(),
            "requests were still running at the end of the shutdown time"
        );
        connections.shutdown().await;
    }
}
