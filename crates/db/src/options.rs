//! How a database is used: sizes and bounds, each with a default that suits a machine with two
//! cores.

use std::time::Duration;

/// Bounds of a [`Db`](crate::Db). Take [`Options::default`] and change what must differ.
#[derive(Clone, Debug)]
pub struct Options {
    /// SQLite: threads that read. Default: one for each core, between 2 and 4.
    pub readers: usize,
    /// PostgreSQL: connections for jobs, shared by the lanes. Each lane has three more: one for
    /// reports and two for look-ups by key. One lane has another one for heartbeats. Default 16.
    pub connections: usize,
    /// PostgreSQL: threads that talk to the server. Default 2.
    pub lanes: usize,
    /// The most jobs that wait: on SQLite of readers and of writers each, on PostgreSQL of all,
    /// running ones included. A further job is refused at once as unavailable. Default 4096.
    pub queue: usize,
    /// How long a job waits for a connection (PostgreSQL) or for a lock of another process
    /// (SQLite). Default 5 s.
    pub wait: Duration,
    /// How long one statement may run before it is stopped, save in reports and migrations. Default
    /// 10 s.
    pub statement_timeout: Duration,
    /// PostgreSQL: how long a statement waits for a row that another transaction has locked, in the
    /// first attempt of a job. Most locks are gone after some milliseconds. Default 250 ms.
    pub lock_timeout: Duration,
    /// PostgreSQL: how long it waits in the second attempt. Only a quarter of the connections are
    /// lent to jobs that wait so long, so that a row that stays locked does not hold up the others.
    /// Default 5 s.
    pub long_lock_timeout: Duration,
    /// PostgreSQL: how long a transaction may stand still before the server ends it, save in
    /// reports. A process that is frozen or cut off holds its locks for so long. Default 10 s.
    pub idle_timeout: Duration,
    /// How long one statement of a report may run, and how long a report waits for the one before
    /// it. Default 120 s.
    pub report_timeout: Duration,
    /// PostgreSQL: how often a write is begun again after 40001 or 40P01. Default 8.
    pub retries: u32,
    /// The most jobs that share one commit (PostgreSQL: of
    /// [`Db::write_batched`](crate::Db::write_batched)). Default 128.
    pub batch: usize,
    /// SQLite: no further job joins a commit after this long. Default 10 ms.
    pub batch_time: Duration,
    /// SQLite: page cache of each connection, in MiB. The writer has twice that. It should hold the
    /// smallest index of the largest table. Default 8.
    pub cache_mib: u32,
    /// SQLite: size of the write-ahead log, in MiB, at which it is copied into the database file.
    /// With a larger one a page that is written many times is copied once, but each copy takes
    /// longer, and flushes of the log wait for it. Default 4.
    pub copy_mib: u32,
    /// SQLite: size of the write-ahead log, in MiB, from which the writer empties it between two
    /// batches. Default 64.
    pub log_mib: u32,
    /// PostgreSQL: the name under which connections show in `pg_stat_activity`. Default `balcao`.
    pub application_name: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            readers: std::thread::available_parallelism()
                .map_or(2, usize::from)
                .clamp(2, 4),
            connections: 16,
            lanes: 2,
            queue: 4096,
            wait: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(10),
            lock_timeout: Duration::from_millis(250),
            long_lock_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(10),
            report_timeout: Duration::from_secs(120),
            retries: 8,
            batch: 128,
            batch_time: Duration::from_millis(10),
            cache_mib: 8,
            copy_mib: 4,
            log_mib: 64,
            application_name: "balcao".to_owned(),
        }
    }
}
