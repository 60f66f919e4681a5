//! The keys of rate limits: users and clients.

use std::net::IpAddr;

use super::Rate;
use crate::client::{ClientAddress, network};

/// How many times the limit of one client a /56 and a /48 may take. Providers give customers a /64,
/// a /56 or a /48. So a wider network may hold several customers, but not as many as it has
/// addresses.
const NETWORKS: [(u32, u32); 3] = [(64, 1), (56, 2), (48, 4)];

/// The key of a call: a user by name, or a client by its address and the networks around it.
///
/// Each kind has a table of its own, so that calls of one kind take no memory from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub(super) kind: &'static str,
    pub(super) counters: Vec<Counter>,
    /// The network whose new keys share a count when the table of the kind is full. A user shares
    /// it with nobody.
    network: Option<String>,
}

/// One count: of a name or of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counter {
    pub(super) name: String,
    /// The multiple of one client's limit.
    pub(super) times: u32,
}

impl Counter {
    pub(super) fn rates(&self, rates: &[Rate]) -> impl Iterator<Item = Rate> + Clone {
        rates.iter().map(|rate| rate.times(self.times))
    }
}

impl Key {
    /// A name among those of a kind.
    pub fn new(kind: &'static str, name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            kind,
            counters: vec![Counter { name, times: 1 }],
            network: None,
        }
    }

    /// When the table of the kind is full, new keys of one group share a count.
    pub(super) fn group(&self) -> &str {
        let name = self.counters.first().map(|counter| counter.name.as_str());
        self.network.as_deref().or(name).unwrap_or_default()
    }

    /// A client by its address. An IPv6 client has more addresses than can be counted, so its
    /// networks count too.
    pub fn of_client(kind: &'static str, client: ClientAddress) -> Self {
        match client.0.to_canonical() {
            IpAddr::V4(address) => {
                let [first, second, ..] = address.octets();
                Self {
                    network: Some(format!("{first}.{second}")),
                    ..Self::new(kind, address.to_string())
                }
            }
            IpAddr::V6(address) => Self {
                kind,
                network: Some(network(address, 32)),
                counters: NETWORKS
                    .map(|(bits, times)| Counter {
                        name: network(address, bits),
                        times,
                    })
                    .to_vec(),
            },
        }
    }
}
