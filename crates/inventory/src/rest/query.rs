//! Query strings: parsing, where the last of repeated values counts, and writing, for the links to
//! other pages.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::{Uri, request::Parts};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The unreserved characters of RFC 3986 are kept. `form_urlencoded` would keep `*` and escape `~`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'_')
    .remove(b'.')
    .remove(b'-')
    .remove(b'~');

/// The decoded parameters of one request, in the order in which they were sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Parses a query string. Invalid UTF-8 becomes replacement characters. A key without `=` has
    /// an empty value.
    pub fn parse(query: &str) -> Self {
        let pairs = form_urlencoded::parse(query.as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// Parses the query string of an address.
    pub fn of_address(uri: &Uri) -> Self {
        Self::parse(uri.query().unwrap_or_default())
    }

    /// A query of one parameter.
    pub(crate) fn of(name: &str, value: &str) -> Self {
        Self(vec![(name.to_owned(), value.to_owned())])
    }

    /// Replaces all values of a parameter by one.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.retain(|(key, _)| key != name);
        self.0.push((name.to_owned(), value.into()));
    }

    /// The last value of a parameter, as sent. A blank value counts as absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.sent(name).filter(|value| !value.trim().is_empty())
    }

    /// The last value of a parameter, as sent, even if it is blank.
    pub(crate) fn sent(&self, name: &str) -> Option<&str> {
        let mut newest_first = self.0.iter().rev();
        newest_first
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The query string, with the parameters in their original order.
    pub(crate) fn written(&self) -> String {
        write_pairs(self.iter())
    }

    /// All parameters in their original order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The query string of another page, with the keys sorted. `None` removes the `page` parameter.
    pub fn with_page(&self, page: Option<u64>) -> String {
        let page = page.map(|page| page.to_string());
        let others = self.iter().filter(|(key, _)| *key != "page");
        let mut pairs: Vec<(&str, &str)> = others
            .chain(page.as_deref().map(|page| ("page", page)))
            .collect();
        // A stable sort, so the values of one key keep their order.
        pairs.sort_by_key(|(key, _)| *key);
        write_pairs(pairs)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Parameters {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::of_address(&parts.uri))
    }
}

/// Appends a query string to a path, unless it is empty.
pub(crate) fn with_query(path: &str, query: &str) -> String {
    if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{query}")
    }
}

/// Encodes parameters as a query string.
pub(crate) fn write_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut query = String::new();
    for (key, value) in pairs {
        if !query.is_empty() {
            query.push('&');
        }
        encode(key, &mut query);
        query.push('=');
        encode(value, &mut query);
    }
    query
}

/// Encodes a text as the value of a parameter.
pub(crate) fn encode(text: &str, into: &mut String) {
    for (index, word) in text.split(' ').enumerate() {
        if index > 0 {
            into.push('+');
        }
        into.extend(utf8_percent_encode(word, ESCAPED));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_repeated_values_wins_and_blank_is_absent() {
        let parameters = Parameters::parse("a=1&a=2&b=&c");
        assert_eq!(parameters.get("a"), Some("2"));
        assert_eq!(parameters.get("b"), None);
        assert_eq!(parameters.get("c"), None);
    }

    #[test]
    fn plus_is_a_space_and_escapes_are_utf_8() {
        assert_eq!(
            Parameters::parse("search=caf%C3%A9+preto").get("search"),
            Some("café preto")
        );
        assert_eq!(
            Parameters::parse("search=%zz%4").get("search"),
            Some("%zz%4")
        );
        assert_eq!(
            Parameters::parse("search=%ff").get("search"),
            Some("\u{fffd}")
        );
    }

    #[test]
    fn what_is_not_unreserved_is_escaped() {
        let parameters = Parameters::parse("x&ordering=-a,b&q=%5B/&&s=~*+a");
        assert_eq!(
            parameters.with_page(None),
            "ordering=-a%2Cb&q=%5B%2F&s=~%2A+a&x="
        );
    }
}
