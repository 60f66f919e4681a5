//! The workers: each event goes to each endpoint that subscribes to its type, at least once, in
//! order within its subject. `http` makes a single attempt. The functions for pages and commands
//! are in `deliveries` and `endpoints`.

mod endpoint_queue;
mod fan_out;
mod record;
mod schedule;
mod worker;

pub use endpoint_queue::Progress;
pub use schedule::retry_after;
pub use worker::{pass, purge_expired, run};
