//! The counters of the services' databases as metrics of the process. They are read when metrics
//! are scraped.

use std::fmt;
use std::sync::{Arc, Mutex};

use db::{Db, Statistics, lock_mutex};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// The databases of this process by service. A metric may be declared only once, so one collector
/// has all of them.
#[derive(Clone, Default)]
pub(super) struct DatabaseMetrics(Arc<Mutex<Vec<(&'static str, Db)>>>);

impl DatabaseMetrics {
    /// Adds the database of a service.
    pub(super) fn add(&self, service: &'static str, db: Db) {
        let mut databases = lock_mutex(&self.0);
        databases.push((service, db));
    }

    fn read(&self) -> Vec<(&'static str, Statistics)> {
        let databases = lock_mutex(&self.0);
        let read = |(service, db): &(&'static str, Db)| (*service, db.statistics());
        databases.iter().map(read).collect()
    }
}

/// Name, help text, and the function that reads the value.
type Metric = (&'static str, &'static str, fn(&Statistics) -> u64);

const COUNTERS: [Metric; 8] = [
    ("database_reads", "Jobs that read", |statistics| {
        statistics.reads
    }),
    (
        "database_writes",
        "Jobs that wrote and were committed",
        |statistics| statistics.writes,
    ),
    (
        "database_commits",
        "Transactions committed; fewer than writes where these shared one",
        |statistics| statistics.commits,
    ),
    ("database_rollbacks", "Jobs rolled back", |statistics| {
        statistics.rollbacks
    }),
    ("database_panics", "Jobs that panicked", |statistics| {
        statistics.panics
    }),
    (
        "database_retries",
        "Transactions retried after a conflict or a lost connection",
        |statistics| statistics.retries,
    ),
    (
        "database_refusals",
        "Jobs refused because the queue was full",
        |statistics| statistics.refusals,
    ),
    ("database_connections", "Connections opened", |statistics| {
        statistics.connections
    }),
];

const GAUGES: [Metric; 3] = [
    (
        "database_reads_waiting",
        "Jobs waiting to read (PostgreSQL: all jobs, running ones included)",
        |statistics| statistics.waiting_reads,
    ),
    (
        "database_writes_waiting",
        "Jobs waiting to write (SQLite)",
        |statistics| statistics.waiting_writes,
    ),
    (
        "database_log_bytes",
        "Size of the write-ahead log after the last commit (SQLite)",
        |statistics| statistics.log_bytes,
    ),
];

impl fmt::Debug for DatabaseMetrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DatabaseMetrics")
    }
}

impl Collector for DatabaseMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let databases = self.read();
        if databases.is_empty() {
            return Ok(());
        }
        for (name, help, read) in COUNTERS {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (service, statistics) in &databases {
                let label = [("service", *service)];
                ConstCounter::new(read(statistics)).encode(family.encode_family(&label)?)?;
            }
        }
        for (name, help, read) in GAUGES {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (service, statistics) in &databases {
                let label = [("service", *service)];
                // Gauges are signed. No counter comes near the limit.
                let value = i64::try_from(read(statistics)).unwrap_or(i64::MAX);
                ConstGauge::new(value).encode(family.encode_family(&label)?)?;
            }
        }
        Ok(())
    }
}
