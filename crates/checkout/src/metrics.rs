//! The metrics of the service.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use crate::payments::PaymentState;
use crate::provider::{Failure, OPERATIONS, Observation};
use crate::request::MethodKind;

type Count = Counter<u64, AtomicU64>;
/// Labels, each with its name.
type Labels<const N: usize> = [(&'static str, &'static str); N];

/// The service's metrics. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Metrics {
    /// By method, and by the state of the created payment or the reason of the failure.
    payments: Family<Labels<2>, Count>,
    calls: Family<Labels<2>, Count>,
    call_duration: Family<Labels<1>, Histogram, fn() -> Histogram>,
    /// Payments and refunds of unknown outcome.
    pub(crate) unknown: Gauge,
    /// Reports of a state that cannot follow the stored one.
    pub(crate) refused_moves: Count,
    /// Cancellations of payments under review.
    pub(crate) exceptional_moves: Count,
    notifications: Family<Labels<1>, Count>,
    /// Waiting notifications.
    pub(crate) inbox: Gauge,
    reconciled: Family<Labels<1>, Count>,
    /// Attempts that had ended without a payment or a refund, and for which one was found.
    pub(crate) corrected: Count,
    declines: Gauge,
}

/// Upper bounds in seconds, from a sandbox on this machine to the longest timeout.
const BUCKETS: [f64; 10] = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0];

impl Metrics {
    /// Registers the service's metrics with the program's.
    pub(crate) fn new(program: &web::metrics::Metrics) -> Self {
        let histogram = (|| Histogram::new(BUCKETS)) as fn() -> Histogram;
        let durations = Family::new_with_constructor(histogram);
        let metrics = Self {
            notifications: program.register(
                "notifications",
                "Notifications received, and those given up",
                Family::default(),
            ),
            payments: program.register(
                "payments",
                "Payments asked for, by method and outcome",
                Family::default(),
            ),
            calls: program.register(
                "provider_calls",
                "Calls to the provider, by operation and outcome",
                Family::default(),
            ),
            call_duration: program.register(
                "provider_call_duration_seconds",
                "Duration of calls to the provider",
                durations,
            ),
            unknown: program.register(
                "payments_unknown",
                "Payments and refunds of unknown outcome",
                Gauge::default(),
            ),
            refused_moves: program.register(
                "payment_moves_refused",
                "State changes that the provider reported and that were refused because they lead backwards",
                Count::default(),
            ),
            exceptional_moves: program.register(
                "payment_moves_exceptional",
                "Cancellations of payments under review",
                Count::default(),
            ),
            inbox: program.register(
                "notifications_waiting",
                "Notifications waiting to be processed",
                Gauge::default(),
            ),
            reconciled: program.register(
                "reconciled",
                "Reconciliations, by outcome",
                Family::default(),
            ),
            corrected: program.register(
                "payment_attempts_corrected",
                "Payments found of attempts that were thought to have made none",
                Count::default(),
            ),
            declines: program.register(
                "payments_too_many_declined",
                "1 while so many cards are declined that somebody may be testing stolen ones",
                Gauge::default(),
            ),
        };
        metrics.begin();
        metrics
    }

    /// Starts the counters that alerts use at 0. Prometheus sees no increase in a series that
    /// appears with its first event.
    fn begin(&self) {
        for outcome in ["accepted", "ignored", "refused", "given_up"] {
            drop(self.notifications.get_or_create(&[("outcome", outcome)]));
        }
        for operation in OPERATIONS {
            drop(self.calls.get_or_create(&call_labels(operation, "done")));
        }
    }

    /// Counts a payment with the state in which it was created, or the failure of its creation.
    pub(crate) fn payment(&self, method: MethodKind, made: Result<PaymentState, &Failure>) {
        let outcome = made.map_or_else(outcome, PaymentState::name);
        let labels = [("method", method.name()), ("outcome", outcome)];
        self.payments.get_or_create(&labels).inc();
    }

    /// Counts a call to the provider and records its duration.
    pub(crate) fn call(&self, call: &Observation<'_>) {
        let outcome = match call.answer {
            Ok(200..=299) => "done",
            Ok(400..=499) => "refused",
            Ok(_) => "failed",
            Err(failure) => outcome(failure),
        };
        let operation = call.operation;
        self.calls
            .get_or_create(&call_labels(operation, outcome))
            .inc();
        self.call_duration
            .get_or_create(&[("operation", operation)])
            .observe(call.duration.as_secs_f64());
    }

    /// Sets whether too many cards are declined. Returns the previous value.
    pub(crate) fn too_many_declines(&self, is_so: bool) -> bool {
        self.declines.set(i64::from(is_so)) == 1
    }

    /// Counts a notification with the outcome `accepted`, `ignored`, `refused` or `given_up`.
    pub(crate) fn notification(&self, outcome: &'static str) {
        self.notifications
            .get_or_create(&[("outcome", outcome)])
            .inc();
    }

    /// Counts a check of the reconciler by its outcome.
    pub(crate) fn reconciled(&self, outcome: &'static str) {
        self.reconciled.get_or_create(&[("outcome", outcome)]).inc();
    }
}

const fn call_labels(operation: &'static str, outcome: &'static str) -> Labels<2> {
    [("operation", operation), ("outcome", outcome)]
}

fn outcome(failure: &Failure) -> &'static str {
    match failure {
        Failure::NotSent(_) => "not_sent",
        Failure::Unknown(_) => "unknown",
        Failure::Refused { .. } => "refused",
        Failure::Unreadable { .. } => "unreadable",
        Failure::Quota { .. } => "quota",
        Failure::Paused { .. } => "paused",
    }
}
