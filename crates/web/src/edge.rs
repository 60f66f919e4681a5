//! Everything that goes around a service's router, in the one right order.

use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request};
use tracing::Instrument;

use crate::access::{Watch, Watching};
use crate::client::{self, Proxies, PublicUrl};
use crate::errors::{self, Render};
use crate::metrics::Metrics;
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
    /// Whether browsers shall keep to HTTPS for every host below this one, too.
    pub hsts_subdomains: bool,
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
                self.watching()
                    .then(security::layer(Policy::Api))
                    .then(errors::layer(renderer))
                    .then(limits::head()),
            )
    }

    /// What writes down the requests of the service.
    fn watch(&self) -> Watch {
        Watch(Arc::new(Watching {
            service: self.service,
            random: self.random.clone(),
            proxies: self.proxies.clone(),
            metrics: self.metrics.clone(),
        }))
    }

    /// Everything about a request that is known before it is handled, and what is written down after.
    fn watching(self) -> Step {
        let (watch, public_url, subdomains) = (self.watch(), self.public_url, self.hsts_subdomains);
        Step::new(move |mut request: Request, next: Next| {
            let seen = watch.see(&request, watch.arrival(&request));
            let extensions = request.extensions_mut();
            extensions.insert(seen.id.clone());
            client::introduce(extensions, seen.arrival.origin, public_url.as_ref());
            if subdomains {
                extensions.insert(security::WithSubdomains);
            }
            let route = extensions.get::<MatchedPath>().cloned();
            let span = seen.span();
            async move {
                let in_flight = seen.in_flight();
                let mut response = next.run(request).await;
                drop(in_flight);
                let route = route.as_ref().map_or("unknown", MatchedPath::as_str);
                seen.write_down(route, &mut response);
                response
            }
            .instrument(span)
        })
    }
}
