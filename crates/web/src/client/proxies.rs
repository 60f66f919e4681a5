//! The proxies that are trusted.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::IpNet;

/// The networks of trusted proxies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// No proxy is trusted.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Whether the address is a trusted proxy's. An IPv4-mapped IPv6 address counts as the IPv4
    /// address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

impl Default for Proxies {
    /// This machine: `127.0.0.0/8` and `::1`.
    fn default() -> Self {
        let local = IpNet::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), 8).ok();
        Self(
            local
                .into_iter()
                .chain([IpNet::from(IpAddr::V6(Ipv6Addr::LOCALHOST))])
                .collect(),
        )
    }
}

/// A list of proxies that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found:?} is neither an address nor a network: write addresses like 10.0.0.5 or networks like 10.0.0.0/8, separated by commas, or nothing"
)]
pub struct ProxiesError {
    found: String,
}

impl FromStr for Proxies {
    type Err = ProxiesError;

    fn from_str(text: &str) -> Result<Self, ProxiesError> {
        let parse = |part: &str| {
            let network = part.parse::<IpNet>().or_else(|_| {
                part.parse::<IpAddr>()
                    .map(|address| IpNet::from(address.to_canonical()))
            });
            network
                .map(|network| network.trunc())
                .map_err(|_| ProxiesError {
                    found: part.to_owned(),
                })
        };
        text.split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl fmt::Display for Proxies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, network) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            if network.prefix_len() == network.max_prefix_len() {
                write!(formatter, "{comma}{}", network.addr())?;
            } else {
                write!(formatter, "{comma}{network}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_as_it_is_written() {
        let proxies: Proxies = " 127.0.0.0/8, ::1 ,10.1.2.3/16,".parse().unwrap();
        assert_eq!(proxies.to_string(), "127.0.0.0/8,::1,10.1.0.0/16");
        assert_eq!("127.0.0.0/8,::1".parse(), Ok(Proxies::default()));
        assert_eq!("".parse(), Ok(Proxies::none()));
        for (address, is_trusted) in [
            ("10.1.255.255", true),
            ("10.2.0.0", false),
            ("::ffff:127.0.0.1", true),
            ("::1", true),
            ("::2", false),
        ] {
            assert_eq!(
                proxies.contains(address.parse().unwrap()),
                is_trusted,
                "{address}"
            );
        }
    }

    #[test]
    fn what_is_not_an_address_is_named() {
        let error = "127.0.0.1,proxy.example".parse::<Proxies>().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("\"proxy.example\" is neither"),
            "{error}"
        );
        assert!("10.0.0.0/33".parse::<Proxies>().is_err());
    }
}
