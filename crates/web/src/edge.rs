//! Everything that goes around a service's router, in the one right order.

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use http::Method;
use tokio::time::Instant;
use tracing::{Instrument, Span};

use crate::client::{self, Origin, Proxies, PublicUrl};
use crate::errors::{self, Render};
use crate::metrics::Metrics;
use crate::request_id::{self, RequestId};
use crate::security::{self, Policy};
use crate::{Error, Next, Random, Step, limits};

/// What the edge around one service needs to know.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The service's name in figures and log lines: `checkout`, `inventory`.
    pub service: &'static str,
    /// Where request ids come from.
    pub random: Random,
    /// Whose forwarding headers count.
    pub proxies: Proxies,
    /// The address under which the outside knows the service, when it is configured.
    pub public_url: Option<PublicUrl>,
    /// Where requests are counted.
    pub metrics: Metrics,
}

impl Edge {
    /// Puts the edge around a finished router. `renderer` renders what no inner [`errors::layer`] has, among it every
    /// address that no route knows: it is told the address, and may choose a shape by it. A fallback of the router's own is replaced.
    ///
    /// From outside in: request id, span, origin, access log and figures; security headers of [`Policy::Api`] where a router has set none of its own;
    /// errors and panics; the size of the head. Body limits, timeouts and rate limits differ by router and are put there.
    pub fn around(self, router: Router, renderer: impl Render) -> Router {
        router
            // Merged routers bring fallbacks with layers of their own, and the last one would win.
            .fallback(async || Error::not_found())
            .layer(
                self.watch()
                    .then(security::layer(Policy::Api))
                    .then(errors::layer(renderer))
                    .then(limits::head()),
            )
    }

    /// Everything about a request that is known before it is handled, and what is written down after.
    fn watch(self) -> Step {
        Step::new(move |mut request: Request, next: Next| {
            let id = RequestId::of(request.headers(), &self.random);
            let origin = Origin::of(&request, &self.proxies);
            let extensions = request.extensions_mut();
            extensions.insert(id.clone());
            client::introduce(extensions, origin, self.public_url.as_ref());
            let span = tracing::info_span!("request", service = self.service, id = id.as_str());
            let (service, metrics) = (self.service, self.metrics.clone());
            let seen = Seen {
                service,
                metrics,
                method: request.method().clone(),
                route: route(&request),
                origin,
            };
            async move {
                let mut response = seen.write_down(next.run(request)).await;
                response
                    .headers_mut()
                    .insert(request_id::HEADER, id.header());
                response
            }
            .instrument(span)
        })
    }
}

struct Seen {
    service: &'static str,
    metrics: Metrics,
    method: Method,
    route: Option<MatchedPath>,
    origin: Origin,
}

impl Seen {
    /// One line in the access log and one count, without query or body: both may hold secrets.
    async fn write_down(self, answer: impl Future<Output = Response>) -> Response {
        let in_flight = self.metrics.requests().begin();
        let start = Instant::now();
        let response = answer.await;
        let (duration, status) = (start.elapsed(), response.status());
        drop(in_flight);
        let route = self.route.as_ref().map_or("unknown", MatchedPath::as_str);
        self.metrics
            .requests()
            .end(self.service, route, &self.method, status, duration);
        let duration_ms = duration.as_secs_f64() * 1000.0;
        tracing::info!(
            target: "access",
            parent: &Span::current(),
            method = %self.method,
            route,
            status = status.as_u16(),
            duration_ms = (duration_ms * 1000.0).round() / 1000.0,
            client = %self.origin.address,
        );
        response
    }
}

fn route(request: &Request) -> Option<MatchedPath> {
    request.extensions().get::<MatchedPath>().cloned()
}
