//! The API's document is complete and true. Its examples are sent to the real service,
//! and every response in the tests of the API is checked against it.

mod described;
mod document;
mod service;

use std::sync::LazyLock;

use http::HeaderMap;
use test_kit::openapi::Document;

/// The document.
pub(crate) static DOCUMENT: LazyLock<Document> =
    LazyLock::new(|| Document::new(checkout::openapi(), "Error", is_page));

fn is_page(path: &str) -> bool {
    path == "/" || path.starts_with("/pay/")
}

/// Fails unless the document describes this response.
pub(crate) fn assert_described(
    method: &str,
    path: &str,
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
) {
    DOCUMENT.assert_described(method, path, status, headers, body);
}
