//! The contract of `db`, written once and run on both engines.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failure of a helper is the failure of its test"
)]

/// Copies of a SQLite database in use.
mod backup;
/// Rows that several callers find by their keys at the same time.
mod batch_loader;
/// Changes that several callers make in one batch.
mod batches;
/// Tables filled in bulk, and their indexes.
mod bulk;
/// SQLite's batches when one of their jobs is stopped or refused, or when the database is locked.
mod commits;
/// Lost connections to the server, and several hosts.
mod connections;
/// Constraints, and their names in errors.
mod constraints;
/// An acknowledged write survives the end of the process.
mod crash;
/// SQLite's files: deleted, replaced, or on a disk that is full.
mod files;
/// Jobs: commits, rollbacks, and the answers of callers.
mod jobs;
/// Bounds: queues, times, the log's size.
mod limits;
/// Rows that other transactions have locked (PostgreSQL).
mod locks;
/// Reads on the calling thread.
mod look_ups;
/// Migrations in pairs, forward only.
mod migrations;
/// A job that pauses until its test resumes it.
mod pause;
/// The processes that serve a database, and their heartbeats.
mod replicas;
/// Transactions that PostgreSQL asks to be run again.
mod retries;
mod schema;
/// TLS: which certificates are accepted.
mod tls;
/// Values read back as they were written: money, time, text.
mod values;
