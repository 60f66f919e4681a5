//! Deliveries: each event goes to each endpoint that asks for its type, at least once, in order within a product.
//! How one attempt goes is in `http`; whom to tell, and what people do about it, is in the services beside this folder.

mod courier;
mod fan_out;
mod lease;
mod record;
mod schedule;
mod worker;

pub use courier::Progress;
pub(crate) use worker::run;
pub use worker::{pass, tidy};
