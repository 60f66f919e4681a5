//! Answering requests for assets: caching, conditional requests, compression.

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::Assets;
use crate::Error;
use crate::compression::accepts_gzip;
use crate::security::{self, Policy};

const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// A file without a hash in its name may change with the next version. Browsers cache it, but
/// revalidate it each time.
const REVALIDATED: HeaderValue = HeaderValue::from_static("no-cache");

pub(super) fn routes<S: Clone + Send + Sync + 'static>(assets: Assets) -> Router<S> {
    let handler = async move |Path(address): Path<String>, headers: HeaderMap| {
        asset(&assets, &address, &headers).await
    };
    Router::new().route("/assets/{*name}", get(handler))
}

async fn asset(assets: &Assets, address: &str, request: &HeaderMap) -> Result<Response, Error> {
    let (file, is_hashed) = assets.0.find(address).ok_or_else(Error::not_found)?;
    let compressed = if file.is_compressible() && accepts_gzip(request) {
        let file = std::sync::Arc::clone(file);
        // The first compression of a large file would hold up every other request of this thread.
        tokio::task::spawn_blocking(move || file.gzip())
            .await
            .map_err(Error::internal)?
    } else {
        None
    };
    let suffix = if compressed.is_some() { "-gzip" } else { "" };
    let tag = format!("\"{}{suffix}\"", file.hash());
    let mut response = if is_known(request, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Response::new(Body::from(
            compressed.clone().unwrap_or_else(|| file.content()),
        ))
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.content_type));
    headers.insert(
        CACHE_CONTROL,
        if is_hashed { IMMUTABLE } else { REVALIDATED },
    );
    headers.insert(ETAG, HeaderValue::from_str(&tag).map_err(Error::internal)?);
    if file.is_compressible() {
        headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    if compressed.is_some() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if !file.is_ours {
        security::allow(Policy::Picture, &mut response);
    }
    Ok(response)
}

/// Whether the client has the content already (`If-None-Match`, RFC 9110, 13.1.2: weak comparison).
fn is_known(request: &HeaderMap, tag: &str) -> bool {
    let known = request
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    known
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}
