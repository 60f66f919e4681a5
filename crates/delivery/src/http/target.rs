//! The address of a receiver, validated as text. The resolved IP address is checked when
//! connecting.

use http::Uri;

use crate::model::URL_MAX;

/// The address to which events are posted: `https` or `http`, a host, no user name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target(Uri);

/// The text is not a valid address of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a receiver's address begins with https:// or http://, names a host, and has neither user name nor fragment"
)]
pub struct TargetError;

impl Target {
    /// Parses an address.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let text = text.trim();
        let is_plain = text.len() <= URL_MAX && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || text.contains('#') {
            return Err(TargetError);
        }
        let uri: Uri = text.parse().map_err(|_| TargetError)?;
        let is_web = matches!(uri.scheme_str(), Some("https" | "http"));
        let has_host = uri.host().is_some_and(|host| !host.is_empty());
        let has_user = uri
            .authority()
            .is_some_and(|authority| authority.as_str().contains('@'));
        // Only a port may follow the host. The URI parser accepts any digits there.
        let has_odd_port = uri.authority().is_some_and(|authority| {
            let behind = authority.as_str().strip_prefix(authority.host());
            behind.is_some_and(|port| {
                !port.is_empty() && authority.port_u16().is_none_or(|port| port == 0)
            })
        });
        if is_web && has_host && !has_user && !has_odd_port {
            Ok(Self(uri))
        } else {
            Err(TargetError)
        }
    }

    /// The address for the HTTP client.
    pub(crate) const fn uri(&self) -> &Uri {
        &self.0
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_web_scheme_and_a_host_and_no_user() {
        for text in [
            "https://shop.example/hooks?a=1",
            "http://127.0.0.1:9000/",
            " https://[2001:db8::1]:8443/x ",
        ] {
            assert!(Target::parse(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "shop.example",
            "ftp://shop.example/",
            "https://",
            "https://u:p@shop.example/",
            "https://shop.example/#a",
            "https://shop.example/a b",
            "https://café.example/",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://shop.example:99999/",
            "https://shop.example:0/",
            "https://shop.example:/",
        ] {
            assert_eq!(Target::parse(text), Err(TargetError), "{text}");
        }
        assert!(Target::parse(&format!("https://shop.example/{}", "x".repeat(2000))).is_err());
    }
}
