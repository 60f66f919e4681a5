//! The contract of `db`, written once and run on both engines.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failure of a helper is the failure of its test"
)]

/// Copies of a SQLite database in use.
mod backup;
/// Rows that many ask for by their keys.
mod batch_loader;
/// Changes that are made together because many ask for them.
mod batches;
/// Tables filled in bulk, and their indexes.
mod bulk;
/// SQLite's batches when one of their jobs is stopped or refused, or when the database is locked.
mod commits;
/// Losing the server, and finding it again.
mod connections;
/// What a database refuses, and by which name.
mod constraints;
/// What is acknowledged survives the process.
mod crash;
/// SQLite's files: deleted, replaced, or on a disk that is full.
mod files;
/// Jobs: what commits, what rolls back, and who is told what.
mod jobs;
/// Bounds: queues, times, the log's size.
mod limits;
/// Rows that other transactions have locked (PostgreSQL).
mod locks;
/// Readings that the thread which asks does itself.
mod look_ups;
/// Migrations in pairs, forward only.
mod migrations;
/// A job that stands still until its test lets it go on.
mod pause;
/// Which processes serve a database.
mod replicas;
/// Transactions that PostgreSQL asks to be run again.
mod retries;
mod schema;
/// Many writers and one stock.
mod stock;
/// Whose certificate is believed.
mod tls;
/// Values there and back: money, time, text.
mod values;
