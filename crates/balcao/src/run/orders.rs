//! `BALCAO_ORDERS_BOOK_STOCK`: checkout sends events of paid orders to inventory, within one
//! process over the loopback interface. Each service has only its own configuration, and neither
//! depends on the other.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use delivery::{EndpointSettings, InternalEndpoint, Secret, Target};

use crate::failure::{Context, Failure};
use crate::settings::Settings;

/// The path at which inventory receives order events.
const PATH: &str = "/integrations/orders/";
/// The event types that inventory accepts.
const TYPES: &[&str] = &["order.paid"];
/// The purpose for which the secret is derived.
const PURPOSE: &str = "balcao/orders-book-stock/1";

/// The secrets that sign and verify order events: those of the setting, or else one derived from
/// checkout's secret, which is the same on every replica.
pub(super) fn secrets(settings: &Settings, checkout: &checkout::Secret) -> Vec<Secret> {
    if settings.inventory_orders_secret.is_empty() {
        vec![Secret::of_key(checkout.derive(PURPOSE))]
    } else {
        settings.inventory_orders_secret.clone()
    }
}

/// The endpoint for checkout's events, if the setting is on and inventory's address is known.
pub(super) fn endpoint(
    settings: &Settings,
    checkout: &checkout::Secret,
) -> Result<Option<InternalEndpoint>, Failure> {
    // Only the serving process knows which port the system has chosen; a separate command does not.
    if !settings.orders_book_stock || settings.inventory_listen.port() == 0 {
        return Ok(None);
    }
    let address = address(settings);
    let target =
        Target::parse(&address).context(&format!("BALCAO_ORDERS_BOOK_STOCK: {address}"))?;
    Ok(Some(InternalEndpoint {
        endpoint: EndpointSettings {
            target,
            secrets: secrets(settings, checkout),
        },
        types: TYPES,
    }))
}

/// The address of inventory for this process. With TLS it is the public address, since the
/// certificate is valid only for that.
fn address(settings: &Settings) -> String {
    match &settings.inventory_public_url {
        Some(url) if settings.tls_cert_file.is_some() => format!("{}{PATH}", url.as_str()),
        _ => format!("http://{}{PATH}", reachable(settings.inventory_listen)),
    }
}

/// The loopback address, for a service that listens on every address.
fn reachable(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listening.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_on_every_address_is_reached_on_this_machine() {
        for (listening, expected) in [
            ("0.0.0.0:8001", "127.0.0.1:8001"),
            ("[::]:8001", "[::1]:8001"),
            ("10.0.0.7:8001", "10.0.0.7:8001"),
        ] {
            assert_eq!(reachable(listening.parse().unwrap()).to_string(), expected);
        }
    }
}
