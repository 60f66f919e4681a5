//! Listening addresses, addresses of other services, databases and proxies.

use std::net::SocketAddr;

use checkout::provider::{AccessToken, BaseUrl};
use url::Url;
use web::client::{Proxies, PublicUrl};

use super::{Secrecy, Value};
use crate::settings::reader::masked;
use crate::settings::secret::MASK;

impl Value for SocketAddr {
    fn allowed() -> String {
        "an IP address and a port, such as 127.0.0.1:8000; port 0 takes a free one".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

fn parse_url(text: &str, schemes: &[&str]) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    (schemes.contains(&url.scheme()) && url.host().is_some()).then_some(url)
}

fn with_masked_password(url: &Url) -> String {
    let mut shown = url.clone();
    if shown.password().is_some() {
        // Fails only for addresses that cannot have a password.
        let _ = shown.set_password(Some(MASK));
    }
    shown.to_string()
}

impl Value for PublicUrl {
    fn allowed() -> String {
        "https:// or http:// and a host, such as https://pay.example".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// The provider's address. Card data travels there, so plain http is allowed to this machine only.
#[derive(Debug, Clone)]
pub(crate) struct ProviderUrl(pub(crate) BaseUrl);

impl Value for ProviderUrl {
    fn allowed() -> String {
        "an https:// address, or http:// to this machine (the sandbox)".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let base: BaseUrl = text.parse().ok()?;
        (text.starts_with("https:") || base.is_local()).then_some(Self(base))
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

impl Value for AccessToken {
    const SECRECY: Secrecy = Secrecy::Secret;

    fn allowed() -> String {
        "visible ASCII characters".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }

    fn show(&self) -> String {
        masked()
    }
}

/// An address of another service on the web.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WebUrl(pub(crate) Url);

impl Value for WebUrl {
    fn allowed() -> String {
        "an https:// or http:// address".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        parse_url(text, &["https", "http"])
            .filter(|url| url.username().is_empty() && url.password().is_none())
            .map(Self)
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// Redis or Valkey, `redis://[user:password@]host[:port][/database]`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct RedisUrl(pub(crate) Url);

impl Value for RedisUrl {
    const SECRECY: Secrecy = Secrecy::Password;

    fn allowed() -> String {
        "redis://[user:password@]host[:port][/database]".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        parse_url(text, &["redis"]).map(Self)
    }

    fn show(&self) -> String {
        with_masked_password(&self.0)
    }
}

impl std::fmt::Debug for RedisUrl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.show())
    }
}

impl Value for Proxies {
    fn allowed() -> String {
        "IP addresses and networks by comma, such as 127.0.0.0/8,::1; or `none`".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "none" {
            Some(Self::none())
        } else {
            text.parse().ok()
        }
    }

    fn show(&self) -> String {
        if *self == Self::none() {
            "none".to_owned()
        } else {
            self.to_string()
        }
    }
}

impl Value for db::Address {
    const SECRECY: Secrecy = Secrecy::Password;

    fn allowed() -> String {
        "sqlite:PATH or postgres://[user:password@]host[:port]/database, with ?sslmode=disable, prefer or require where wanted".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_to_the_provider_stays_on_this_machine() {
        for text in [
            "https://provider.example",
            "http://127.0.0.1:8002",
            "http://localhost:8002/",
            "http://[::1]:8002",
        ] {
            assert!(ProviderUrl::parse(text).is_some(), "{text}");
        }
        for text in [
            "http://provider.example",
            "ftp://127.0.0.1",
            "provider.example",
            "https://user@provider.example",
            "https://a.b/?c",
        ] {
            assert!(ProviderUrl::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn passwords_inside_addresses_are_masked() {
        let shown = RedisUrl::parse("redis://shop:hush@cache.example:6379/1")
            .unwrap()
            .show();
        assert_eq!(shown, format!("redis://shop:{MASK}@cache.example:6379/1"));
    }

    #[test]
    fn proxies_are_addresses_or_networks() {
        assert_eq!(
            Proxies::parse("127.0.0.0/8, ::1").unwrap().show(),
            "127.0.0.0/8,::1"
        );
        assert_eq!(Proxies::parse("none").unwrap().show(), "none");
        for text in ["10.0.0.0/33", "::1/129", "proxy.example", "10.0.0.0/x"] {
            assert!(Proxies::parse(text).is_none(), "{text}");
        }
    }
}
