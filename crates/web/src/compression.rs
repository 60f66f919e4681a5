//! Compression of pages, for browsers that accept it. Embedded files are compressed once, in
//! [`crate::assets`]; programs get their JSON as it is.
//!
//! The length of a compressed page reveals something of its content (BREACH). The one secret that
//! pages repeat, the CSRF token, is therefore masked anew in each of them.

use std::io::Write as _;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue};
use http_body::Body as _;
use http_body_util::BodyExt as _;

use crate::Error;
use crate::accept::ranges;

/// Below this many bytes compression saves less than its header costs.
pub(crate) const SMALLEST: usize = 1024;
/// Larger pages are compressed on a thread for blocking work. Below this size it takes less than a
/// millisecond.
const LARGE: usize = 64 * 1024;
/// A page is compressed at every request, so speed counts more than size.
const QUICK: Compression = Compression::new(3);

/// Middleware: compresses the HTML that a router answers with. Streams and compressed responses
/// stay as they are.
pub async fn pages(request: Request, next: Next) -> Response {
    let takes_gzip = accepts_gzip(request.headers());
    let mut response = next.run(request).await;
    if !is_page(&response) {
        return response;
    }
    let vary = HeaderValue::from_static("Accept-Encoding");
    response.headers_mut().append(VARY, vary);
    if takes_gzip {
        compressed(response).await
    } else {
        response
    }
}

/// Whether a response is a whole page that is large enough.
fn is_page(response: &Response) -> bool {
    let content_type = response.headers().get(CONTENT_TYPE);
    let is_html = content_type.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    let length = response.body().size_hint().exact();
    is_html
        && !response.headers().contains_key(CONTENT_ENCODING)
        && length.is_some_and(|length| length >= SMALLEST as u64)
}

async fn compressed(response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    let page = match body.collect().await {
        Ok(page) => page.to_bytes(),
        Err(error) => return Error::internal(error).into_response(),
    };
    let smaller = if page.len() > LARGE {
        let page = page.clone();
        let work = tokio::task::spawn_blocking(move || gzip(&page, QUICK));
        work.await.unwrap_or_default()
    } else {
        gzip(&page, QUICK)
    };
    let Some(smaller) = smaller else {
        return Response::from_parts(head, Body::from(page));
    };
    head.headers.remove(CONTENT_LENGTH);
    let gzip = HeaderValue::from_static("gzip");
    head.headers.insert(CONTENT_ENCODING, gzip);
    Response::from_parts(head, Body::from(smaller))
}

/// The content compressed with gzip, when that is smaller.
pub(crate) fn gzip(content: &[u8], level: Compression) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(content.len() / 3), level);
    encoder.write_all(content).ok()?;
    let compressed = encoder.finish().ok()?;
    (compressed.len() < content.len()).then(|| Bytes::from(compressed))
}

/// Whether a client accepts gzip (RFC 9110, 12.5.3). `*` stands for codings that are not named.
pub(crate) fn accepts_gzip(request: &HeaderMap) -> bool {
    let weight_of = |wanted: &str| {
        ranges(request, ACCEPT_ENCODING)
            .find(|(coding, _)| coding.eq_ignore_ascii_case(wanted))
            .map(|(_, weight)| weight.unwrap_or(0))
    };
    weight_of("gzip").or_else(|| weight_of("*")) > Some(0)
}
