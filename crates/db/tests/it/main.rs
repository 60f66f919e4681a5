//! The contract of `db`, written once and run on both engines.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failure of a helper is the failure of its test"
)]

/// Copies of a SQLite database in use.
mod backup;
/// Lookups of rows by key that share a statement.
mod batch_loader;
/// Concurrent changes that share a transaction.
mod batches;
/// Tables filled in bulk, and their indexes.
mod bulk;
/// SQLite's batches when one of their jobs is stopped or refused, or when the database is locked.
mod commits;
/// Losing the server, and finding it again.
mod connections;
/// Constraint violations and their names.
mod constraints;
/// Acknowledged writes survive the process.
mod crash;
/// SQLite's files: deleted, replaced, or on a disk that is full.
mod files;
/// Jobs: what commits, what rolls back, and what each caller gets.
mod jobs;
/// Bounds: queues, times, the log's size.
mod limits;
/// Rows that other transactions have locked (PostgreSQL).
mod locks;
/// Reads on the thread of the caller.
mod look_ups;
/// Migrations in pairs, forward only.
mod migrations;
/// A job that pauses until its test continues it.
mod pause;
/// Which processes serve a database.
mod replicas;
/// Transactions that PostgreSQL asks to be run again.
mod retries;
mod schema;
/// Many writers and one stock.
mod stock;
/// Which certificates are trusted.
mod tls;
/// Values written and read back: money, time, text.
mod values;
