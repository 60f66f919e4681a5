//! Redirects from HTTP to HTTPS, for people who typed the address without the scheme.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use http::Method;

use super::{Origin, PublicUrl};

/// Middleware: sends readers of pages who came over plain HTTP to the configured public address,
/// when that is HTTPS (308, so that bookmarks may be corrected).
///
/// Without such an address, and for methods other than `GET` and `HEAD`, the request goes on: a
/// form or a call that was sent in the clear must fail, and not be repeated. Behind a proxy without
/// forwarding headers, or one that is not trusted, it goes on too, because the redirect would repeat
/// for ever.
pub async fn to_https(request: Request, next: Next) -> Response {
    let origin = Origin::known(request.extensions());
    let is_known = !origin.is_silent_proxy && !origin.is_untrusted_proxy;
    let is_plain = is_known && !origin.is_secure();
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    let configured = request
        .extensions()
        .get::<PublicUrl>()
        .filter(|url| url.is_https());
    match configured {
        Some(url) if is_reading && is_plain => {
            let path = request
                .uri()
                .path_and_query()
                .map_or("/", http::uri::PathAndQuery::as_str);
            Redirect::permanent(&url.join(path)).into_response()
        }
        _ => next.run(request).await,
    }
}
