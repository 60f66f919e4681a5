//! Counters of one database handle, for `/metrics`.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a handle has done since it was opened, and how many jobs wait now. Counters never decrease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Jobs that wait to read, now (PostgreSQL: all jobs, running ones included).
    pub waiting_reads: u64,
    /// Jobs that wait to write, now (PostgreSQL: 0, they are counted with the reads).
    pub waiting_writes: u64,
    /// Reading jobs run, reports included.
    pub reads: u64,
    /// Writing jobs committed.
    pub writes: u64,
    /// Transactions committed; fewer than `writes` where jobs shared a commit.
    pub commits: u64,
    /// Writing jobs rolled back.
    pub rollbacks: u64,
    /// Jobs that panicked.
    pub panics: u64,
    /// Transactions begun again after a conflict or a lost connection.
    pub retries: u64,
    /// Jobs refused because too many waited.
    pub refusals: u64,
    /// Statements run by jobs.
    pub statements: u64,
    /// Connections opened.
    pub connections: u64,
    /// SQLite: bytes in the write-ahead log after the last commit.
    pub log_bytes: u64,
}

/// The counters behind [`Statistics`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) reads: Counter,
    pub(crate) writes: Counter,
    pub(crate) commits: Counter,
    pub(crate) rollbacks: Counter,
    pub(crate) panics: Counter,
    pub(crate) retries: Counter,
    pub(crate) refusals: Counter,
    pub(crate) statements: Counter,
    pub(crate) connections: Counter,
    pub(crate) log_bytes: AtomicU64,
}

/// One counter. Relaxed: each is read for itself.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn increase(&self) {
        self.add(1);
    }

    pub(crate) fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    pub(crate) fn snapshot(&self, waiting_reads: usize, waiting_writes: usize) -> Statistics {
        Statistics {
            waiting_reads: waiting_reads as u64,
            waiting_writes: waiting_writes as u64,
            reads: self.reads.get(),
            writes: self.writes.get(),
            commits: self.commits.get(),
            rollbacks: self.rollbacks.get(),
            panics: self.panics.get(),
            retries: self.retries.get(),
            refusals: self.refusals.get(),
            statements: self.statements.get(),
            connections: self.connections.get(),
            log_bytes: self.log_bytes.load(Ordering::Relaxed),
        }
    }
}
