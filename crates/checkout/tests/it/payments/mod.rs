//! Payments through the API, over the real sandbox, on both engines where storage matters.

pub(crate) mod app;
mod certainty;
mod changing;
mod circle;
mod creation;
mod edge;
mod faults;
mod following;
mod idempotency;
mod news;
pub(crate) mod notified;
mod oddities;
mod outcome;
mod owners;
mod reading;
mod reconciling;
pub(crate) mod requests;
pub(crate) mod sandbox;
mod secrecy;
mod standstill;
pub(crate) mod strangers;
