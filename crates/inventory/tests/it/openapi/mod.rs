//! The API's document: well formed, complete, true. Every response that any test of the API
//! receives is held against it.

mod service;
mod structure;

use std::sync::LazyLock;

use http::{HeaderMap, Method};
use test_kit::openapi::Document;

/// The document.
static DOCUMENT: LazyLock<Document> = LazyLock::new(|| {
    Document::new(inventory::openapi(), "Detail", |path| {
        !path.starts_with("/api/")
    })
});

/// Fails unless the document describes this response. OPTIONS, and the files of pages, are told of
/// in its words alone.
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
    // What comes before the method is looked at answers every method as the one that the address
    // has.
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

/// Whether an address is one that only people read.
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
