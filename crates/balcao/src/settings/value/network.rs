//! Addresses: of listeners, other services, databases, webhook receivers, the mail server, and
//! proxies.

use std::net::SocketAddr;

use checkout::provider::BaseUrl;
use delivery::Target;
use delivery::mail::Server;
use url::Url;
use web::client::{Proxies, PublicUrl};
use web::rate::is_redis_address;

use super::{Secrecy, Value, displayed_values};
use crate::settings::secret::MASK;

displayed_values! {
    SocketAddr: Open, "an IP address and a port, such as 127.0.0.1:8000; port 0 takes a free one";
    PublicUrl: Open, "https:// or http:// and a host alone, such as https://pay.example";
    db::Address: Password,
        "sqlite:PATH or postgres://[user:password@]host[:port]/database, with ?sslmode=disable, prefer or require where wanted";
}

fn parse_url(text: &str, schemes: &[&str]) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    (schemes.contains(&url.scheme()) && url.host().is_some()).then_some(url)
}

/// The provider's address. Card data is sent there, so plain HTTP is allowed only to this machine.
impl Value for BaseUrl {
    fn allowed() -> String {
        "an https:// address, or http:// to this machine (the sandbox)".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let base: Self = text.parse().ok()?;
        (text.starts_with("https:") || base.is_local()).then_some(base)
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// The HTTP address of another service.
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
        let url = parse_url(text, &["redis"])?;
        is_redis_address(url.as_str()).then_some(Self(url))
    }

    fn show(&self) -> String {
        let mut shown = self.0.clone();
        if shown.password().is_some() {
            // Fails only for addresses that cannot have a password.
            let _ = shown.set_password(Some(MASK));
        }
        shown.to_string()
    }
}

impl std::fmt::Debug for RedisUrl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.show())
    }
}

/// The address of a webhook receiver.
impl Value for Target {
    fn allowed() -> String {
        "an https:// or http:// address without user name and fragment".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        // Parsed as browsers do: international domain names are converted to their ASCII form.
        let url = Url::parse(text).ok()?;
        Self::parse(url.as_str()).ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// The address of a mail server, `smtp://` (with STARTTLS if offered) or `smtps://`.
impl Value for Server {
    const SECRECY: Secrecy = Secrecy::Password;

    fn allowed() -> String {
        "smtp:// or smtps://, [user:password@]host[:port], special characters of user and password as %40".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }

    fn show(&self) -> String {
        self.to_string()
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
            assert!(<BaseUrl as Value>::parse(text).is_some(), "{text}");
        }
        for text in [
            "http://provider.example",
            "ftp://127.0.0.1",
            "provider.example",
            "https://user@provider.example",
            "https://a.b/?c",
        ] {
            assert!(<BaseUrl as Value>::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn passwords_inside_addresses_are_masked() {
        let redis = RedisUrl::parse("redis://shop:hush@cache.example:6379/1").unwrap();
        assert_eq!(
            redis.show(),
            format!("redis://shop:{MASK}@cache.example:6379/1")
        );
        for text in ["redis://cache.example/abc", "redis:///1"] {
            assert!(RedisUrl::parse(text).is_none(), "{text}");
        }
        let mail = <Server as Value>::parse("smtps://shop:hush@mail.example").unwrap();
        assert!(!format!("{mail:?} {}", mail.show()).contains("hush"));
        assert_eq!(mail.show(), "smtps://shop:****@mail.example:465");
    }

    #[test]
    fn a_receivers_name_becomes_what_name_servers_know() {
        let url = <Target as Value>::parse("https://café.example/hooks").unwrap();
        assert_eq!(url.show(), "https://xn--caf-dma.example/hooks");
        for text in ["ftp://a.example", "https://u:p@a.example/", "a.example"] {
            assert!(<Target as Value>::parse(text).is_none(), "{text}");
        }
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
