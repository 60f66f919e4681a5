//! Checks a response against the document.

use http::HeaderMap;
use serde_json::Value;

use super::{Document, object};

/// Headers that belong to HTTP, to browsers or to the server rather than to this API.
const GENERAL: [&str; 25] = [
    "allow",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-length",
    "content-security-policy",
    "content-type",
    "cross-origin-embedder-policy",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "date",
    "etag",
    "last-modified",
    "location",
    "permissions-policy",
    "pragma",
    "referrer-policy",
    "strict-transport-security",
    "transfer-encoding",
    "vary",
    "x-content-type-options",
    "x-frame-options",
    "x-permitted-cross-domain-policies",
    "x-robots-tag",
];

/// A response that was received.
pub(super) struct Response<'response> {
    pub(super) document: &'response Document,
    /// What a failure names it.
    pub(super) what: String,
    pub(super) status: u16,
    pub(super) headers: &'response HeaderMap,
    pub(super) body: &'response [u8],
}

impl Response<'_> {
    /// Fails unless the document describes it.
    pub(super) fn check(&self, method: &str, path: &str) {
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        let what = &self.what;
        let Some(item) = find(self.document, path) else {
            return self.check_unknown(method, path, query);
        };
        let method = method.to_lowercase();
        let requested = if method == "head" {
            "get"
        } else {
            method.as_str()
        };
        let Some(operation) = item.get(requested) else {
            assert_eq!(
                self.status, 405,
                "{what}: a method that the document does not have"
            );
            assert!(self.headers.contains_key("allow"), "{what}: no Allow");
            if method != "head" {
                self.check_error(path);
            }
            return;
        };
        let responses = &operation["responses"];
        let response = responses
            .get(self.status.to_string())
            .or_else(|| responses.get("default").filter(|_| self.status >= 400));
        let response = response.unwrap_or_else(|| {
            panic!(
                "{what} is not described: {}",
                String::from_utf8_lossy(self.body)
            )
        });
        let response = self.document.resolved(response);
        self.check_headers(response);
        if method != "head" {
            self.check_body(response);
        }
    }

    /// An address that the document does not have is 404, or redirects to one that it has with a
    /// final slash.
    fn check_unknown(&self, method: &str, path: &str, query: Option<&str>) {
        let what = &self.what;
        if matches!(self.status, 301 | 308) {
            let query = query.map(|query| format!("?{query}")).unwrap_or_default();
            let slashed = format!("{path}/");
            assert!(
                find(self.document, &slashed).is_some(),
                "{what}: leads to an address that the document does not have"
            );
            assert_eq!(
                self.headers
                    .get("location")
                    .map(http::HeaderValue::as_bytes),
                Some(format!("{slashed}{query}").as_bytes()),
                "{what}"
            );
            return;
        }
        assert_eq!(
            self.status, 404,
            "{what}: an address that the document does not have"
        );
        if method != "HEAD" {
            self.check_error(path);
        }
    }

    /// Errors of pages are pages.
    fn check_error(&self, path: &str) {
        if (self.document.is_page)(path) && self.is_html() {
            return;
        }
        let schema = format!("#/components/schemas/{}", self.document.error);
        self.document.assert_valid(
            &serde_json::json!({"$ref": schema}),
            &self.json(),
            &self.what,
        );
    }

    fn is_html(&self) -> bool {
        self.headers
            .get("content-type")
            .is_some_and(|value| value == "text/html; charset=utf-8")
    }

    fn json(&self) -> Value {
        serde_json::from_slice(self.body).unwrap_or_else(|error| panic!("{}: {error}", self.what))
    }

    fn check_headers(&self, response: &Value) {
        let what = &self.what;
        let described = response.get("headers").map(object);
        let find = |name: &str| {
            described?
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, header)| self.document.resolved(header))
        };
        for (name, value) in self.headers {
            let name = name.as_str();
            let text = value.to_str().expect("headers are ASCII");
            match find(name) {
                Some(header) => {
                    let number = text.parse::<u64>().map(Value::from);
                    let is_number = header["schema"]["type"] == "integer";
                    let value = number
                        .ok()
                        .filter(|_| is_number)
                        .unwrap_or_else(|| text.into());
                    self.document.assert_valid(
                        &header["schema"],
                        &value,
                        &format!("{what}: header {name}"),
                    );
                }
                None => {
                    assert!(
                        GENERAL.contains(&name),
                        "{what}: header {name} is not described"
                    );
                }
            }
        }
        for (name, header) in described.into_iter().flatten() {
            let is_required = self.document.resolved(header)["required"] == true;
            assert!(
                !is_required || self.headers.contains_key(name),
                "{what}: header {name} is missing"
            );
        }
    }

    fn check_body(&self, response: &Value) {
        let what = &self.what;
        let Some(content) = response.get("content").map(object) else {
            return assert!(self.body.is_empty(), "{what}: a body that is not described");
        };
        let content_type = self
            .headers
            .get("content-type")
            .map_or("", |value| value.to_str().expect("a content type is ASCII"));
        let media = content
            .get(content_type)
            .unwrap_or_else(|| panic!("{what}: content type {content_type:?} is not described"));
        let value = if content_type == "application/json" {
            self.json()
        } else {
            Value::from(std::str::from_utf8(self.body).expect("a text is UTF-8"))
        };
        self.document.assert_valid(&media["schema"], &value, what);
    }
}

/// The path item whose template has the address.
pub(super) fn find<'document>(
    document: &'document Document,
    path: &str,
) -> Option<&'document Value> {
    let fits = |template: &str| {
        let (requested, known): (Vec<_>, Vec<_>) =
            (path.split('/').collect(), template.split('/').collect());
        let fits = |(requested, known): (&&str, &&str)| {
            if known.starts_with('{') {
                !requested.is_empty()
            } else {
                requested == known
            }
        };
        requested.len() == known.len() && requested.iter().zip(&known).all(fits)
    };
    object(&document.value["paths"])
        .iter()
        .find(|(template, _)| fits(template))
        .map(|(_, item)| item)
}
