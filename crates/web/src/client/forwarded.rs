//! The client as trusted proxies report it: `Forwarded` (RFC 7239) and `X-Forwarded-For` with
//! `X-Forwarded-Proto`.
//!
//! A proxy appends its peer to the list that it received, so only the right end can be trusted.
//! From there, trusted proxies are skipped, and the first other hop is the client. An entry that is
//! no address ends the search. A proxy that sets one kind of header may pass on a forged one of the
//! other kind. So when both are present and disagree, neither is used.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use http::header::{FORWARDED, HeaderName};

use super::Proxies;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const OTHERS: [HeaderName; 4] = [
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-port"),
    HeaderName::from_static("x-forwarded-server"),
    HeaderName::from_static("x-real-ip"),
];

/// More hops than any real chain has; longer lists are not read.
const MOST_HOPS: usize = 64;

/// The client, as the headers report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ForwardedClient {
    /// The client's address, if they name one.
    pub(super) address: Option<IpAddr>,
    /// Whether the client speaks HTTPS to the first of our proxies.
    pub(super) is_https: bool,
}

/// Whether a proxy has forwarded the request.
pub(super) fn is_present(headers: &HeaderMap) -> bool {
    // A request has few headers. Comparing their names is cheaper than seven lookups in the map.
    headers.keys().any(|name| {
        [FORWARDED, X_FORWARDED_FOR, X_FORWARDED_PROTO]
            .iter()
            .chain(&OTHERS)
            .any(|known| known == name)
    })
}

/// Reads the headers of a trusted peer.
pub(super) fn read(headers: &HeaderMap, peer: IpAddr, trusted: &Proxies) -> ForwardedClient {
    let standard =
        list(headers, &FORWARDED).and_then(|elements| from_standard(&elements, peer, trusted));
    let common = from_common(headers, peer, trusted);
    match (standard, common) {
        (Some(client), None) | (None, Some(client)) => client,
        (Some(standard), Some(common)) => ForwardedClient {
            address: if standard.address == common.address {
                standard.address
            } else {
                None
            },
            is_https: standard.is_https && common.is_https,
        },
        (None, None) => ForwardedClient::default(),
    }
}

/// The elements of all lines of a list header, in order; `None` when it is absent, not text, or too
/// long.
fn list<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Vec<&'a str>> {
    let mut elements = Vec::new();
    for line in headers.get_all(name) {
        elements.extend(
            line.to_str()
                .ok()?
                .split(',')
                .map(str::trim)
                .filter(|element| !element.is_empty()),
        );
    }
    (1..=MOST_HOPS)
        .contains(&elements.len())
        .then_some(elements)
}

/// The position of the client in a list of hops, and its address; `None` when the right end is no
/// address.
fn client(hops: &[Option<IpAddr>], trusted: &Proxies) -> Option<(usize, IpAddr)> {
    let mut client = None;
    for (index, hop) in hops.iter().enumerate().rev() {
        let Some(address) = hop else { break };
        client = Some((index, *address));
        if !trusted.contains(*address) {
            break;
        }
    }
    client
}

fn from_common(headers: &HeaderMap, peer: IpAddr, trusted: &Proxies) -> Option<ForwardedClient> {
    let hops: Option<Vec<_>> =
        list(headers, &X_FORWARDED_FOR).map(|hops| hops.into_iter().map(node).collect());
    let schemes = list(headers, &X_FORWARDED_PROTO);
    if hops.is_none() && schemes.is_none() {
        return None;
    }
    let client = hops.as_deref().and_then(|hops| client(hops, trusted));
    let scheme = schemes.and_then(|schemes| {
        let count = hops.as_ref().map_or(0, Vec::len);
        let beside = client
            .filter(|_| schemes.len() == count)
            .and_then(|(index, _)| schemes.get(index).copied());
        beside.or_else(|| schemes.last().copied())
    });
    Some(ForwardedClient {
        address: Some(client.map_or(peer, |(_, address)| address)),
        is_https: scheme.is_some_and(is_https),
    })
}

fn from_standard(elements: &[&str], peer: IpAddr, trusted: &Proxies) -> Option<ForwardedClient> {
    let hops: Vec<_> = elements
        .iter()
        .map(|element| element_of(element))
        .collect::<Option<_>>()?;
    let addresses: Vec<_> = hops.iter().map(|hop| hop.address).collect();
    let client = client(&addresses, trusted);
    let hop = match client {
        Some((index, _)) => hops.get(index),
        None => hops.last(),
    };
    Some(ForwardedClient {
        address: Some(client.map_or(peer, |(_, address)| address)),
        is_https: hop.is_some_and(|hop| hop.is_https),
    })
}

fn is_https(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("https")
}

/// One element of `Forwarded`; `None` when its syntax is broken, which makes the whole header
/// worthless.
fn element_of(element: &str) -> Option<ForwardedClient> {
    let mut client = ForwardedClient::default();
    for pair in element
        .split(';')
        .map(str::trim)
        .filter(|pair| !pair.is_empty())
    {
        let (name, value) = pair.split_once('=')?;
        let value = match value.strip_prefix('"') {
            Some(quoted) => quoted.strip_suffix('"')?,
            None => value,
        };
        if name.eq_ignore_ascii_case("for") {
            client.address = node(value);
        } else if name.eq_ignore_ascii_case("proto") {
            client.is_https = is_https(value);
        }
    }
    Some(client)
}

