//! The metrics of the service.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use crate::payments::{PaymentState, Recorded};
use crate::provider::{Failure, OPERATIONS, Observation};
use crate::request::MethodKind;

type Count = Counter<u64, AtomicU64>;

/// The service's figures. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Metrics {
    payments: Family<Payment, Count>,
    calls: Family<Call, Count>,
    call_duration: Family<Operation, Histogram, fn() -> Histogram>,
    unknown: Gauge,
    refused_moves: Count,
    exceptional_moves: Count,
    notifications: Family<Outcome, Count>,
    inbox: Gauge,
    reconciled: Family<Outcome, Count>,
    corrected: Count,
    declines: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Payment {
    method: &'static str,
    /// The state of a payment that was made, or why none was.
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    operation: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Operation {
    operation: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

/// Upper bounds in seconds: from a sandbox on this machine to the longest wait.
const BUCKETS: [f64; 10] = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0];

impl Metrics {
    /// Adds the service's figures to those of the program.
    pub(crate) fn new(figures: &web::metrics::Metrics) -> Self {
        let histogram = (|| Histogram::new(BUCKETS)) as fn() -> Histogram;
        let durations = Family::new_with_constructor(histogram);
        let metrics = Self {
            notifications: figures.register(
                "notifications",
                "Notifications received, and those given up",
                Family::default(),
            ),
            payments: figures.register(
                "payments",
                "Payments asked for, by method and outcome",
                Family::default(),
            ),
            calls: figures.register(
                "provider_calls",
                "Calls to the provider, by operation and outcome",
                Family::default(),
            ),
            call_duration: figures.register(
                "provider_call_duration_seconds",
                "Duration of calls to the provider",
                durations,
            ),
            unknown: figures.register(
                "payments_unknown",
                "Payments and refunds of unknown outcome",
                Gauge::default(),
            ),
            refused_moves: figures.register(
                "payment_moves_refused",
                "State changes that the provider reported and that were refused because they lead backwards",
                Count::default(),
            ),
            exceptional_moves: figures.register(
                "payment_moves_exceptional",
                "Cancellations of payments under review",
                Count::default(),
            ),
            inbox: figures.register(
                "notifications_waiting",
                "Notifications waiting to be processed",
                Gauge::default(),
            ),
            reconciled: figures.register(
                "reconciled",
                "Reconciliations, by outcome",
                Family::default(),
            ),
            corrected: figures.register(
                "payment_attempts_corrected",
                "Payments found of attempts that were thought to have made none",
                Count::default(),
            ),
            declines: figures.register(
                "payments_too_many_declined",
                "1 while so many cards are declined that somebody may be testing stolen ones",
                Gauge::default(),
            ),
        };
        metrics.begin();
        metrics
    }

    /// Lets the counts that alerts look at begin at 0: no increase is seen in one that appears with its first event.
    fn begin(&self) {
        for outcome in ["accepted", "ignored", "refused", "given_up"] {
            drop(self.notifications.get_or_create(&Outcome { outcome }));
        }
        for operation in OPERATIONS {
            let outcome = "done";
            drop(self.calls.get_or_create(&Call { operation, outcome }));
        }
    }

    /// A payment was made.
    pub(crate) fn payment_created(&self, method: MethodKind, state: PaymentState) {
        let labels = Payment {
            method: method.as_str(),
            outcome: state.as_str(),
        };
        self.payments.get_or_create(&labels).inc();
    }

    /// A payment could not be made.
    pub(crate) fn payment_failed(&self, method: MethodKind, failure: &Failure) {
        let labels = Payment {
            method: method.as_str(),
            outcome: outcome(failure),
        };
        self.payments.get_or_create(&labels).inc();
    }

    /// A call to the provider was made.
    pub(crate) fn call(&self, call: &Observation<'_>) {
        let outcome = match call.answer {
            Ok(200..=299) => "done",
            Ok(400..=499) => "refused",
            Ok(_) => "failed",
            Err(failure) => outcome(failure),
        };
        let operation = call.operation;
        self.calls.get_or_create(&Call { operation, outcome }).inc();
        self.call_duration
            .get_or_create(&Operation { operation })
            .observe(call.duration.as_secs_f64());
    }

    /// The provider's word on a known payment was recorded.
    pub(crate) fn word_recorded(&self, recorded: Recorded) {
        match recorded {
            Recorded::Refused(_) => {
                self.refused_moves.inc();
            }
            Recorded::Moved {
                exceptional: true, ..
            } => {
                self.exceptional_moves.inc();
            }
            Recorded::Moved { .. } | Recorded::Same(_) | Recorded::Unknown => {}
        }
    }

    /// A payment was found of an attempt that was thought to have made none.
    pub(crate) fn attempt_corrected(&self) {
        self.corrected.inc();
    }

    /// Whether too many cards are declined; answers what was so before.
    pub(crate) fn too_many_declines(&self, is_so: bool) -> bool {
        self.declines.set(i64::from(is_so)) == 1
    }

    /// A notification was `accepted`, `ignored`, `refused` or `given_up`.
    pub(crate) fn notification(&self, outcome: &'static str) {
        self.notifications.get_or_create(&Outcome { outcome }).inc();
    }

    /// So many notifications wait.
    pub(crate) fn inbox(&self, length: i64) {
        self.inbox.set(length);
    }

    /// The reconciler asked; so many payments are still unknown.
    pub(crate) fn reconciled(&self, outcome: &'static str) {
        self.reconciled.get_or_create(&Outcome { outcome }).inc();
    }

    /// So many payments' outcomes are unknown.
    pub(crate) fn unknown(&self, payments: i64) {
        self.unknown.set(payments);
    }
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
