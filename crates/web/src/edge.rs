//! Everything that goes around a service's router, in the one right order.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use tower::ServiceBuilder;
use tracing::Instrument;

use crate::access::RequestRecord;
use crate::client::{self, Origin, Proxies, PublicUrl};
use crate::errors::{self, Render, Renderer};
use crate::metrics::Metrics;
use crate::request_id::RequestId;
use crate::security::{self, Policy};
use crate::{Error, Random, limits};

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
    /// Whether browsers shall keep to HTTPS for every host below this one, too.
    pub hsts_subdomains: bool,
}

impl Edge {
    /// Puts the edge around a finished router. `renderer` renders what no inner [`errors::render`] has, among it every
    /// address that no route knows: it is told the address, and may choose a shape by it. A fallback of the router's own is replaced.
    ///
    /// From outside in: request id, span, origin, access log and figures; security headers of [`Policy::Api`] where a router has set none of its own;
    /// errors and panics; the size of the head. Body limits, timeouts and rate limits differ by router and are put there.
    pub fn around(self, router: Router, renderer: impl Render) -> Router {
        router
            // Merged routers bring fallbacks with layers of their own, and the last one would win.
            .fallback(async || Error::not_found())
            .layer(
                ServiceBuilder::new()
                    .layer(from_fn_with_state(Arc::new(self), record))
                    .layer(from_fn_with_state(Policy::Api, security::headers))
                    .layer(from_fn_with_state(Renderer::new(renderer), errors::render))
                    .layer(from_fn(limits::head)),
            )
    }
}

/// Middleware: everything about a request that is known before it is handled, and what is written down after.
async fn record(State(edge): State<Arc<Edge>>, mut request: Request, next: Next) -> Response {
    let id = RequestId::of(request.headers(), &edge.random);
    let origin = Origin::of(&request, &edge.proxies);
    let record = RequestRecord::new(edge.service, id.clone(), origin, &request);
    let extensions = request.extensions_mut();
    extensions.insert(id);
    client::introduce(extensions, origin, edge.public_url.as_ref());
    if edge.hsts_subdomains {
        extensions.insert(security::WithSubdomains);
    }
    let span = record.span();
    async move {
        let in_flight = edge.metrics.requests().begin();
        let mut response = next.run(request).await;
        drop(in_flight);
        record.end(&edge.metrics, &mut response);
        response
    }
    .instrument(span)
    .await
}
