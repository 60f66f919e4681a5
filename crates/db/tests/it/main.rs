//! The contract of `db`, written once and run on both engines.

mod jobs;
mod schema;
