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

/// The counters behind [`Statistics`]. Relaxed: each is read for itself.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    reads: AtomicU64,
    writes: AtomicU64,
    commits: AtomicU64,
    rollbacks: AtomicU64,
    panics: AtomicU64,
    retries: AtomicU64,
    refusals: AtomicU64,
    statements: AtomicU64,
    connections: AtomicU64,
    log_bytes: AtomicU64,
}

fn increase(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counters {
    pub(crate) fn read(&self) {
        increase(&self.reads);
    }
    pub(crate) fn write(&self) {
        increase(&self.writes);
    }
    /// Counts all but one of these writes: their shared transaction was counted as one already.
    pub(crate) fn writes_beside_one(&self, writes: usize) {
        let others = writes.saturating_sub(1) as u64;
        self.writes.fetch_add(others, Ordering::Relaxed);
    }
    pub(crate) fn commit(&self) {
        increase(&self.commits);
    }
    pub(crate) fn rollback(&self) {
        increase(&self.rollbacks);
    }
    pub(crate) fn panic(&self) {
        increase(&self.panics);
    }
    pub(crate) fn retry(&self) {
        increase(&self.retries);
    }
    pub(crate) fn refusal(&self) {
        increase(&self.refusals);
    }
    pub(crate) fn statement(&self) {
        increase(&self.statements);
    }
    pub(crate) fn connection(&self) {
        increase(&self.connections);
    }
    pub(crate) fn set_log_bytes(&self, bytes: u64) {
        self.log_bytes.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self, waiting_reads: usize, waiting_writes: usize) -> Statistics {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Statistics {
            waiting_reads: waiting_reads as u64,
            waiting_writes: waiting_writes as u64,
            reads: load(&self.reads),
            writes: load(&self.writes),
            commits: load(&self.commits),
            rollbacks: load(&self.rollbacks),
            panics: load(&self.panics),
            retries: load(&self.retries),
            refusals: load(&self.refusals),
            statements: load(&self.statements),
            connections: load(&self.connections),
            log_bytes: load(&self.log_bytes),
        }
    }
}
