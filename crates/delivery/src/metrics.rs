//! The metrics of events, deliveries and mails.

use std::{fmt, sync::atomic::AtomicU64, time::Duration};

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
};

use crate::model::DisabledReason;

type Count = Counter<u64, AtomicU64>;

/// The metrics. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Metrics {
    published: Family<TypeLabel, Count>,
    attempts: Family<OutcomeLabel, Count>,
    duration: Histogram,
    /// Deliveries given up after their last attempt.
    pub(crate) given_up: Count,
    disabled: Family<ReasonLabel, Count>,
    waiting: Gauge,
    oldest: Gauge,
    mails: Family<OutcomeLabel, Count>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TypeLabel {
    r#type: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabel {
    reason: &'static str,
}

/// Upper bounds in seconds, from a receiver on this machine to the longest timeout.
const BUCKETS: [f64; 10] = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0];

impl Metrics {
    /// Registers the metrics with the program's. `prefix` precedes their names.
    pub(crate) fn new(program: &web::metrics::Metrics, prefix: &str) -> Self {
        let named = |name: &str| format!("{prefix}{name}");
        let metrics = Self {
            published: program.register(
                &named("events"),
                "Events on their way, by type",
                Family::default(),
            ),
            attempts: program.register(
                &named("webhook_attempts"),
                "Attempts to deliver an event, by outcome",
                Family::default(),
            ),
            duration: program.register(
                &named("webhook_attempt_duration_seconds"),
                "Duration of attempts to deliver an event",
                Histogram::new(BUCKETS),
            ),
            given_up: program.register(
                &named("webhook_deliveries_given_up"),
                "Deliveries given up after their last attempt",
                Count::default(),
            ),
            disabled: program.register(
                &named("webhook_endpoints_disabled"),
                "Endpoints disabled by the service, by reason",
                Family::default(),
            ),
            waiting: program.register(
                &named("webhook_deliveries_waiting"),
                "Events and deliveries that are waiting",
                Gauge::default(),
            ),
            oldest: program.register(
                &named("webhook_oldest_waiting_seconds"),
                "Age of the oldest waiting event",
                Gauge::default(),
            ),
            mails: program.register(
                &named("mails"),
                "Attempts to send mail, by outcome",
                Family::default(),
            ),
        };
        metrics.begin();
        metrics
    }

    /// Starts the counters that alerts use at 0. Prometheus sees no increase in a series that
    /// appears with its first event.
    fn begin(&self) {
        for outcome in ["sent", "failed", "given_up"] {
            drop(self.mails.get_or_create(&OutcomeLabel { outcome }));
        }
        for reason in [DisabledReason::Gone, DisabledReason::Failing] {
            let reason = reason.name();
            drop(self.disabled.get_or_create(&ReasonLabel { reason }));
        }
    }

    pub(crate) fn published(&self, kind: &str) {
        let kind = TypeLabel {
            r#type: kind.to_owned(),
        };
        self.published.get_or_create(&kind).inc();
    }

    pub(crate) fn attempt(&self, outcome: &'static str, duration: Duration) {
        self.attempts.get_or_create(&OutcomeLabel { outcome }).inc();
        self.duration.observe(duration.as_secs_f64());
    }

    pub(crate) fn disabled(&self, reason: &'static str) {
        self.disabled.get_or_create(&ReasonLabel { reason }).inc();
    }

    /// Sets the number of waiting deliveries and the age of the oldest.
    pub(crate) fn waiting(&self, count: i64, oldest: Duration) {
        self.waiting.set(count);
        self.oldest
            .set(i64::try_from(oldest.as_secs()).unwrap_or(i64::MAX));
    }

    pub(crate) fn mail(&self, outcome: &'static str) {
        self.mails.get_or_create(&OutcomeLabel { outcome }).inc();
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Metrics")
    }
}
