//! The client's address and scheme, from the connection and from trusted proxies.
//!
//! [`Origin`] is determined once for each request; handlers extract it, and [`PublicUrl`].
//! Implements the rows "Client address" and "HTTPS" of the decisions. The services decide what to
//! do with an insecure request.

mod forwarded;
mod proxies;
mod public_url;
mod same_origin;
mod upgrade;

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts, Request};
use http::Extensions;
use http::request::Parts;

pub use proxies::{Proxies, ProxiesError};
pub use public_url::{PublicUrl, PublicUrlError};
pub use same_origin::{ForeignOrigin, check_origin, referring_path};
pub use upgrade::to_https;

/// Marks requests that came over our own TLS.
#[derive(Clone, Copy, Debug)]
pub struct OwnTls;

/// Where a request came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts of a request, of which each is asked by itself"
)]
pub struct Origin {
    /// The client's address: the peer's, or the one that trusted proxies report.
    pub address: IpAddr,
    /// Whether the client speaks HTTPS: to us, or to a trusted proxy that says so.
    pub is_https: bool,
    /// Whether a proxy on this machine has forwarded the request without a forwarding header: it
    /// comes from this machine, but its `Host` is another one.
    pub is_silent_proxy: bool,
    /// Whether the request has forwarding headers of a peer that is no trusted proxy. They count for
    /// nothing, and it is not known whether the client speaks HTTPS.
    pub is_untrusted_proxy: bool,
    /// Whether the request comes straight from this machine, with no proxy between.
    pub is_local: bool,
}

impl Origin {
    const NOWHERE: Self = Self {
        address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        is_https: false,
        is_silent_proxy: false,
        is_untrusted_proxy: false,
        is_local: false,
    };

    /// Whether the request counts as secure: HTTPS, or straight from this machine with no proxy
    /// between.
    pub const fn is_secure(&self) -> bool {
        self.is_https || self.is_local
    }

    /// The origin of a request; on a router without [`HttpStack`](crate::HttpStack), insecure and
    /// from nowhere.
    pub fn known(extensions: &Extensions) -> Self {
        extensions.get().copied().unwrap_or(Self::NOWHERE)
    }

    /// Determines the origin of a request. Without a known peer it is insecure and from nowhere.
    pub fn of(request: &Request, trusted: &Proxies) -> Self {
        let tls = request.extensions().get::<OwnTls>().is_some();
        let Some(peer) = peer(request.extensions()) else {
            return Self {
                is_https: tls,
                ..Self::NOWHERE
            };
        };
        let headers = request.headers();
        let is_forwarded = forwarded::is_present(headers);
        let is_trusted = is_forwarded && trusted.contains(peer);
        let forwarded = if is_trusted {
            forwarded::read(headers, peer, trusted)
        } else {
            forwarded::ForwardedClient::default()
        };
        let is_https = tls || forwarded.is_https;
        let is_local = peer.is_loopback() && !is_forwarded;
        let is_silent_proxy = is_local && !tls && public_url::is_for_elsewhere(request);
        Self {
            address: forwarded.address.unwrap_or(peer),
            is_https,
            is_silent_proxy,
            is_untrusted_proxy: is_forwarded && !is_trusted && !tls,
            is_local: is_local && !is_silent_proxy,
        }
    }
}

fn peer(extensions: &Extensions) -> Option<IpAddr> {
    let ConnectInfo(peer) = extensions.get::<ConnectInfo<SocketAddr>>()?;
    Some(peer.ip().to_canonical())
}

impl<S: Sync> FromRequestParts<S> for Origin {
    type Rejection = Infallible;

    /// The origin of a request; on a router without [`HttpStack`](crate::HttpStack), insecure and
    /// from nowhere.
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::known(&parts.extensions))
    }
}

/// Inserts the origin into a request's extensions, for the extractors of this module.
pub(crate) fn insert_extensions(
    extensions: &mut Extensions,
    origin: Origin,
    public_url: Option<&PublicUrl>,
) {
    extensions.insert(origin);
    if let Some(url) = public_url {
        extensions.insert(url.clone());
    }
}

/// The client's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// The client's name in limits. An IPv6 client usually has 2⁶⁴ addresses, so all addresses of a
    /// /64 count as one client.
    pub fn limit_key(self) -> String {
        match self.0 {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => network(address, 64),
        }
    }

    /// The name of the widest network that may belong to one client. Its connections count
    /// together.
    pub fn network_key(self) -> String {
        match self.0.to_canonical() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => network(address, 48),
        }
    }
}

/// The network of so many bits that an address is in.
pub(crate) fn network(address: Ipv6Addr, bits: u32) -> String {
    let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
    format!("{}/{bits}", Ipv6Addr::from(u128::from(address) & mask))
}
