//! The middleware that counts requests and answers 429.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};

use super::{Key, Quota, RateLimitExceeded, Rates, Reserve, Windows, quota};
use crate::Error;
use crate::client::{ClientAddress, Origin};

/// Rates for the requests of a router.
#[derive(Clone, Debug)]
pub struct Limiter {
    kind: &'static str,
    windows: Windows,
    rates: Rates,
}

impl Limiter {
    /// The kind keeps the counts of several limiters over the same windows apart.
    pub const fn new(kind: &'static str, windows: Windows, rates: Rates) -> Self {
        Self {
            kind,
            windows,
            rates,
        }
    }

    /// Middleware: counts each request by the client's address, as [`Limiter::count`] does.
    pub async fn limit(State(this): State<Arc<Self>>, request: Request, next: Next) -> Response {
        let origin = request.extensions().get::<Origin>().copied();
        let Some(origin) = origin else {
            return next.run(request).await;
        };
        let key = Key::of_client(this.kind, ClientAddress(origin.address));
        this.count(&key, request, next).await
    }

    /// Refuses a key that has no call left. Counts nothing.
    ///
    /// # Errors
    /// 429
    pub async fn check(&self, key: &Key) -> Result<(), Error> {
        let levels = self.windows.levels(key, &self.rates, 0).await;
        let used_up = levels.iter().filter(|level| level.remaining == 0);
        match used_up.map(|level| level.reset_after).max() {
            None => Ok(()),
            Some(retry_after) => Err(too_many_requests(&RateLimitExceeded {
                retry_after,
                levels,
            })),
        }
    }

    /// Counts a call under a key, for [`Limiter::check`].
    pub async fn add(&self, key: &Key) {
        self.windows.levels(key, &self.rates, 1).await;
    }

    /// Counts a request under a key, writes the remaining quota into the response headers, and
    /// refuses requests above the limit.
    pub async fn count(&self, key: &Key, request: Request, next: Next) -> Response {
        if self.rates.is_off() {
            return next.run(request).await;
        }
        let taken = self.windows.take(key, &self.rates, 1, Reserve::Nothing);
        match taken.await {
            Ok(quota) => {
                let mut response = next.run(request).await;
                quota.apply_headers(&mut response);
                response
            }
            Err(refusal) => too_many_requests(&refusal).into_response(),
        }
    }
}

impl Quota {
    /// Puts the `RateLimit` and `RateLimit-Policy` headers on a response.
    pub fn apply_headers(&self, response: &mut Response) {
        let headers = quota::headers(&self.levels);
        response.headers_mut().extend(headers);
    }
}

/// The 429 for a throttled call, with `Retry-After` and the `RateLimit` headers.
pub fn too_many_requests(refusal: &RateLimitExceeded) -> Error {
    let seconds = refusal.retry_after_seconds();
    let error = Error::new(StatusCode::TOO_MANY_REQUESTS, throttled_detail(seconds))
        .header(RETRY_AFTER, HeaderValue::from(seconds));
    quota::headers(&refusal.levels).fold(error, |error, (name, value)| error.header(name, value))
}

/// The text of a 429.
pub fn throttled_detail(seconds: u64) -> String {
    let unit = if seconds == 1 { "second" } else { "seconds" };
    format!("Request was throttled. Expected available in {seconds} {unit}.")
}
