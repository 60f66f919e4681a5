//! The API's document is complete and true. Every response in the tests of the API is
//! checked against it.

mod document;
mod service;

use std::sync::LazyLock;

use http::{HeaderMap, Method};
use test_kit::openapi::Document;

/// The document.
pub(crate) static DOCUMENT: LazyLock<Document> = LazyLock::new(|| {
    Document::new(inventory::openapi(), "Detail", |path| {
        !path.starts_with("/api/")
    })
});

/// Fails unless the document describes this response. OPTIONS, and the files of pages, are only
/// described in its text.
pub(crate) fn assert_described(
    method: &Method,
    path: &str,
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
) {
    let path_only = path.split('?').next().unwrap_or_default();
    if path.starts_with("/assets/") || is_page(path_only) {
        return;
    }
    if *method == Method::OPTIONS && status == 200 {
        return assert!(headers.contains_key("allow"), "{path}");
    }
    // Checks that come before the method answer every method alike.
    let posted = inventory::documented_addresses()
        .iter()
        .any(|address| address.path == path_only && !address.methods.contains(&Method::GET));
    let asked = match (method, status) {
        (_, 405) => method,
        (&Method::HEAD, _) if !posted => method,
        _ if DOCUMENT.has(method.as_str(), path) => method,
        _ if posted => &Method::POST,
        _ => &Method::GET,
    };
    DOCUMENT.assert_described(asked.as_str(), path, status, headers, body);
}

/// Whether the address is a page for people.
fn is_page(path: &str) -> bool {
    let matches = |pattern: &str| {
        let (wanted, found) = (pattern.split('/'), path.split('/'));
        wanted.clone().count() == found.clone().count()
            && wanted
                .zip(found)
                .all(|(wanted, found)| wanted == found || wanted.starts_with('{'))
    };
    inventory::page_addresses().any(|address| matches(&address.path))
}
