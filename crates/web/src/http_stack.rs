//! The middleware around a service's router, in order.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use tracing::Instrument;

use crate::access::RequestRecord;
use crate::client::{self, Origin, Proxies, PublicUrl};
use crate::errors::{self, Render};
use crate::metrics::Metrics;
use crate::request_id::RequestId;
use crate::security::{self, Headers, Policy};
use crate::{Error, Random, limits};

/// The middleware around the router of one service.
#[derive(Clone, Debug)]
pub struct HttpStack {
    /// The service's name in metrics and log lines: `checkout`, `inventory`.
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

impl HttpStack {
    /// Puts the stack around a finished router. `renderer` renders the errors that no inner
    /// [`errors::render`] has rendered, such as those of unknown addresses. It may choose a format
    /// by the address. A fallback of the router's own is replaced.
    ///
    /// From outside in: request id, span, origin, access log and metrics; security headers of
    /// [`Policy::Api`] where a router has set none of its own; errors and panics; the size of the
    /// head. Body limits, timeouts and rate limits differ by router and are put there.
    ///
    /// All this is one layer of axum, because each layer boxes its future and clones everything
    /// inside it.
    pub fn around(self, router: Router, renderer: impl Render) -> Router {
        let layer = Arc::new((self, renderer));
        router
            // Merged routers bring fallbacks with layers of their own, and the last one would win.
            .fallback(async || Error::not_found())
            .layer(from_fn_with_state(layer, handle))
    }
}

/// Middleware: answers a request within the stack.
async fn handle<R: Render>(
    State(layer): State<Arc<(HttpStack, R)>>,
    mut request: Request,
    next: Next,
) -> Response {
    let (stack, renderer) = &*layer;
    let id = RequestId::of(request.headers(), &stack.random);
    let origin = Origin::of(&request, &stack.proxies);
    let record = RequestRecord::new(stack.service, id.clone(), origin, &request);
    let extensions = request.extensions_mut();
    extensions.insert(id);
    client::insert_extensions(extensions, origin, stack.public_url.as_ref());
    if stack.hsts_subdomains {
        extensions.insert(security::WithSubdomains);
    }
    let security = Headers::new(Policy::Api, extensions);
    let span = record.span();
    let answer = async {
        let in_flight = stack.metrics.requests().begin();
        let admitted = async |request| match limits::check_head(&request) {
            Ok(()) => next.run(request).await,
            Err(error) => error.into_response(),
        };
        let mut response = errors::render_with(renderer, request, admitted).await;
        security.apply(&mut response);
        drop(in_flight);
        record.end(&stack.metrics, &mut response);
        response
    };
    answer.instrument(span).await
}