/// The address of a hop: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`,
/// `[2001:db8::1]:80`. `None` for names and `unknown`.
fn node(text: &str) -> Option<IpAddr> {
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    let address = bare
        .parse::<IpAddr>()
        .ok()
        .or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()));
    address.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const PEER: &str = "10.0.0.1";

    fn client_of(lines: &[(&str, &str)]) -> (Option<String>, bool) {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let client = read(
            &headers,
            PEER.parse().unwrap(),
            &"10.0.0.0/8,2001:db8::/32".parse().unwrap(),
        );
        (
            client.address.map(|address| address.to_string()),
            client.is_https,
        )
    }

    fn address(lines: &[(&str, &str)]) -> String {
        client_of(lines).0.unwrap_or_else(|| "none".to_owned())
    }

    #[test]
    fn the_rightmost_hop_that_is_no_proxy_of_ours_is_the_client() {
        let cases = [
            ("203.0.113.7", "203.0.113.7"),
            ("1.1.1.1, 203.0.113.7", "203.0.113.7"),
            ("1.1.1.1, 203.0.113.7, 10.9.9.9", "203.0.113.7"),
            ("10.2.2.2, 10.3.3.3", "10.2.2.2"),
            ("203.0.113.7:4711", "203.0.113.7"),
            ("[2001:dead::1]:80", "2001:dead::1"),
            ("2001:dead::1", "2001:dead::1"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
        ];
        for (line, expected) in cases {
            assert_eq!(address(&[("x-forwarded-for", line)]), expected, "{line}");
        }
        assert_eq!(
            address(&[
                ("x-forwarded-for", "1.1.1.1"),
                ("x-forwarded-for", "2.2.2.2")
            ]),
            "2.2.2.2"
        );
    }

    #[test]
    fn an_entry_that_is_no_address_ends_the_walk() {
        for line in [
            "unknown",
            "_hidden",
            "1.2.3.4.5",
            "1.1.1.1, evil",
            "999.1.1.1",
        ] {
            assert_eq!(address(&[("x-forwarded-for", line)]), PEER, "{line}");
        }
        assert_eq!(
            address(&[("x-forwarded-for", "1.1.1.1, evil, 10.9.9.9")]),
            "10.9.9.9"
        );
    }

    #[test]
    fn the_standard_header_is_read_with_its_quoting() {
        let cases = [
            ("for=203.0.113.7", "203.0.113.7", false),
            (
                "For=\"[2001:dead::1]:4711\";Proto=HTTPS",
                "2001:dead::1",
                true,
            ),
            (
                "for=1.1.1.1;proto=https, for=203.0.113.7;proto=http;by=10.0.0.1",
                "203.0.113.7",
                false,
            ),
            (
                "for=203.0.113.7;proto=https, for=10.2.2.2;proto=http",
                "203.0.113.7",
                true,
            ),
            ("for=_secret;proto=https", PEER, true),
        ];
        for (line, expected, is_https) in cases {
            assert_eq!(
                client_of(&[("forwarded", line)]),
                (Some(expected.to_owned()), is_https),
                "{line}"
            );
        }
    }

    #[test]
    fn a_broken_standard_header_is_ignored_whole() {
        for line in ["for", "for=\"1.1.1.1", "\u{e9}=1", ",,,", ""] {
            assert_eq!(client_of(&[("forwarded", line)]), (None, false), "{line:?}");
        }
        let many = vec!["for=1.1.1.1"; 65].join(",");
        assert_eq!(client_of(&[("forwarded", &many)]), (None, false));
    }

    #[test]
    fn headers_of_both_kinds_that_disagree_are_not_believed() {
        let lines = [
            ("forwarded", "for=9.9.9.9;proto=https"),
            ("x-forwarded-for", "203.0.113.7"),
            ("x-forwarded-proto", "http"),
        ];
        assert_eq!(client_of(&lines), (None, false));
        let lines = [
            ("forwarded", "for=203.0.113.7;proto=https"),
            ("x-forwarded-for", "203.0.113.7"),
            ("x-forwarded-proto", "https"),
        ];
        assert_eq!(client_of(&lines), (Some("203.0.113.7".to_owned()), true));
    }

    #[test]
    fn the_scheme_beside_the_client_counts_and_else_the_last() {
        let scheme = |hops: &str, schemes: &str| {
            client_of(&[("x-forwarded-for", hops), ("x-forwarded-proto", schemes)]).1
        };
        assert!(scheme("203.0.113.7", "https"));
        assert!(scheme("203.0.113.7, 10.2.2.2", "https, http"));
        assert!(!scheme("203.0.113.7", "https, http"));
        assert!(!scheme("203.0.113.7", "httpss"));
        assert!(client_of(&[("x-forwarded-proto", "https")]).1);
    }
}
