//! Metrics: a registry that is passed in, the metrics of requests, and the router that serves them.

mod format;
pub(crate) mod workers;

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use db::lock_mutex;
use http::header::{CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};
use tokio::time::timeout;

use crate::Error;
use format::Format;
use workers::WorkerMetrics;

/// How long one metric may take to be refreshed. After that its last value is shown.
const PATIENCE: Duration = Duration::from_secs(2);

type Renewal = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// All metrics of the program. Cheap to clone.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Mutex<Registry>>,
    renewals: Arc<Mutex<Vec<Renewal>>>,
    requests: Requests,
    workers: WorkerMetrics,
}

impl Metrics {
    /// A registry with the metrics of requests and workers. Every name begins with `balcao_`.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("balcao");
        let requests = Requests::default();
        requests.register(&mut registry);
        let workers = WorkerMetrics::default();
        workers.register(&mut registry);
        Self {
            registry: Arc::new(Mutex::new(registry)),
            renewals: Arc::default(),
            requests,
            workers,
        }
    }

    /// Registers a metric and returns it for its owner. Counters are named without `_total`, which
    /// is added.
    pub fn register<M: Metric + Clone>(&self, name: &str, help: &str, metric: M) -> M {
        lock_mutex(&self.registry).register(name, help, metric.clone());
        metric
    }

    /// Registers metrics that are collected when they are scraped.
    pub fn collect(&self, figures: impl Collector + 'static) {
        lock_mutex(&self.registry).register_collector(Box::new(figures));
    }

    /// Calls `renew` before each scrape, to refresh a metric asynchronously, such as one from the
    /// database.
    pub fn before_scrape<R>(&self, renew: impl Fn() -> R + Send + Sync + 'static)
    where
        R: Future<Output = ()> + Send + 'static,
    {
        lock_mutex(&self.renewals).push(Arc::new(move || Box::pin(renew())));
    }

    async fn renew(&self) {
        let renewals = lock_mutex(&self.renewals).clone();
        for renew in renewals {
            if timeout(PATIENCE, renew()).await.is_err() {
                tracing::warn!(
                    "metrics: refreshing a value took more than 2 s, its last value is shown"
                );
            }
        }
    }

    /// Begins the counts of these responses at 0. An alert would not see the increase of a count
    /// that appears with its first response.
    pub fn begin_requests(&self, service: &'static str, route: &str, method: &Method, status: u16) {
        let labels = RequestLabels {
            service,
            route: route.to_owned(),
            method: name(method),
            status,
        };
        drop(self.requests.count.get_or_create(&labels));
    }

    /// The metrics as `OpenMetrics` 1.0.
    ///
    /// # Errors
    /// Never in practice: writing to memory does not fail.
    pub fn encode(&self) -> Result<String, fmt::Error> {
        let mut buffer = String::new();
        text::encode(&mut buffer, &lock_mutex(&self.registry))?;
        Ok(buffer)
    }

    /// `GET /metrics`, for a listener that is not public.
    pub fn routes(&self) -> Router {
        Router::new()
            .route("/metrics", get(show))
            .with_state(self.clone())
    }

    pub(crate) const fn requests(&self) -> &Requests {
        &self.requests
    }

    pub(crate) const fn workers(&self) -> &WorkerMetrics {
        &self.workers
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Metrics")
    }
}

async fn show(State(metrics): State<Metrics>, headers: HeaderMap) -> Result<Response, Error> {
    metrics.renew().await;
    let open_metrics = metrics.encode().map_err(Error::internal)?;
    let format = Format::of(&headers);
    let text = match format {
        Format::OpenMetrics => open_metrics,
        Format::Text => format::to_text(&open_metrics),
    };
    let headers = [
        (CONTENT_TYPE, format.content_type()),
        (VARY, HeaderValue::from_static("Accept")),
    ];
    Ok((headers, text).into_response())
}

/// The metrics of requests.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    count: Family<RequestLabels, Counter>,
    duration: Family<Route, Histogram, fn() -> Histogram>,
    in_flight: Gauge,
    faults: Counter<u64, AtomicU64>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    service: &'static str,
    route: String,
    method: &'static str,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Route {
    service: &'static str,
    route: String,
}

/// Upper bounds in seconds, from a fast page to a slow provider.
const BUCKETS: [f64; 12] = [
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0,
];

impl Default for Requests {
    fn default() -> Self {
        let duration =
            Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> Histogram);
        Self {
            count: Family::default(),
            duration,
            in_flight: Gauge::default(),
            faults: Counter::default(),
        }
    }
}

impl Requests {
    fn register(&self, registry: &mut Registry) {
        registry.register("http_requests", "Requests answered", self.count.clone());
        registry.register(
            "http_request_duration_seconds",
            "Time until the response began",
            self.duration.clone(),
        );
        registry.register(
            "http_requests_in_flight",
            "Requests being answered",
            self.in_flight.clone(),
        );
        registry.register(
            "http_faults",
            "Requests answered with a status of 500 or above, but for /ready",
            self.faults.clone(),
        );
    }

    /// A request begins; it is in flight until the value is dropped.
    pub(crate) fn begin(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    /// A request was answered. Routes are patterns, so that clients cannot add labels.
    pub(crate) fn end(
        &self,
        service: &'static str,
        route: &str,
        method: &Method,
        status: StatusCode,
        duration: Duration,
    ) {
        let labels = RequestLabels {
            service,
            route: route.to_owned(),
            method: name(method),
            status: status.as_u16(),
        };
        self.count.get_or_create(&labels).inc();
        let route = Route {
            service,
            route: labels.route,
        };
        let seconds = duration.as_secs_f64();
        self.duration.get_or_create(&route).observe(seconds);
    }

    /// A request was answered with a fault of ours.
    pub(crate) fn fault(&self) {
        self.faults.inc();
    }
}

/// One request in flight.
pub(crate) struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// The method's name. Unknown methods share one.
fn name(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let name = known.into_iter().find(|known| *known == method.as_str());
    name.unwrap_or("other")
}
