//! The access log: one line and one count for each request. Query and body are left out, because
//! they may hold secrets.

use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use http::Method;
use tokio::time::Instant;
use tracing::Span;
use tracing::field::Empty;

use crate::client::Origin;
use crate::error::ExpectedFault;
use crate::metrics::Metrics;
use crate::request_id::{self, RequestId};

/// The target of the access log's lines. Each line is complete without the span of its request.
pub const LOG: &str = "access";

/// Names the user of the present request in all further log lines about it.
pub fn record_user(id: i64) {
    Span::current().record("user", id);
}

/// The facts of a request for its line in the log.
pub(crate) struct RequestRecord {
    service: &'static str,
    id: RequestId,
    origin: Origin,
    method: Method,
    route: Option<MatchedPath>,
    started: Instant,
}

impl RequestRecord {
    /// Begins when a request arrives.
    pub(crate) fn new(
        service: &'static str,
        id: RequestId,
        origin: Origin,
        request: &Request,
    ) -> Self {
        Self {
            service,
            id,
            origin,
            method: request.method().clone(),
            route: request.extensions().get().cloned(),
            started: Instant::now(),
        }
    }

    /// The span of everything that is logged for the request.
    pub(crate) fn span(&self) -> Span {
        tracing::info_span!(
            "request",
            service = self.service,
            id = self.id.as_str(),
            user = Empty
        )
    }

    /// Logs and counts the request, and puts its id on the response. Routes are logged as patterns;
    /// an address without a route is `unknown`.
    pub(crate) fn end(self, metrics: &Metrics, response: &mut Response) {
        let (status, duration) = (response.status(), self.started.elapsed());
        let route = self.route.as_ref().map_or("unknown", MatchedPath::as_str);
        let requests = metrics.requests();
        requests.end(self.service, route, &self.method, status, duration);
        if status.is_server_error() && response.extensions().get::<ExpectedFault>().is_none() {
            requests.fault();
        }
        tracing::info!(
            target: LOG,
            service = self.service,
            id = self.id.as_str(),
            method = %self.method,
            route,
            status = status.as_u16(),
            duration_ms = (duration.as_secs_f64() * 1_000_000.0).round() / 1000.0,
            client = %self.origin.address,
        );
        response
            .headers_mut()
            .insert(request_id::HEADER, self.id.header());
    }
}
