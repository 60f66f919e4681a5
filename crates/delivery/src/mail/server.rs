//! The address of the mail server: `smtp://`, with STARTTLS if offered, or `smtps://`.

use std::{borrow::Cow, fmt};

use http::Uri;
use percent_encoding::percent_decode_str;

/// An SMTP server and the credentials for it.
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    /// Whether TLS is used from the first byte. Otherwise STARTTLS is used if the server offers it.
    pub(super) is_tls: bool,
    pub(super) credentials: Option<(String, String)>,
}

/// The text is not a valid address of a mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a mail server is smtp:// or smtps://, [user:password@]host[:port]; special characters of a password are written as %40"
)]
pub struct ServerError;

impl Server {
    /// Parses an address. User and password are percent-decoded.
    pub fn parse(text: &str) -> Result<Self, ServerError> {
        let uri: Uri = text.trim().parse().map_err(|_| ServerError)?;
        let is_tls = match uri.scheme_str() {
            Some("smtps") => true,
            Some("smtp") => false,
            _ => return Err(ServerError),
        };
        let host = uri
            .host()
            .filter(|host| !host.is_empty())
            .ok_or(ServerError)?;
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let credentials = match authority.rsplit_once('@') {
            Some((user, _)) => {
                let (user, password) = user.split_once(':').ok_or(ServerError)?;
                Some((decode(user)?, decode(password)?))
            }
            None => None,
        };
        Ok(Self {
            host: host
                .trim_start_matches('[')
                .trim_end_matches(']')
                .to_owned(),
            // Ports 465 and 587 are for submission with and without implicit TLS (RFC 8314).
            port: uri.port_u16().unwrap_or(if is_tls { 465 } else { 587 }),
            is_tls,
            credentials,
        })
    }

    /// Whether the server is on this machine. A password may go there without TLS.
    pub(super) fn is_local(&self) -> bool {
        let address = self.host.parse::<std::net::IpAddr>();
        self.host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }
}

/// Percent-decodes. A `%` without an escape is refused: it is probably a password that was not
/// encoded.
fn decode(text: &str) -> Result<String, ServerError> {
    let is_escape = |rest: &str| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(is_escape) {
        return Err(ServerError);
    }
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Cow::into_owned).map_err(|_| ServerError)
}

impl fmt::Display for Server {
    /// Prints the address without the password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "smtps" } else { "smtp" };
        write!(formatter, "{scheme}://")?;
        if let Some((user, _)) = &self.credentials {
            write!(formatter, "{user}:****@")?;
        }
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Server({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_tells_host_port_tls_and_credentials() {
        let server = Server::parse("smtps://shop%40example.com:h%C3%A9%2Fx@mail.example").unwrap();
        assert_eq!(
            (server.host.as_str(), server.port, server.is_tls),
            ("mail.example", 465, true)
        );
        assert_eq!(
            server.credentials,
            Some(("shop@example.com".to_owned(), "hé/x".to_owned()))
        );
        let plain = Server::parse("smtp://127.0.0.1:2525/").unwrap();
        assert_eq!(
            (plain.port, plain.is_tls, plain.is_local()),
            (2525, false, true)
        );
        assert_eq!(Server::parse("smtp://mail.example").unwrap().port, 587);
        assert!(!format!("{server:?}").contains("hé"));
        for text in [
            "",
            "mail.example",
            "http://mail.example",
            "smtp://",
            "smtp://user@mail.example",
            "smtp://a:%zz@mail.example",
        ] {
            assert_eq!(Server::parse(text), Err(ServerError), "{text}");
        }
    }
}
