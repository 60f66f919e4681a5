//! The provider's base address, from the configuration.

use std::net::IpAddr;

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};

/// The address of the provider's API: `http` or `https`, host, port and an optional path before
/// `/v1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    scheme: Scheme,
    authority: Authority,
    path: String,
}

/// The text is not a valid [`BaseUrl`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a provider address is http:// or https:// with a host, without user, query or fragment")]
pub struct BaseUrlError;

impl std::str::FromStr for BaseUrl {
    type Err = BaseUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text
            .trim()
            .parse::<Uri>()
            .map_err(|_| BaseUrlError)?
            .into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(BaseUrlError);
        };
        let path = parts
            .path_and_query
            .unwrap_or_else(|| PathAndQuery::from_static("/"));
        let is_web = scheme == Scheme::HTTP || scheme == Scheme::HTTPS;
        if !is_web
            || authority.host().is_empty()
            || authority.as_str().contains('@')
            || path.query().is_some()
            || text.contains('#')
        {
            return Err(BaseUrlError);
        }
        let path = path.path().trim_end_matches('/').to_owned();
        Ok(Self {
            scheme,
            authority,
            path,
        })
    }
}

impl std::fmt::Display for BaseUrl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{}://{}{}",
            self.scheme, self.authority, self.path
        )
    }
}

impl BaseUrl {
    /// Whether its connections are encrypted.
    pub(super) fn is_https(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    /// Whether it is on this machine: a loopback address, or `localhost`.
    pub fn is_local(&self) -> bool {
        let host = self.authority.host().trim_matches(['[', ']']);
        host == "localhost"
            || host
                .parse()
                .is_ok_and(|address: IpAddr| address.is_loopback())
    }

    /// The address of a path below the base.
    pub(super) fn join(&self, path: &str) -> Result<Uri, http::Error> {
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(format!("{}{path}", self.path))
            .build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_back_as_it_is_used() {
        for (text, shown) in [
            (
                "https://api.provider.example",
                "https://api.provider.example",
            ),
            (" http://127.0.0.1:8002/ ", "http://127.0.0.1:8002"),
            ("http://[::1]:8002", "http://[::1]:8002"),
            (
                "https://gateway.example/provider/",
                "https://gateway.example/provider",
            ),
        ] {
            let base: BaseUrl = text.parse().unwrap();
            assert_eq!(base.to_string(), shown);
            assert_eq!(
                base.join("/v1/payments").unwrap().to_string(),
                format!("{shown}/v1/payments")
            );
        }
    }

    #[test]
    fn loopback_and_localhost_are_on_this_machine() {
        let is_local = |text: &str| text.parse::<BaseUrl>().unwrap().is_local();
        for local in [
            "http://127.0.0.1:8002",
            "http://127.9.9.9",
            "http://[::1]:8002",
            "http://localhost:1",
        ] {
            assert!(is_local(local), "{local}");
        }
        for remote in [
            "https://provider.example",
            "http://10.0.0.1",
            "http://localhost.example",
        ] {
            assert!(!is_local(remote), "{remote}");
        }
    }

    #[test]
    fn what_is_no_address_of_a_web_server_is_refused() {
        for text in [
            "",
            "provider.example",
            "/v1",
            "ftp://provider.example",
            "https://",
            "https://user:secret@provider.example",
            "https://a.example?x=1",
            "https://a.example#x",
            "https://a b",
        ] {
            assert_eq!(text.parse::<BaseUrl>(), Err(BaseUrlError), "{text}");
        }
    }
}
