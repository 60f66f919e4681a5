//! Query strings: parsed, with the last of repeated values winning, and written again for `next`
//! and `previous`.

use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What the conventions keep as it is. `form_urlencoded` would keep `*` and escape `~`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'_')
    .remove(b'.')
    .remove(b'-')
    .remove(b'~');

/// The parameters of one request, decoded, in the order they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Decodes a query string. Bytes that are no UTF-8 become replacement characters; a bare key
    /// has an empty value.
    pub fn parse(query: &str) -> Self {
        let pairs = form_urlencoded::parse(query.as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// Those of a request's address.
    pub fn of_address(uri: &Uri) -> Self {
        Self::parse(uri.query().unwrap_or_default())
    }

    /// One parameter.
    pub(crate) fn of(name: &str, value: &str) -> Self {
        Self(vec![(name.to_owned(), value.to_owned())])
    }

    /// Gives a parameter another value in the place of all it had; a blank one is as good as
    /// absent.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.retain(|(key, _)| key != name);
        self.0.push((name.to_owned(), value.into()));
    }

    /// The last value of a parameter, as sent; blank ones are as good as absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.sent(name).filter(|value| !value.trim().is_empty())
    }

    /// The last value of a parameter, as sent, blank or not.
    pub(crate) fn sent(&self, name: &str) -> Option<&str> {
        let mut newest_first = self.0.iter().rev();
        newest_first
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The query string again, in the order the parameters came.
    pub(crate) fn written(&self) -> String {
        write_pairs(self.iter())
    }

    /// Every parameter, in the order they came.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The same query with another `page` (none: without it), keys in byte order, for the address
    /// of another page.
    pub fn with_page(&self, page: Option<u64>) -> String {
        let page = page.map(|page| page.to_string());
        let others = self.iter().filter(|(key, _)| *key != "page");
        let mut pairs: Vec<(&str, &str)> = others
            .chain(page.as_deref().map(|page| ("page", page)))
            .collect();
        // Stable, so that values of one key keep their order.
        pairs.sort_by_key(|(key, _)| *key);
        write_pairs(pairs)
    }
}

/// An address with a query, where there is one.
pub(crate) fn with_query(path: &str, query: &str) -> String {
    if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{query}")
    }
}

/// The query string of these parameters.
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

/// Writes a text as a parameter's value.
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
    fn other_pages_keep_every_other_parameter_in_byte_order() {
        let parameters = Parameters::parse("zz=1&page_size=3&page=2&aa=2");
        assert_eq!(
            parameters.with_page(Some(3)),
            "aa=2&page=3&page_size=3&zz=1"
        );
        assert_eq!(parameters.with_page(None), "aa=2&page_size=3&zz=1");
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
