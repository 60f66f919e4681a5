//! Listening addresses, addresses of other services, databases and proxies.

use std::net::{IpAddr, SocketAddr};

use reqwest::Url;
use web::client::{Proxies, PublicUrl};

use super::{Secrecy, Value};
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

fn without_end(url: &Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderUrl(Url);

impl ProviderUrl {
    /// The address without a slash at the end.
    pub(crate) fn as_text(&self) -> String {
        without_end(&self.0)
    }
}

impl Value for ProviderUrl {
    fn allowed() -> String {
        "an https:// address, or http:// to this machine (the sandbox)".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let url = parse_url(text, &["https", "http"])?;
        let plain = url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        (plain && (url.scheme() == "https" || is_loopback(&url))).then_some(Self(url))
    }

    fn show(&self) -> String {
        self.as_text()
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
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

/// A mail server, `smtp://` (with STARTTLS where offered) or `smtps://`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SmtpUrl(pub(crate) Url);

impl Value for SmtpUrl {
    const SECRECY: Secrecy = Secrecy::Password;

    fn allowed() -> String {
        "smtp:// or smtps://, [user:password@]host[:port]".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        parse_url(text, &["smtp", "smtps"]).map(Self)
    }

    fn show(&self) -> String {
        with_masked_password(&self.0)
    }
}

impl std::fmt::Debug for SmtpUrl {
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

/// The address of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatabaseUrl(pub(crate) String);

impl Value for DatabaseUrl {
    const SECRECY: Secrecy = Secrecy::Password;

    fn allowed() -> String {
        "sqlite:PATH or postgres://[user:password@]host[:port]/database".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        (text.starts_with("sqlite:") || text.starts_with("postgres://"))
            .then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
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
        let mail = SmtpUrl::parse("smtps://shop:hush@mail.example").unwrap();
        assert!(!format!("{mail:?} {}", mail.show()).contains("hush"));
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
