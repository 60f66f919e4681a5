//! The counters of the services' databases among the metrics of the process, read when someone asks for them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use db::{Db, Statistics};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// The databases of this process by service. One collector for all of them, since a metric's name may be declared only once.
#[derive(Clone, Default)]
pub(super) struct DatabaseFigures(Arc<Mutex<Vec<(&'static str, Db)>>>);

impl DatabaseFigures {
    /// Adds the database of a service.
    pub(super) fn add(&self, service: &'static str, db: Db) {
        let mut databases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        databases.push((service, db));
    }

    fn read(&self) -> Vec<(&'static str, Statistics)> {
        let databases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |(service, db): &(&'static str, Db)| (*service, db.statistics());
        databases.iter().map(read).collect()
    }
}

/// Name, meaning, how to read it.
type Row = (&'static str, &'static str, fn(&Statistics) -> u64);

const COUNTERS: [Row; 8] = [
    ("database_reads", "Jobs that read", |counted| counted.reads),
    (
        "database_writes",
        "Jobs that wrote and were committed",
        |counted| counted.writes,
    ),
    (
        "database_commits",
        "Transactions committed; fewer than writes where these shared one",
        |counted| counted.commits,
    ),
    ("database_rollbacks", "Jobs rolled back", |counted| {
        counted.rollbacks
    }),
    ("database_panics", "Jobs that panicked", |counted| {
        counted.panics
    }),
    (
        "database_retries",
        "Transactions retried after a conflict or a lost connection",
        |counted| counted.retries,
    ),
    (
        "database_refusals",
        "Jobs refused because the queue was full",
        |counted| counted.refusals,
    ),
    ("database_connections", "Connections opened", |counted| {
        counted.connections
    }),
];

const GAUGES: [Row; 3] = [
    (
        "database_reads_waiting",
        "Jobs waiting to read (PostgreSQL: all jobs, running ones included)",
        |counted| counted.waiting_reads,
    ),
    (
        "database_writes_waiting",
        "Jobs waiting to write (SQLite)",
        |counted| counted.waiting_writes,
    ),
    (
        "database_log_bytes",
        "Size of the write-ahead log after the last commit (SQLite)",
        |counted| counted.log_bytes,
    ),
];

impl fmt::Debug for DatabaseFigures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DatabaseFigures")
    }
}

impl Collector for DatabaseFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let counted = self.read();
        if counted.is_empty() {
            return Ok(());
        }
        for (name, meaning, read) in COUNTERS {
            let mut family = encoder.encode_descriptor(name, meaning, None, MetricType::Counter)?;
            for (service, counted) in &counted {
                let label = [("service", *service)];
                ConstCounter::new(read(counted)).encode(family.encode_family(&label)?)?;
            }
        }
        for (name, meaning, read) in GAUGES {
            let mut family = encoder.encode_descriptor(name, meaning, None, MetricType::Gauge)?;
            for (service, counted) in &counted {
                let label = [("service", *service)];
                // A gauge is signed. No counter gets near the end of its range.
                let value = i64::try_from(read(counted)).unwrap_or(i64::MAX);
                ConstGauge::new(value).encode(family.encode_family(&label)?)?;
            }
        }
        Ok(())
    }
}
