//! The workers: each event goes to each endpoint that subscribes to its type, at least once, in
//! order within its subject. How one attempt is made is in `http`; what people see and do is in the
//! modules beside this folder.

mod endpoint_queue;
mod fan_out;
mod lease;
mod record;
mod schedule;
mod worker;

pub use endpoint_queue::Progress;
pub use worker::{pass, purge_expired, run};
