//! Delivery: each event goes to each endpoint that subscribes to its type, at least once, in order within a product.
//! How one attempt is made is in `http`; what people see and do is in the modules beside this folder.

mod courier;
mod fan_out;
mod lease;
mod record;
mod schedule;
mod worker;

pub use courier::Progress;
pub(crate) use worker::run;
pub use worker::{pass, tidy};
