//! Metrics of background workers, which the supervisor counts.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The metrics of the workers of all services.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerMetrics {
    pub(crate) restarts: Family<WorkerLabels, Counter<u64, AtomicU64>>,
    pub(crate) up: Family<WorkerLabels, Gauge>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct WorkerLabels {
    pub(crate) service: &'static str,
    pub(crate) worker: &'static str,
}

impl WorkerMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "worker_restarts",
            "Background workers started again after they ended or panicked",
            self.restarts.clone(),
        );
        registry.register(
            "worker_up",
            "Whether a background worker is running",
            self.up.clone(),
        );
    }
}
