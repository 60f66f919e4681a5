//! The metrics of analyses.

use std::{sync::atomic::AtomicU64, time::Duration};

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
};

use super::result::Source;

type Count = Counter<u64, AtomicU64>;

/// The figures of analyses. Cheap to clone.
#[derive(Clone)]
pub(super) struct Metrics {
    analyses: Family<Made, Count>,
    calls: Family<Call, Count>,
    call_duration: Histogram,
    waiting: Gauge,
    oldest: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Made {
    source: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    outcome: &'static str,
}

/// Upper bounds in seconds: from a small model on this machine to one that is being loaded.
const BUCKETS: [f64; 8] = [0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 180.0, 600.0];

impl Metrics {
    /// Adds the figures to those of the program.
    pub(super) fn new(figures: &web::metrics::Metrics) -> Self {
        let metrics = Self {
            analyses: figures.register(
                "analyses",
                "Analyses made, by source and outcome of the language model",
                Family::default(),
            ),
            calls: figures.register(
                "model_calls",
                "Calls of the language model, by outcome",
                Family::default(),
            ),
            call_duration: figures.register(
                "model_call_duration_seconds",
                "Duration of calls of the language model",
                Histogram::new(BUCKETS),
            ),
            waiting: figures.register(
                "analysis_requests_waiting",
                "Requests for analyses that are waiting or being worked on",
                Gauge::default(),
            ),
            oldest: figures.register(
                "analysis_request_oldest_seconds",
                "Age of the oldest waiting request",
                Gauge::default(),
            ),
        };
        // An alert sees no increase in a count that appears with its first refusal.
        let refused = Made {
            source: Source::Formula.name(),
            outcome: "refused",
        };
        drop(metrics.analyses.get_or_create(&refused));
        metrics
    }

    /// An analysis was made.
    pub(super) fn made(&self, source: &'static str, outcome: &'static str) {
        self.analyses.get_or_create(&Made { source, outcome }).inc();
    }

    /// A call was made, or with no duration was not.
    pub(super) fn call(&self, outcome: &'static str, duration: Option<Duration>) {
        self.calls.get_or_create(&Call { outcome }).inc();
        if let Some(duration) = duration {
            self.call_duration.observe(duration.as_secs_f64());
        }
    }

    /// So many products wait, the oldest for so long.
    pub(super) fn queue(&self, waiting: i64, oldest: Duration) {
        self.waiting.set(waiting);
        self.oldest
            .set(i64::try_from(oldest.as_secs()).unwrap_or(i64::MAX));
    }
}
