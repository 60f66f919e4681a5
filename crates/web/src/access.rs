//! What is written down of each request: a line in the access log and a count, without query and body, which may hold secrets.

use std::sync::Arc;

use axum::extract::Request;
use axum::response::Response;
use http::Method;
use tokio::time::Instant;
use tracing::Span;

use crate::Random;
use crate::client::{Origin, Proxies};
use crate::metrics::{InFlight, Metrics};
use crate::request_id::{self, RequestId};

/// The target of the access log's lines. Each says all of itself that is to be known, with or without the span of its request.
pub const LOG: &str = "access";
/// What writes down the requests of one service. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Watch(pub(crate) Arc<Watching>);

#[derive(Debug)]
pub(crate) struct Watching {
    pub(crate) service: &'static str,
    pub(crate) random: Random,
    pub(crate) proxies: Proxies,
    pub(crate) metrics: Metrics,
}

/// When a request came, and from where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Where it came from.
    pub(crate) origin: Origin,
    at: Instant,
}

impl Watch {
    /// Looks at a request that comes.
    pub(crate) fn arrival(&self, request: &Request) -> Arrival {
        Arrival {
            origin: Origin::of(request, &self.0.proxies),
            at: Instant::now(),
        }
    }

    /// Begins with a request.
    pub(crate) fn see(&self, request: &Request, arrival: Arrival) -> Seen {
        Seen {
            id: RequestId::of(request.headers(), &self.0.random),
            arrival,
            method: request.method().clone(),
            watch: self.clone(),
        }
    }
}

/// A request that is being answered.
pub(crate) struct Seen {
    pub(crate) id: RequestId,
    pub(crate) arrival: Arrival,
    method: Method,
    watch: Watch,
}

impl Seen {
    /// The span of all that is logged for the request.
    pub(crate) fn span(&self) -> Span {
        tracing::info_span!(
            "request",
            service = self.watch.0.service,
            id = self.id.as_str()
        )
    }

    /// Counts it among those in flight until the value is dropped.
    pub(crate) fn in_flight(&self) -> InFlight {
        self.watch.0.metrics.requests().begin()
    }

    /// Writes it down within its span, and puts its id on the answer. Routes are patterns; an address that no route has is `unknown`.
    pub(crate) fn write_down(&self, route: &str, response: &mut Response) {
        let (service, status, duration) = (
            self.watch.0.service,
            response.status(),
            self.arrival.at.elapsed(),
        );
        let requests = self.watch.0.metrics.requests();
        requests.end(service, route, &self.method, status, duration);
        tracing::info!(
            target: LOG,
            service,
            id = self.id.as_str(),
            method = %self.method,
            route,
            status = status.as_u16(),
            duration_ms = (duration.as_secs_f64() * 1_000_000.0).round() / 1000.0,
            client = %self.arrival.origin.address,
        );
        response
            .headers_mut()
            .insert(request_id::HEADER, self.id.header());
    }
}
