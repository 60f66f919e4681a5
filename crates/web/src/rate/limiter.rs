//! The middleware that counts requests and answers 429.

use std::fmt;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};

use super::{Rates, Reserve, Standing, Throttled, Windows, standing};
use crate::Error;
use crate::client::{ClientAddress, Origin};

type Key = Box<dyn Fn(&Request) -> Option<String> + Send + Sync>;

/// Rates for the requests of a router, counted by a key of the request.
pub struct Limiter {
    scope: &'static str,
    windows: Windows,
    rates: Rates,
    key: Key,
}

impl Limiter {
    /// Counts by the client's address. The scope keeps the counts of several limiters over the same windows apart.
    pub fn by_address(scope: &'static str, windows: Windows, rates: Rates) -> Self {
        Self::by(scope, windows, rates, |request| {
            let origin = request.extensions().get::<Origin>()?;
            Some(ClientAddress(origin.address).limit_key())
        })
    }

    /// Counts by whatever `key` makes of the request; `None` is not limited.
    pub fn by(
        scope: &'static str,
        windows: Windows,
        rates: Rates,
        key: impl Fn(&Request) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            scope,
            windows,
            rates,
            key: Box::new(key),
        }
    }

    /// Counts one request of `key`, for handlers that learn late whom to count.
    ///
    /// # Errors
    /// 429 as [`throttled`] makes it.
    pub async fn check(&self, key: &str) -> Result<Standing, Error> {
        let key = format!("{}:{key}", self.scope);
        self.windows
            .take(&key, &self.rates, 1, Reserve::Nothing)
            .await
            .map_err(|refusal| throttled(&refusal))
    }

    /// Middleware: counts each request, tells what is left in the response headers, and refuses what is too much.
    pub async fn limit(State(this): State<Arc<Self>>, request: Request, next: Next) -> Response {
        let Some(key) = (this.key)(&request).filter(|_| !this.rates.is_off()) else {
            return next.run(request).await;
        };
        match this.check(&key).await {
            Ok(standing) => standing.tell(next.run(request).await),
            Err(error) => error.into_response(),
        }
    }
}

impl fmt::Debug for Limiter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Limiter")
            .field("scope", &self.scope)
            .field("rates", &self.rates)
            .finish_non_exhaustive()
    }
}

impl Standing {
    /// Puts the `RateLimit` and `RateLimit-Policy` headers on a response.
    #[must_use]
    pub fn tell(&self, mut response: Response) -> Response {
        response
            .headers_mut()
            .extend(standing::headers(&self.levels));
        response
    }
}

/// The 429 for a refused call: the text of the decisions, `Retry-After`, and the `RateLimit` headers.
pub fn throttled(refusal: &Throttled) -> Error {
    let seconds = refusal.retry_after_seconds();
    let unit = if seconds == 1 { "second" } else { "seconds" };
    let detail = format!("Request was throttled. Expected available in {seconds} {unit}.");
    let error = Error::new(StatusCode::TOO_MANY_REQUESTS, detail)
        .header(RETRY_AFTER, HeaderValue::from(seconds));
    standing::headers(&refusal.levels).fold(error, |error, (name, value)| error.header(name, value))
}
