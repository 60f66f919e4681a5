//! The metrics of analyses.

use std::time::Duration;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
};

use super::result::Source;

#[derive(Clone)]
pub(super) struct AnalysisMetrics {
    analyses: Family<AnalysisLabels, Counter>,
    calls: Family<CallLabels, Counter>,
    call_duration: Histogram,
    waiting: Gauge,
    oldest: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AnalysisLabels {
    source: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    outcome: &'static str,
}

/// Upper bounds in seconds: from a small local model to one that is being loaded.
const BUCKETS: [f64; 8] = [0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 180.0, 600.0];

impl AnalysisMetrics {
    pub(super) fn new(registry: &web::metrics::Metrics) -> Self {
        let metrics = Self {
            analyses: registry.register(
                "analyses",
                "Analyses made, by source and outcome of the language model",
                Family::default(),
            ),
            calls: registry.register(
                "model_calls",
                "Calls of the language model, by outcome",
                Family::default(),
            ),
            call_duration: registry.register(
                "model_call_duration_seconds",
                "Duration of calls of the language model",
                Histogram::new(BUCKETS),
            ),
            waiting: registry.register(
                "analysis_requests_waiting",
                "Requests for analyses that are waiting or being worked on",
                Gauge::default(),
            ),
            oldest: registry.register(
                "analysis_request_oldest_seconds",
                "Age of the oldest waiting request",
                Gauge::default(),
            ),
        };
        // An alert on the increase would miss the first refusal if the counter did not exist
        // before.
        let refused = AnalysisLabels {
            source: Source::Formula.name(),
            outcome: "refused",
        };
        drop(metrics.analyses.get_or_create(&refused));
        metrics
    }

    pub(super) fn count_analysis(&self, source: &'static str, outcome: &'static str) {
        let labels = AnalysisLabels { source, outcome };
        self.analyses.get_or_create(&labels).inc();
    }

    /// Counts a call. `duration` is `None` if the quota prevented it.
    pub(super) fn count_call(&self, outcome: &'static str, duration: Option<Duration>) {
        self.calls.get_or_create(&CallLabels { outcome }).inc();
        if let Some(duration) = duration {
            self.call_duration.observe(duration.as_secs_f64());
        }
    }

    /// Sets the number of waiting requests and the age of the oldest.
    pub(super) fn set_queue(&self, waiting: i64, oldest: Duration) {
        self.waiting.set(waiting);
        self.oldest
            .set(i64::try_from(oldest.as_secs()).unwrap_or(i64::MAX));
    }
}
