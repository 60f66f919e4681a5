//! The open connections by peer. No peer can take all places, and idle connections make room.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use db::lock_mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Limits;
use super::deadline_stream::RequestCount;
use crate::client::{ClientAddress, Proxies};

/// The open connections. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Peers(Arc<PeerTable>);

#[derive(Debug)]
struct PeerTable {
    limits: Limits,
    /// Proxies, whose connections serve many clients.
    proxies: Proxies,
    open: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    /// By the order in which they were opened.
    connections: BTreeMap<u64, PeerConnection>,
    by_peer: HashMap<String, usize>,
    next: u64,
}

#[derive(Debug)]
struct PeerConnection {
    peer: String,
    requests: RequestCount,
    /// A new connection that says nothing counts as idle from then on.
    idle_from: Instant,
    close: Arc<Notify>,
}

/// A connection's slot, until it is dropped.
#[derive(Debug)]
pub(super) struct PeerSlot {
    peers: Peers,
    number: u64,
    /// The connection's requests.
    pub(super) requests: RequestCount,
    close: Arc<Notify>,
}

impl PeerSlot {
    /// Waits until the connection, while idle, must close to make room.
    pub(super) async fn closed(&self) {
        self.close.notified().await;
    }
}

impl Peers {
    pub(super) fn new(limits: Limits, proxies: Proxies) -> Self {
        Self(Arc::new(PeerTable {
            limits,
            proxies,
            open: Mutex::default(),
        }))
    }

    /// A slot for a new connection. `None` when its peer has its maximum, and all are busy.
    pub(super) fn enter(&self, address: SocketAddr) -> Option<PeerSlot> {
        let address = address.ip().to_canonical();
        let peer = ClientAddress(address).network_key();
        let mut open = lock_mutex(&self.0.open);
        let count = open.by_peer.get(&peer).copied().unwrap_or(0);
        let is_bounded = !self.0.proxies.contains(address);
        if is_bounded && count >= self.0.limits.connections_of_a_peer && !open.close_idle(&peer) {
            return None;
        }
        let (requests, close) = (RequestCount::default(), Arc::new(Notify::new()));
        let entry = PeerConnection {
            peer: peer.clone(),
            requests: requests.clone(),
            idle_from: Instant::now() + self.0.limits.first,
            close: Arc::clone(&close),
        };
        let number = open.next;
        open.next += 1;
        open.connections.insert(number, entry);
        *open.by_peer.entry(peer).or_default() += 1;
        Some(PeerSlot {
            peers: self.clone(),
            number,
            requests,
            close,
        })
    }

    /// When few slots are left, closes the oldest idle connection of the peer that has most of
    /// them.
    pub(super) fn make_room(&self) {
        let most = self.0.limits.connections;
        let mut open = lock_mutex(&self.0.open);
        if open.connections.len() < most - most / 8 {
            return;
        }
        let mut idle: HashMap<&str, usize> = HashMap::new();
        for entry in open.connections.values().filter(|entry| entry.is_idle()) {
            *idle.entry(&entry.peer).or_default() += 1;
        }
        let peer = idle
            .keys()
            .max_by_key(|peer| open.by_peer.get(**peer))
            .map(|peer| (*peer).to_owned());
        if let Some(peer) = peer {
            open.close_idle(&peer);
        }
    }
}

impl OpenConnections {
    /// Closes the oldest idle connection of a peer; whether there was one.
    fn close_idle(&mut self, peer: &str) -> bool {
        let mut of_peer = self
            .connections
            .iter()
            .filter(|(_, entry)| entry.peer == peer);
        let idle = of_peer.find(|(_, entry)| entry.is_idle());
        let Some(number) = idle.map(|(number, _)| *number) else {
            return false;
        };
        if let Some(entry) = self.remove(number) {
            entry.close.notify_one();
        }
        true
    }

    fn remove(&mut self, number: u64) -> Option<PeerConnection> {
        let entry = self.connections.remove(&number)?;
        if let Some(count) = self.by_peer.get_mut(&entry.peer) {
            *count -= 1;
            if *count == 0 {
                self.by_peer.remove(&entry.peer);
            }
        }
        Some(entry)
    }
}

impl PeerConnection {
    fn is_idle(&self) -> bool {
        !self.requests.is_busy() && (self.requests.has_begun() || self.idle_from <= Instant::now())
    }
}

impl Drop for PeerSlot {
    fn drop(&mut self) {
        lock_mutex(&self.peers.0.open).remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn peers() -> Peers {
        let limits = Limits {
            connections: 8,
            connections_of_a_peer: 3,
            first: Duration::ZERO,
            ..Limits::default()
        };
        Peers::new(limits, "10.0.0.1".parse().unwrap())
    }

    fn enter(peers: &Peers, address: &str) -> Option<PeerSlot> {
        peers.enter(SocketAddr::new(address.parse().unwrap(), 1))
    }

    async fn is_closed(slot: &PeerSlot) -> bool {
        tokio::select! {
            biased;
            () = slot.closed() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn a_peer_that_has_its_share_replaces_its_oldest_idle_connection() {
        let peers = peers();
        let first = enter(&peers, "2001:db8::1").unwrap();
        let busy = first.requests.begin();
        let second = enter(&peers, "2001:db8:0:1::1").unwrap();
        let third = enter(&peers, "2001:db8:0:ffff::1").unwrap();
        let fourth = enter(&peers, "2001:db8::2").unwrap();
        assert!(!is_closed(&first).await, "it is busy");
        assert!(is_closed(&second).await);
        let all_busy = [third.requests.begin(), fourth.requests.begin()];
        assert!(enter(&peers, "2001:db8::3").is_none(), "nothing is idle");
        assert!(enter(&peers, "2001:db8:1::1").is_some(), "another peer");
        drop((busy, all_busy, first));
        assert!(enter(&peers, "2001:db8::3").is_some());
    }

    #[tokio::test]
    async fn when_few_places_are_left_the_peer_with_most_connections_makes_room() {
        let peers = peers();
        let single = enter(&peers, "203.0.113.7").unwrap();
        let many: Vec<PeerSlot> = (0..5).map(|_| enter(&peers, "10.0.0.1").unwrap()).collect();
        peers.make_room();
        assert!(!is_closed(&many[0]).await, "there is room");
        let more = enter(&peers, "10.0.0.1").unwrap();
        peers.make_room();
        assert!(is_closed(&many[0]).await, "a proxy's oldest");
        assert!(!is_closed(&many[1]).await);
        assert!(!is_closed(&single).await && !is_closed(&more).await);
    }
}
